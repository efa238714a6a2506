"""Wan 2.1 and 2.2: video tokens attend to each other, then to the text, and to a picture where one is the condition.

Source: Wan team, arXiv:2503.20314.
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
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("WanTransformer3DModel",)

_TEXT_TOKENS = 512  # the pipeline pads a prompt to so many
_IMAGE_TOKENS = 257  # of CLIP's tower: 16 × 16 patches and the class token
_SPATIAL, _TEMPORAL = 8, 4
_MANY_CHANNELS = 48  # of latents that are half as high and wide, those of Wan 2.2 5B


class Shape(NamedTuple):
    """The sizes of a Wan transformer; image_dim: of the picture's tokens, 0 without one."""

    inputs: int
    outputs: int
    patch: tuple[int, int, int]
    layers: int
    heads: Heads
    hidden: int
    text_dim: int
    time_dim: int
    image_dim: int
    image_tokens: int
    image_positions: int
    added_dim: int
    has_cross_norm: bool


def read(keys: Keys) -> Component:
    """A Wan transformer from its config."""
    patch = keys.sizes("patch_size", default=(1, 2, 2), length=3)
    inputs = keys.size("in_channels", default=16)
    image_dim = keys.optional_size("image_dim") or 0
    keys.text("qk_norm", default="rms_norm_across_heads", choices=("rms_norm_across_heads",))
    added_dim = keys.optional_size("added_kv_proj_dim") or 0
    keys.require(bool(image_dim) == bool(added_dim), "added_kv_proj_dim", "must be there with image_dim, and only then")
    positions = keys.optional_size("pos_embed_seq_len") or 0
    if image_dim:
        keys.note("image-tokens", f"the picture that conditions the video is {_IMAGE_TOKENS} tokens, CLIP's at 224×224")
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 16),
        patch=(patch[0], patch[1], patch[2]),
        layers=keys.size("num_layers", default=40, maximum=MOST_LAYERS),
        heads=Heads(
            keys.size("num_attention_heads", default=40), keys.size("attention_head_dim", default=128), "across"
        ),
        hidden=keys.size("ffn_dim", default=13824),
        text_dim=keys.size("text_dim", default=4096),
        time_dim=keys.size("freq_dim", default=256),
        image_dim=image_dim,
        image_tokens=(positions or _IMAGE_TOKENS) if image_dim else 0,
        image_positions=positions if image_dim else 0,
        added_dim=added_dim,
        has_cross_norm=keys.flag("cross_attn_norm", default=True),
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs, patch=shape.patch,
        text_tokens=_TEXT_TOKENS, spatial=_SPATIAL * (2 if shape.outputs == _MANY_CHANNELS else 1), temporal=_TEMPORAL,
        recipe=Recipe(480, 832, 81, guidance=5.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width = Sheet(), shape.heads.width
    size = (sample.frames // shape.patch[0], sample.height // shape.patch[1], sample.width // shape.patch[2])
    tokens = size[0] * size[1] * size[2]
    whole = (sample.frames, sample.height, sample.width)
    sheet.convolution("patch_embedding", shape.inputs, width, shape.patch, size, before=whole)
    sheet.vector_mlp("time_embedder", shape.time_dim, width, rows=sample.timesteps)
    sheet.activation("silu", sample.timesteps * width)
    sheet.product("time_proj", sample.timesteps, width, 6 * width)
    sheet.product("text_embedder.linear_1", sample.text, shape.text_dim, width)
    sheet.activation("gelu", sample.text * width)
    sheet.product("text_embedder.linear_2", sample.text, width, width)
    if shape.image_dim:
        _image(sheet, shape)
    with sheet.block("blocks", shape.layers):
        _block(sheet, shape, tokens, sample)
    with sheet.block("output"):
        sheet.learned("scale_shift_table", 2 * width, 2 * width * sample.timesteps)
        modulated_norm(sheet, "norm_out", tokens, width)
        sheet.product("proj_out", tokens, width, shape.outputs * shape.patch[0] * shape.patch[1] * shape.patch[2])
    return sheet.parts


def _image(sheet: Sheet, shape: Shape) -> None:
    tokens, width = shape.image_tokens, shape.heads.width
    if shape.image_positions:
        sheet.learned("image_pos_embed", shape.image_positions * shape.image_dim)
    sheet.norm("image_norm1", "layer", shape.image_dim, tokens)
    sheet.product("image_ff.in", tokens, shape.image_dim, shape.image_dim)
    sheet.activation("gelu", tokens * shape.image_dim)
    sheet.product("image_ff.out", tokens, shape.image_dim, width)
    sheet.norm("image_norm2", "layer", width, tokens)


def _block(sheet: Sheet, shape: Shape, tokens: int, sample: Sample) -> None:
    width, heads = shape.heads.width, shape.heads
    video, text = Stream("", tokens, width), Stream("text_", sample.text, width)
    sheet.learned("scale_shift_table", 6 * width, 6 * width * sample.timesteps)
    modulated_norm(sheet, "norm1", tokens, width)
    joint_attention(sheet, heads, (video,), rotated=tokens)
    sheet.gated_residual(tokens, width)
    if shape.has_cross_norm:
        sheet.norm("norm2", "layer", width, tokens)
    if shape.added_dim:
        _attend_to_image(sheet, shape, tokens)
    cross_attention(sheet, heads, video, text)
    sheet.residual(tokens, width)
    modulated_norm(sheet, "norm3", tokens, width)
    feed_forward(sheet, tokens, width, shape.hidden)
    sheet.gated_residual(tokens, width)


def _attend_to_image(sheet: Sheet, shape: Shape, tokens: int) -> None:
    """The queries for the text serve again; keys and values of the picture are its own, and the results are added."""
    width, heads = shape.heads.width, shape.heads
    sheet.product("add_kv_proj", shape.image_tokens, shape.added_dim, width, width)
    sheet.norm("norm_added_k", "rms", width, shape.image_tokens)
    sheet.attention(tokens, shape.image_tokens, heads.number, heads.size, name="image_attention")
    sheet.residual(tokens, width)
