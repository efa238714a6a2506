"""The mamba_ssm package's own format: a config.json that names no model_type and describes its mixer in `ssm_cfg`.

`ssm_cfg.layer` is "Mamba1", the default, or "Mamba2"; what it leaves out are the package's defaults. The vocabulary is
padded to a multiple of `pad_vocab_size_multiple`, and the head is tied. Layers of attention (`attn_layer_idx`) and
feed-forward parts (`d_intermediate`) beside the mixers are refused.

Sources: the modules mamba_simple, mamba2 and mixer_seq_simple of the package mamba_ssm.
"""

from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures._state_space import PURE_MODULES, auto_size, mamba1, mamba2, note_chunks, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Embedding, Head, Layer
from mansard.inputs.mixers import Recurrence
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("mamba_ssm",)
ARCHITECTURES = ("MambaLMHeadModel",)
MODULES = PURE_MODULES

# What says how weights begin and how kernels run, and changes no count.
_QUIET = (
    "A_init_range", "activation", "conv_init", "device", "dtype", "dt_init", "dt_init_floor", "dt_limit", "dt_max",
    "dt_min", "dt_scale", "layer_idx", "norm_before_gate", "process_group", "sequence_parallel", "use_fast_path",
    "use_mem_eff_path",
)  # fmt: skip
_MAMBA1 = ("bias", "conv_bias", "d_conv", "d_state", "dt_rank", "expand")
_MAMBA2 = ("bias", "chunk_size", "conv_bias", "d_conv", "d_state", "expand", "headdim", "ngroups", "rmsnorm")


def read(keys: Keys) -> ModelConfig:
    """A configuration as the mamba_ssm package writes it."""
    hidden_size = keys.size("d_model")
    for name in ("attn_layer_idx", "d_intermediate"):
        keys.require(not keys.raw(name), name, "adds to the mixers what is not counted in this format", keys.raw(name))
    norm = Norm(kind="rms" if quiet_flag(keys, "rms_norm", default=True) else "layer", size=hidden_size)
    layer = Layer(mixer=_mixer(keys, keys.nested("ssm_cfg"), hidden_size), feed_forward=None, norms=(norm,))
    names = ("tie_embeddings", "tie_word_embeddings")
    tied = keys.flag(*names) if keys.has(*names) else True
    multiple = keys.size("pad_vocab_size_multiple") if keys.has("pad_vocab_size_multiple") else 8
    vocabulary = -(-keys.size("vocab_size") // multiple) * multiple
    model = ModelConfig(
        name="",
        source=keys.source,
        model_type="",
        architecture="",
        hidden_size=hidden_size,
        layers=(layer,) * layer_count(keys, "n_layer", default=64),
        embedding=Embedding(vocab_size=vocabulary, dim=hidden_size),
        head=Head(dim=hidden_size, vocab_size=vocabulary, tied=tied),
        final_norm=norm,
        dtype=keys.dtype(),
    )
    return scanned(keys, model)


def _mixer(keys: Keys, ssm: Keys, hidden_size: int) -> Recurrence:
    second = ssm.text("layer", choices=("Mamba1", "Mamba2")) == "Mamba2" if ssm.has("layer") else False
    for name in ssm.document:
        if name not in (*(_MAMBA2 if second else _MAMBA1), *_QUIET, "layer") and ssm.has(name):
            ssm.fault(str(name)[:60], "is no part of the mixer that is known", ssm.raw(name))
    channels = hidden_size * _size(ssm, "expand", 2)
    bias, conv_bias = quiet_flag(ssm, "bias", default=False), quiet_flag(ssm, "conv_bias", default=True)
    kernel = _size(ssm, "d_conv", 4)
    if not second:
        return mamba1(
            hidden_size,
            channels=channels,
            state=_size(ssm, "d_state", 16),
            rank=auto_size(ssm, "dt_rank", -(-hidden_size // 16)),
            kernel=kernel,
            conv_bias=conv_bias,
            bias=bias,
        )
    head_dim, groups = _size(ssm, "headdim", 64), _size(ssm, "ngroups", 1)
    ssm.require(channels % head_dim == 0, "headdim", f"must divide the {channels} channels", head_dim)
    heads = max(1, channels // head_dim)
    ssm.require(heads % groups == 0, "ngroups", f"must divide the {heads} heads", groups)
    mixer = mamba2(
        hidden_size,
        heads=heads,
        head_dim=head_dim,
        state=_size(ssm, "d_state", 128),
        groups=groups,
        kernel=kernel,
        conv_bias=conv_bias,
        in_bias=bias,
        out_bias=bias,
        normed=quiet_flag(ssm, "rmsnorm", default=True),
    )
    note_chunks(keys, mixer, _size(ssm, "chunk_size", 256))
    return mixer


def _size(ssm: Keys, name: str, usual: int) -> int:
    """A size that few configurations state: its absence is not worth a note."""
    return ssm.size(name) if ssm.has(name) else usual
