"""GLM-4.1V and GLM-4.5V: patches of two frames in gated layers with RMS norms, four merged by a convolution.

The gated part of a layer is as wide as the language model, `out_hidden_size`; intermediate_size is the width of the
gated part that follows the merging. Learned positions are stretched to the image, rotary ones come beside them.

Sources: arXiv:2507.01006; the classes Glm4vForConditionalGeneration and Glm4vMoeForConditionalGeneration of Hugging
Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures.towers._native import bounded, patched
from mansard.architectures.towers._reading import (
    LARGEST_SIDE,
    activation,
    note_unknown,
    part,
    require_width,
    seeing_layer,
)
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("glm4v", "glm4v_moe")


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, the merging convolution and the gated part behind it."""
    own = part(keys, "vision_config")
    hidden = own.size("hidden_size", default=1536)
    front, reads = patched(own, hidden, patch=14, bias=True)
    out = own.size("out_hidden_size", default=4096)
    require_width(own, "out_hidden_size", out, model.hidden_size)
    image = own.size("image_size", default=336, maximum=LARGEST_SIDE)
    bias = quiet_flag(own, "attention_bias", default=False)
    layer = seeing_layer(
        own, hidden, own.size("num_heads", default=12), out, kind=activation(own, "hidden_act", default="silu"),
        norm="rms", gated=True, bias=bias, part_bias=False, o_bias=False, rotated=True,
    )  # fmt: skip
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(own, "depth", default=24),
        front=(front,),
        back=_merged(hidden, out, own.size("intermediate_size", default=13696), reads.merge),
        norms=(Norm("rms", hidden), Norm("rms", hidden)),
        vectors=max(1, image // reads.patch) ** 2 * hidden,
        # The published bounds are those of two frames, as which an image is read.
        reads=bounded(keys, reads, 112 * 112 // 2, 28 * 28 * 15000 // 2, video=(112 * 112, 28 * 28 * 60000)),
    )
    note_unknown(own)
    return replace(model, encoders=(tower,))


def _merged(hidden: int, out: int, width: int, side: int) -> tuple[Applied, ...]:
    each = side * side
    into = Matrix("merger_gate_up", out, 2 * width)
    return (
        Applied(Matrix("downsample", each * hidden, out, bias=True), per=each, kind="convolution"),
        Applied(Matrix("merger_proj", out, out), per=each),
        Applied(into, per=each, norm=layer_norm(out)),
        Applied(Matrix("merger_down", width, out), per=each),
    )
