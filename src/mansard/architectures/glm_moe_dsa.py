"""The GLM-5 family: DeepSeek-V3.2's sparse attention, whose choice of tokens later layers may use again.

`indexer_types` says of each layer whether it chooses ("full": an indexer and index keys in the cache) or uses the
choice of the last such layer ("shared": neither). Without it `index_topk_pattern`, or `index_topk_freq` with
`index_skip_topk_offset`, say the same; by default every layer chooses. The cache of GLM-5 keeps
78·(512 + 64 + 128) = 54,912 elements a token.

Sources: arXiv:2602.15763; arXiv:2603.12201; the class GlmMoeDsaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    gated,
    latent_attention,
    routed,
    shared_width,
    sparse_layers,
    stack,
)
from mansard.architectures._indexers import choosing_layers, indexed, require_indexed
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("glm_moe_dsa",)
ARCHITECTURES = ("GlmMoeDsaForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A GLM-MoE-DSA-class configuration."""
    hidden_size = keys.size("hidden_size", default=6144)
    latents = latent_attention(
        keys,
        heads=64,
        q_rank=2048,
        kv_rank=512,
        nope=192,
        rope=64,
        value=256,
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    width = keys.size("moe_intermediate_size", default=2048)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_local_experts", "num_experts"),
        experts=256,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=12288))
    count = layer_count(keys, default=78)
    require_indexed(keys, count)
    choosing = indexed(keys, latents, heads=32)
    following = choosing._replace(indexer=None)
    chooses = choosing_layers(keys, count)
    layers = stack(
        count,
        lambda index: choosing if chooses[index] else following,
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=sparse_layers(keys, count, dense=keys.size("first_k_dense_replace", default=3, minimum=0)),
    )
    block = Layer(mixer=choosing, feed_forward=sparse, norms=rms_pair(hidden_size))
    return predicting(keys, decoder(keys, hidden_size, layers, vocab_size=154880, tied=False), block)
