"""The OPT family: learned positions behind two reserved rows, ReLU, biases; the 350M projects a narrower embedding.

`word_embed_proj_dim` is the width of the embedding and of the head; where it differs from the hidden size, matrices
without biases lead in and out. With `do_layer_norm_before` false the norms come after and there is no final one.

Sources: arXiv:2205.01068; the class OPTForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import plain_attention, with_positions
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("opt",)
ARCHITECTURES = ("OPTForCausalLM",)
MODULES = {
    "layer": "model.decoder.layers.{layer}", "embedding": "model.decoder.embed_tokens",
    "mixer.o_proj": "self_attn.out_proj", "feed_forward.up_proj": "fc1", "feed_forward.down_proj": "fc2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An OPT-class configuration."""
    hidden_size = keys.size("hidden_size", default=768)
    bias = quiet_flag(keys, "enable_bias", default=True)
    mixer = plain_attention(keys, hidden_size, keys.size("num_attention_heads", default=12), bias=bias)
    width = keys.size("ffn_dim", default=3072)
    part = FeedForward(intermediate_size=width, gated=False, activation="relu", bias=bias)
    affine = quiet_flag(keys, "layer_norm_elementwise_affine", default=True)
    norm = Norm(kind="layer" if affine else "none", size=hidden_size)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(norm, norm))
    layers = (layer,) * layer_count(keys, default=12)
    model = decoder(keys, hidden_size, layers, vocab_size=50272, tied=True, final_norm=norm)
    before = quiet_flag(keys, "do_layer_norm_before", default=True)
    removed = quiet_flag(keys, "_remove_final_layer_norm", default=False)
    model = replace(model, final_norm=norm if before and not removed else None)
    positions = keys.size("max_position_embeddings", default=2048)
    model = replace(with_positions(model, positions + 2), max_position_embeddings=positions)
    return _projected(model, keys.optional_size("word_embed_proj_dim") or hidden_size)


def _projected(model: ModelConfig, dim: int) -> ModelConfig:
    if model.embedding is None or model.head is None or dim == model.hidden_size:
        return model
    embedding = model.embedding._replace(
        dim=dim,
        project_in=Matrix("project_in", dim, model.hidden_size),
        project_out=Matrix("project_out", model.hidden_size, dim),
    )
    return replace(model, embedding=embedding, head=model.head._replace(dim=dim))
