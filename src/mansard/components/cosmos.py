"""Cosmos Predict: video tokens that attend to each other, then to the text; each norm modulated by two thin products.

Source: NVIDIA, arXiv:2501.03575.
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

CLASSES = ("CosmosTransformer3DModel",)

_TEXT_TOKENS = 512
_SPATIAL, _TEMPORAL = 8, 8


class Shape(NamedTuple):
    """The sizes of a Cosmos transformer; positions: elements of the learned table's axes together, 0 without one."""

    inputs: int
    outputs: int
    patch: tuple[int, int, int]
    layers: int
    heads: Heads
    hidden: int
    text_dim: int
    thin: int
    positions: int
    projected_dim: int


def read(keys: Keys) -> Component:
    """A Cosmos transformer from its config."""
    inputs = keys.size("in_channels", default=16)
    patch = keys.sizes("patch_size", default=(1, 2, 2), length=3)
    heads = Heads(keys.size("num_attention_heads", default=32), keys.size("attention_head_dim", default=128))
    pictured = keys.raw("img_context_dim_in")
    keys.require(not pictured, "img_context_dim_in", "turns on a mechanism that is not supported yet", pictured)
    most = keys.sizes("max_size", default=(128, 240, 240), length=3)
    kind = keys.raw("extra_pos_embed_type") if "extra_pos_embed_type" in keys.document else "learnable"
    if kind is not None:
        keys.text("extra_pos_embed_type", default="learnable", choices=("learnable",))
    text = keys.size("text_embed_dim", default=1024)
    projected = 0
    if keys.flag("use_crossattn_projection", default=False):
        projected = keys.size("crossattn_proj_in_channels", default=1024)
        width = keys.size("encoder_hidden_states_channels", default=1024)
        keys.require(width == text, "encoder_hidden_states_channels", f"must be text_embed_dim, {text}", width)
    has_mask = keys.flag("concat_padding_mask", default=True)
    shape = Shape(
        inputs=inputs + has_mask,
        outputs=output_channels(keys, inputs, 16),
        patch=(patch[0], patch[1], patch[2]),
        layers=keys.size("num_layers", default=28, maximum=MOST_LAYERS),
        heads=heads,
        hidden=int(heads.width * keys.number("mlp_ratio", default=4.0, minimum=0.1, maximum=100)),
        text_dim=text,
        thin=keys.size("adaln_lora_dim", default=256),
        positions=sum(size // part for size, part in zip(most, patch, strict=True)) if kind is not None else 0,
        projected_dim=projected,
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs, patch=shape.patch,
        text_tokens=_TEXT_TOKENS, spatial=_SPATIAL, temporal=_TEMPORAL,
        recipe=Recipe(704, 1280, 121, 36, 7.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text, heads = Sheet(), shape.heads.width, sample.text, shape.heads
    frames, high, wide = shape.patch
    tokens = (sample.frames // frames) * (sample.height // high) * (sample.width // wide)
    inside = frames * high * wide
    video, words = Stream("", tokens, width), Stream("text_", text, shape.text_dim)
    sheet.product("patch_embed.proj", tokens, shape.inputs * inside, width, bias=False)
    sheet.product("t_embedder.linear_1", 1, width, width, bias=False)
    sheet.activation("silu", width)
    sheet.product("t_embedder.linear_2", 1, width, 3 * width, bias=False)
    sheet.norm("time_embed.norm", "rms", width, 1)
    if shape.projected_dim:
        sheet.product("crossattn_proj", text, shape.projected_dim, shape.text_dim)
        sheet.activation("gelu", text * shape.text_dim)
    if shape.positions:  # the sum of three axes, brought to the length of one
        sheet.pointwise("learnable_pos_embed", tokens * width, 6, shape.positions * width)
    with sheet.block("blocks", shape.layers):
        if shape.positions:
            sheet.residual(tokens, width)
        _norm(sheet, shape, "norm1", tokens)
        joint_attention(sheet, heads, (video,), bias=False, out_bias=False, rotated=tokens)
        sheet.gated_residual(tokens, width)
        _norm(sheet, shape, "norm2", tokens)
        cross_attention(sheet, heads, video, words, bias=False, out_bias=False)
        sheet.gated_residual(tokens, width)
        _norm(sheet, shape, "norm3", tokens)
        feed_forward(sheet, tokens, width, shape.hidden, bias=False)
        sheet.gated_residual(tokens, width)
    with sheet.block("output"):
        _norm(sheet, shape, "norm_out", tokens, sets=2)
        sheet.product("proj_out", tokens, width, inside * shape.outputs, bias=False)
    return sheet.parts


def _norm(sheet: Sheet, shape: Shape, name: str, tokens: int, sets: int = 3) -> None:
    width = shape.heads.width
    sheet.activation("silu", width)
    sheet.product(f"{name}.linear_1", 1, width, shape.thin, bias=False)
    sheet.product(f"{name}.linear_2", 1, shape.thin, sets * width, bias=False)
    modulated_norm(sheet, name, tokens, width)
