"""The MPT family: positions by a bias on the scores (ALiBi), norms without biases and no other biases, tied.

The feed-forward part has four times the hidden size and as many key/value heads as heads, whatever `expansion_ratio`
and `attn_config.kv_n_heads` say: the class ignores them, so that other values than its own are refused. The same is
true of `no_bias` false, `qk_ln` and `alibi` false.

Sources: the model cards of mosaicml; the class MptForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import plain_attention
from mansard.architectures._reading import decoder, layer_count
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("mpt",)
ARCHITECTURES = ("MptForCausalLM", "MPTForCausalLM")
MODULES = {
    "layer": "transformer.blocks.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "attn.Wqkv",
    "mixer.k_proj": "attn.Wqkv", "mixer.v_proj": "attn.Wqkv", "mixer.o_proj": "attn.out_proj",
    "feed_forward.up_proj": "ffn.up_proj", "feed_forward.down_proj": "ffn.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An MPT-class configuration."""
    hidden_size = keys.size("d_model", "hidden_size", default=2048)
    heads = keys.size("n_heads", "num_attention_heads", default=16)
    mixer = plain_attention(keys, hidden_size, heads)
    part = FeedForward(intermediate_size=4 * hidden_size, gated=False, activation="gelu")
    _check_ignored(keys, heads)
    norm = Norm(kind="layer-no-bias", size=hidden_size)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(norm, norm))
    layers = (layer,) * layer_count(keys, "n_layers", "num_hidden_layers", default=24)
    model = decoder(keys, hidden_size, layers, vocab_size=50368, tied=True, final_norm=norm)
    longest = keys.size("max_seq_len", default=2048, maximum=MOST_POSITIONS)
    return replace(model, max_position_embeddings=longest)


def _check_ignored(keys: Keys, heads: int) -> None:
    """A fault for each key whose value would need what the class does not build."""
    inner = keys.nested("attn_config")
    expected = (
        (keys, "expansion_ratio", 4), (keys, "no_bias", True), (inner, "kv_n_heads", heads),
        (inner, "qk_ln", False), (inner, "alibi", True),
    )  # fmt: skip
    for place, name, value in expected:
        given = place.raw(name)
        place.require(
            given is None or given == value,
            name,
            f"must be {str(value).lower()}: the class of transformers builds nothing else",
            given,
        )
