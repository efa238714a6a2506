"""FLUX.1: text and image tokens in double blocks, each with weights of its own, then in single blocks with shared ones.

Source: Black Forest Labs, FLUX.1 (2024); Esser et al., arXiv:2403.03206, for the double blocks.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.inputs.component import Component
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("FluxTransformer2DModel",)

_TIME = 256  # sinusoids of a timestep or of the guidance
_TEXT_TOKENS = 512  # the pipeline pads a prompt to so many
_SPATIAL = 8  # of the autoencoder that the pipeline comes with
_PACKED = 2  # latents a side that the pipeline packs into one token; the config's patch_size of 1 comes after that


class Shape(NamedTuple):
    """The sizes of a FLUX.1 transformer."""

    channels: int
    outputs: int
    double: int
    single: int
    heads: int
    head_dim: int
    text_dim: int
    pooled_dim: int
    is_guided: bool

    @property
    def width(self) -> int:
        return self.heads * self.head_dim


def read(keys: Keys) -> Component:
    """A FLUX.1 transformer from its config."""
    channels = keys.size("in_channels", default=64)
    shape = Shape(
        channels=channels,
        outputs=keys.optional_size("out_channels") or channels,
        double=keys.size("num_layers", default=19, minimum=0, maximum=MOST_LAYERS),
        single=keys.size("num_single_layers", default=38, minimum=0, maximum=MOST_LAYERS),
        heads=keys.size("num_attention_heads", default=24),
        head_dim=keys.size("attention_head_dim", default=128),
        text_dim=keys.size("joint_attention_dim", default=4096),
        pooled_dim=keys.size("pooled_projection_dim", default=768),
        is_guided=keys.flag("guidance_embeds", default=False),
    )
    patch = keys.size("patch_size", default=1)
    keys.require(patch == 1, "patch_size", "is not supported: the pipeline packs 2×2 latents by itself", patch)
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=channels // _PACKED**2,
        outputs=shape.outputs // _PACKED**2, patch=(1, _PACKED, _PACKED),
        text_tokens=_TEXT_TOKENS, is_distilled=True, spatial=_SPATIAL,
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.width, sample.text
    image = (sample.height // _PACKED) * (sample.width // _PACKED)
    sheet.vector_mlp("timestep_embedder", _TIME, width)
    if shape.is_guided:
        sheet.vector_mlp("guidance_embedder", _TIME, width)
    sheet.vector_mlp("text_embedder", shape.pooled_dim, width)
    sheet.product("context_embedder", text, shape.text_dim, width)
    sheet.product("x_embedder", image, shape.channels, width)
    with sheet.block("double_blocks", shape.double):
        _double(sheet, shape, image, text)
    with sheet.block("single_blocks", shape.single):
        _single(sheet, shape, image + text)
    with sheet.block("output"):
        sheet.product("norm_out.linear", 1, width, 2 * width)
        sheet.norm("norm_out", "none", width, image)
        sheet.modulated(image, width)
        sheet.product("proj_out", image, width, shape.outputs)
    return sheet.parts


def _double(sheet: Sheet, shape: Shape, image: int, text: int) -> None:
    width, heads, size = shape.width, shape.heads, shape.head_dim
    for name, tokens in (("", image), ("context_", text)):
        sheet.product(f"{name}modulation", 1, width, 6 * width)
        sheet.norm(f"{name}norm", "none", width, tokens)
        sheet.modulated(tokens, width)
        sheet.product(f"{name}to_qkv", tokens, width, width, width, width)
        for which in ("q", "k"):
            sheet.norm(f"{name}norm_{which}", "rms", size, tokens, heads)
    sheet.rotary(image + text, width)
    sheet.attention(image + text, image + text, heads, size)
    for name, tokens in (("", image), ("context_", text)):
        sheet.product(f"{name}to_out", tokens, width, width)
        sheet.gated_residual(tokens, width)
        sheet.norm(f"{name}norm_2", "none", width, tokens)
        sheet.modulated(tokens, width)
        sheet.product(f"{name}ff.in", tokens, width, 4 * width)
        sheet.activation("gelu", tokens * 4 * width)
        sheet.product(f"{name}ff.out", tokens, 4 * width, width)
        sheet.gated_residual(tokens, width)


def _single(sheet: Sheet, shape: Shape, tokens: int) -> None:
    width, heads, size = shape.width, shape.heads, shape.head_dim
    sheet.product("modulation", 1, width, 3 * width)
    sheet.norm("norm", "none", width, tokens)
    sheet.modulated(tokens, width)
    sheet.product("to_qkv_mlp", tokens, width, width, width, width, 4 * width)
    for which in ("q", "k"):
        sheet.norm(f"norm_{which}", "rms", size, tokens, heads)
    sheet.rotary(tokens, width)
    sheet.attention(tokens, tokens, heads, size)
    sheet.activation("gelu", tokens * 4 * width)
    sheet.product("proj_out", tokens, 5 * width, width)
    sheet.gated_residual(tokens, width)
