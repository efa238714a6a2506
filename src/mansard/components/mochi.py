"""Mochi 1: joint blocks whose text stream is narrower than the video's, with norms before and after.

Source: Genmo, Mochi 1 (2024), https://github.com/genmoai/mochi.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Heads,
    Stream,
    feed_forward,
    joint_attention,
    modulation,
    projection_out,
)
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("MochiTransformer3DModel",)

_SPATIAL, _TEMPORAL = 8, 6
_POOLING_HEADS = 8
_AXES = 3  # time, height and width, each with frequencies that were learned


class Shape(NamedTuple):
    """The sizes of a Mochi transformer; context: width of the text's stream."""

    inputs: int
    outputs: int
    patch: int
    layers: int
    heads: Heads
    context: int
    text_dim: int
    time_dim: int


def read(keys: Keys) -> Component:
    """A Mochi transformer from its config."""
    inputs = keys.size("in_channels", default=12)
    keys.text("qk_norm", default="rms_norm", choices=("rms_norm",))
    keys.text("activation_fn", default="swiglu", choices=("swiglu",))
    shape = Shape(
        inputs=inputs,
        outputs=keys.optional_size("out_channels") or inputs,
        patch=keys.size("patch_size", default=2),
        layers=keys.size("num_layers", default=48, maximum=MOST_LAYERS),
        heads=Heads(keys.size("num_attention_heads", default=24), keys.size("attention_head_dim", default=128)),
        context=keys.size("pooled_projection_dim", default=1536),
        text_dim=keys.size("text_embed_dim", default=4096),
        time_dim=keys.size("time_embed_dim", default=256),
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        patch=(1, shape.patch, shape.patch), text_tokens=keys.size("max_sequence_length", default=256),
        spatial=_SPATIAL, temporal=_TEMPORAL,
        recipe=Recipe(480, 848, 19, 64, 4.5),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, heads = Sheet(), shape.heads.width, shape.heads
    size = (sample.frames, sample.height // shape.patch, sample.width // shape.patch)
    video = size[0] * size[1] * size[2]
    whole = (sample.frames, sample.height, sample.width)
    sheet.vector_mlp("timestep_embedder", shape.time_dim, width)
    _pooler(sheet, shape, sample.text)
    sheet.product("caption_proj", sample.text, shape.text_dim, shape.context)
    sheet.convolution("patch_embed.proj", shape.inputs, width, (shape.patch,) * 2, size, before=whole)
    sheet.product("pos_frequencies", video, _AXES, heads.number * (heads.size // 2), bias=False)
    with sheet.block("blocks", shape.layers - 1):
        _block(sheet, shape, video, sample.text, is_last=False)
    with sheet.block("last_block"):
        _block(sheet, shape, video, sample.text, is_last=True)
    projection_out(sheet, video, width, shape.patch**2 * shape.outputs)
    return sheet.parts


def _pooler(sheet: Sheet, shape: Shape, text: int) -> None:
    """The text's mean attends to itself and to every token; what comes out joins the timestep's vector."""
    size = shape.text_dim
    sheet.product("pooler.to_kv", text + 1, size, 2 * size)
    sheet.product("pooler.to_q", 1, size, size)
    sheet.attention(1, text + 1, _POOLING_HEADS, size // _POOLING_HEADS, name="pooler.attention")
    sheet.product("pooler.to_out", 1, size, shape.heads.width)


def _block(sheet: Sheet, shape: Shape, video: int, text: int, *, is_last: bool) -> None:
    width = shape.heads.width
    streams = (Stream("", video, width), Stream("context_", text, shape.context, has_output=not is_last))
    for stream in streams:
        modulation(sheet, f"{stream.name}norm1.linear", width, (4 if stream.has_output else 1) * stream.width)
        _scaled_norm(sheet, stream)
    joint_attention(sheet, shape.heads, streams, bias=False, rotated=video)
    for stream in streams:
        if stream.has_output:
            _gated(sheet, stream)
            _scaled_norm(sheet, stream)
            hidden = 4 * stream.width * 2 // 3
            feed_forward(
                sheet, stream.tokens, stream.width, hidden, name=stream.name, kind="silu", gated=True, bias=False
            )
            _gated(sheet, stream)


def _scaled_norm(sheet: Sheet, stream: Stream) -> None:
    sheet.norm(f"{stream.name}norm", "none", stream.width, stream.tokens)
    sheet.pointwise("scale", stream.tokens * stream.width, 1)


def _gated(sheet: Sheet, stream: Stream) -> None:
    sheet.norm(f"{stream.name}norm_after", "none", stream.width, stream.tokens)
    sheet.gated_residual(stream.tokens, stream.width)
