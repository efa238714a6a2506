"""The Gemma 3n family's language model: several residual streams, shared caches, and an input of each layer's own.

Of A = `altup_num_inputs` streams each layer reads one mixture and corrects all (AltUp: a router [hidden → A], used
twice; coefficients [A → A²] and [A → A]; a scale [hidden]), with a low-rank path of `laurel_rank` beside attention. The
mixing takes (2·A² + 4·A + 1)·h + 2·A vector FLOPs a token. The streams are made from the embedding and joined before
the head by A - 1 products [hidden → hidden] each. The last `num_kv_shared_layers` layers attend to the keys and values
of the last earlier layer of their kind. A second table has a row of `hidden_size_per_layer_input` for every layer.

Parts may differ in width (`intermediate_size` as a list). `activation_sparsity_pattern` sets most of the inner
activations of a layer to zero; the zeros are multiplied all the same.

Sources: Google, Gemma 3n (2025); arXiv:2301.13310 (AltUp); arXiv:2411.07501 (LAuReL); the class Gemma3nForCausalLM of
Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._experts import require_nested
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, is_null, layer_count, quiet_flag, rms_pair
from mansard.architectures._shared_caches import (
    following,
    layer_inputs,
    normed_heads,
    sharing_layers,
    with_layer_inputs,
)
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer, Streams
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("gemma3n_text", "gemma3n")
ARCHITECTURES = ("Gemma3nForCausalLM", "Gemma3nForConditionalGeneration")
_MOST_STREAMS = 256  # more than any model has; their coefficients grow with the square
MODULES = {
    "extras.per_layer_input_gate": "per_layer_input_gate", "extras.per_layer_projection": "per_layer_projection",
    "extras.laurel_left": "laurel.linear_left", "extras.laurel_right": "laurel.linear_right",
    "streams.modality_router": "altup.modality_router", "streams.prediction_coefs": "altup.prediction_coefs",
    "streams.correction_coefs": "altup.correction_coefs",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Gemma-3n-class configuration of the language model."""
    require_nested(keys, "gemma3n")
    hidden_size = keys.size("hidden_size", default=2048)
    count = layer_count(keys, default=35)
    bias = quiet_flag(keys, "attention_bias", default=False)
    whole = normed_heads(head_attention(keys, hidden_size, heads=8, kv_heads=2, head_dim=256, bias=bias))
    local = whole._replace(window=keys.size("sliding_window", default=512))
    windowed = windowed_layers(keys, count, otherwise=lambda index: (index + 1) % 5 != 0)
    mixers = [local if kind else whole for kind in windowed]
    shares = sharing_layers(keys, windowed, default=15)
    streams = _streams(keys.size("altup_num_inputs", default=4, maximum=_MOST_STREAMS), hidden_size)
    rank = keys.size("laurel_rank", default=64)
    width = keys.size("hidden_size_per_layer_input", default=256)
    laurel = Matrix("laurel_left", hidden_size, rank), Matrix("laurel_right", rank, hidden_size)
    layers = [
        Layer(
            mixer=following(mixer) if shared else mixer,
            last_only=shared,
            feed_forward=FeedForward(intermediate_size=size, gated=True, activation="gelu"),
            norms=rms_pair(hidden_size) * 3,  # around both parts, of the low-rank path, of the layer's own input
            extras=(*laurel, *layer_inputs(hidden_size, width)),
            streams=streams,
        )
        for mixer, size, shared in zip(mixers, _widths(keys, count), shares, strict=True)
    ]
    _note_sparsity(keys, count)
    model = with_layer_inputs(keys, decoder(keys, hidden_size, layers, vocab_size=262400, tied=True), width)
    return _with_streams(keys, model, streams.number)


def _widths(keys: Keys, layers: int) -> tuple[int, ...]:
    if isinstance(keys.raw("intermediate_size"), list):
        return keys.sizes("intermediate_size", length=layers)
    return (keys.size("intermediate_size", default=16384),) * layers


def _streams(count: int, hidden_size: int) -> Streams:
    return Streams(
        number=count,
        matrices=(
            (Matrix("modality_router", hidden_size, count), 2),
            (Matrix("prediction_coefs", count, count * count), 1),
            (Matrix("correction_coefs", count, count), 1),
        ),
        vector_flops=(2 * count * count + 4 * count + 1) * hidden_size + 2 * count,
        formula="((2·A² + 4·A + 1)·h + 2·A)",
        norms=(Norm(kind="rms", size=hidden_size, repeats=2),),
        vectors=hidden_size,
    )


def _with_streams(keys: Keys, model: ModelConfig, count: int) -> ModelConfig:
    """The model with the products that make the streams and join them, and the cap on its logits."""
    if model.embedding is None or model.head is None:
        return model
    hidden = model.hidden_size
    into = (Matrix("altup_projection", hidden, hidden),) * (count - 1)
    out = (Matrix("altup_unembed_projection", hidden, hidden),) * (count - 1)
    embedding = model.embedding._replace(extras=(*model.embedding.extras, *into), extras_out=out)
    capped = not is_null(keys, "final_logit_softcapping")
    return replace(model, embedding=embedding, head=model.head._replace(softcap=capped))


def _note_sparsity(keys: Keys, layers: int) -> None:
    stated = keys.raw("activation_sparsity_pattern")
    if (layers > 10) if stated is None else any(stated) if isinstance(stated, list) else bool(stated):
        text = "activation_sparsity_pattern sets inner activations to zero; products with them are counted all the same"
        keys.note("activation-sparsity", text)
