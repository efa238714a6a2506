"""LTX-Video: few, strongly compressed video tokens that attend to each other, then to the text.

Source: HaCohen et al., arXiv:2501.00103.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Heads,
    Stream,
    cross_attention,
    feed_forward,
    joint_attention,
    modulated_norm,
    output_channels,
)
from mansard.components._text_keys import block_table, caption_projection, finish, shared_modulation
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("LTXVideoTransformer3DModel",)

_TEXT_TOKENS = 128
_SPATIAL, _TEMPORAL = 32, 8


class Shape(NamedTuple):
    """The sizes of an LTX transformer."""

    inputs: int
    outputs: int
    layers: int
    heads: Heads
    caption_dim: int
    norm: str
    has_bias: bool
    has_output_bias: bool


def read(keys: Keys) -> Component:
    """An LTX transformer from its config."""
    inputs = keys.size("in_channels", default=128)
    for name in ("patch_size", "patch_size_t"):
        patch = keys.size(name, default=1)
        keys.require(patch == 1, name, "is not supported: the pipeline packs latents by itself", patch)
    keys.text("qk_norm", default="rms_norm_across_heads", choices=("rms_norm_across_heads",))
    keys.text("activation_fn", default="gelu-approximate", choices=("gelu-approximate", "gelu"))
    heads = Heads(
        keys.size("num_attention_heads", default=32), keys.size("attention_head_dim", default=64), norm="across"
    )
    cross = keys.size("cross_attention_dim", default=2048)
    keys.require(cross == heads.width, "cross_attention_dim", f"must be the width of the stream, {heads.width}", cross)
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 128),
        layers=keys.size("num_layers", default=28, maximum=MOST_LAYERS),
        heads=heads,
        caption_dim=keys.size("caption_channels", default=4096),
        norm="rms" if keys.flag("norm_elementwise_affine", default=False) else "none",
        has_bias=keys.flag("attention_bias", default=True),
        has_output_bias=keys.flag("attention_out_bias", default=True),
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        text_tokens=_TEXT_TOKENS, spatial=_SPATIAL, temporal=_TEMPORAL,
        recipe=Recipe(512, 704, 161, guidance=3.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text, rows = Sheet(), shape.heads.width, sample.text, sample.timesteps
    tokens = sample.frames * sample.height * sample.width
    biases = {"bias": shape.has_bias, "out_bias": shape.has_output_bias}
    video, words = Stream("", tokens, width), Stream("text_", text, width)
    sheet.product("proj_in", tokens, shape.inputs, width)
    shared_modulation(sheet, width, rows)
    caption_projection(sheet, text, shape.caption_dim, width)
    with sheet.block("blocks", shape.layers):
        block_table(sheet, width, rows)
        modulated_norm(sheet, "norm1", tokens, width, shape.norm)
        joint_attention(sheet, shape.heads, (video,), rotated=tokens, **biases)
        sheet.gated_residual(tokens, width)
        cross_attention(sheet, shape.heads, video, words, **biases)
        sheet.residual(tokens, width)
        modulated_norm(sheet, "norm2", tokens, width, shape.norm)
        feed_forward(sheet, tokens, width, 4 * width)
        sheet.gated_residual(tokens, width)
    finish(sheet, tokens, width, shape.outputs, rows)
    return sheet.parts
