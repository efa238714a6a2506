"""Z-Image: refiners of the image's and of the text's tokens, then one stream of both, with norms before and after.

Source: Z-Image team, arXiv:2511.22699.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import TIME_WAVES, Heads, Stream, feed_forward, joint_attention
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("ZImageTransformer2DModel",)

_TEXT_TOKENS = 512
_SPATIAL = 8
_MULTIPLE = 32  # tokens of the image and of the text are each filled up to a multiple
_CONDITION, _CONDITION_HIDDEN = 256, 1024  # elements of the timestep's vector, and inside of what makes it


class Shape(NamedTuple):
    """The sizes of a Z-Image transformer."""

    inputs: int
    patch: int
    layers: int
    refiners: int
    heads: Heads
    caption_dim: int

    @property
    def condition(self) -> int:
        return min(self.heads.width, _CONDITION)


def read(keys: Keys) -> Component:
    """A Z-Image transformer from its config."""
    patch = keys.sizes("all_patch_size", default=(2,), length=1)[0]
    frames = keys.sizes("all_f_patch_size", default=(1,), length=1)[0]
    keys.require(frames == 1, "all_f_patch_size", "is not supported other than [1]", frames)
    if keys.raw("siglip_feat_dim") is not None:
        keys.fault("siglip_feat_dim", "turns on a mechanism that is not supported yet", keys.raw("siglip_feat_dim"))
    width, count = keys.size("dim", default=3840), keys.size("n_heads", default=30)
    keys.require(width % count == 0, "n_heads", f"must divide dim, {width}", count)
    shared = keys.size("n_kv_heads", default=30)
    if shared != count:
        keys.note("ignored-key", f"n_kv_heads is {shared}; the class has as many as n_heads, {count}")
    has_norm = keys.flag("qk_norm", default=True)
    shape = Shape(
        inputs=keys.size("in_channels", default=16),
        patch=patch,
        layers=keys.size("n_layers", default=30, maximum=MOST_LAYERS),
        refiners=keys.size("n_refiner_layers", default=2, minimum=0, maximum=MOST_LAYERS),
        heads=Heads(count, width // count, "heads" if has_norm else "none"),
        caption_dim=keys.size("cap_feat_dim", default=2560),
    )
    keys.note("text-tokens", f"a prompt is as long as it is, up to {_TEXT_TOKENS} tokens, which are assumed")
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=shape.inputs, outputs=shape.inputs,
        patch=(1, patch, patch), text_tokens=_TEXT_TOKENS, spatial=_SPATIAL,
        recipe=Recipe(1024, 1024, guidance=5.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width = Sheet(), shape.heads.width
    image = _filled((sample.height // shape.patch) * (sample.width // shape.patch))
    text = _filled(sample.text)
    elements = shape.inputs * shape.patch**2
    sheet.vector_mlp("t_embedder", TIME_WAVES, _CONDITION_HIDDEN, shape.condition)
    sheet.product("x_embedder", image, elements, width)
    sheet.learned("x_pad_token", width)
    with sheet.block("noise_refiner", shape.refiners):
        _block(sheet, shape, image, is_modulated=True)
    sheet.norm("cap_norm", "rms", shape.caption_dim, text)
    sheet.product("cap_embedder", text, shape.caption_dim, width)
    sheet.learned("cap_pad_token", width)
    with sheet.block("context_refiner", shape.refiners):
        _block(sheet, shape, text, is_modulated=False)
    with sheet.block("blocks", shape.layers):
        _block(sheet, shape, image + text, is_modulated=True)
    with sheet.block("output"):  # of the text's tokens too, which are dropped after it
        sheet.activation("silu", shape.condition)
        sheet.product("final.adaLN_modulation", 1, shape.condition, width)
        sheet.norm("final.norm", "none", width, image + text)
        sheet.pointwise("scale", (image + text) * width, 1)
        sheet.product("final.linear", image + text, width, elements)
    return sheet.parts


def _filled(tokens: int) -> int:
    return -(-tokens // _MULTIPLE) * _MULTIPLE


def _block(sheet: Sheet, shape: Shape, tokens: int, *, is_modulated: bool) -> None:
    width = shape.heads.width
    if is_modulated:
        sheet.product("adaLN_modulation", 1, shape.condition, 4 * width)
    _before(sheet, "attention_norm1", tokens, width, is_modulated=is_modulated)
    joint_attention(sheet, shape.heads, (Stream("", tokens, width),), bias=False, out_bias=False, rotated=tokens)
    _after(sheet, "attention_norm2", tokens, width, is_modulated=is_modulated)
    _before(sheet, "ffn_norm1", tokens, width, is_modulated=is_modulated)
    feed_forward(sheet, tokens, width, int(width / 3 * 8), kind="silu", gated=True, bias=False)
    _after(sheet, "ffn_norm2", tokens, width, is_modulated=is_modulated)


def _before(sheet: Sheet, name: str, tokens: int, width: int, *, is_modulated: bool) -> None:
    sheet.norm(name, "rms", width, tokens)
    if is_modulated:
        sheet.pointwise("scale", tokens * width, 1)


def _after(sheet: Sheet, name: str, tokens: int, width: int, *, is_modulated: bool) -> None:
    sheet.norm(name, "rms", width, tokens)
    sheet.pointwise("gated_residual" if is_modulated else "residual", tokens * width, 1 + is_modulated)
