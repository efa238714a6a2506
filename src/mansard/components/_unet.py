"""The levels of a UNet that text conditions, as Stable Diffusion, SDXL and ControlNet share them."""

from collections.abc import Iterator
from typing import NamedTuple

from mansard.components._images import ONE, THREE, Area, downsample, residual_block
from mansard.components._levels import MOST_BLOCKS, level_widths
from mansard.components._sheet import Sheet
from mansard.inputs.keys import WIDEST, Keys

_DOWN = ("DownBlock2D", "CrossAttnDownBlock2D")
_UP = ("UpBlock2D", "CrossAttnUpBlock2D")
_MIDDLE = ("UNetMidBlock2DCrossAttn", "UNetMidBlock2D")
# Keys that turn on what is not counted here, with the values that leave it off.
_OFF = {
    "class_embed_type": (None,), "num_class_embeds": (None, 0), "dual_cross_attention": (False,),
    "mid_block_only_cross_attention": (None, False), "cross_attention_norm": (None,), "center_input_sample": None,
    "time_embedding_type": ("positional",), "timestep_post_act": (None,), "resnet_skip_time_act": (False,),
    "attention_type": ("default",), "class_embeddings_concat": (False,), "encoder_hid_dim": (None,),
    "encoder_hid_dim_type": (None,), "reverse_transformer_layers_per_block": (None,), "time_embedding_act_fn": (None,),
    "addition_embed_type": (None, "text_time"), "global_pool_conditions": (False,),
}  # fmt: skip


class Level(NamedTuple):
    """One resolution: channels, residual blocks, transformer blocks after each of them (0: none) and their heads."""

    channels: int
    layers: int
    depth: int
    heads: int
    text_dim: int


class Shape(NamedTuple):
    """The sizes of a UNet's way down and of its middle; `depth` of the middle in transformer blocks."""

    inputs: int
    levels: tuple[Level, ...]
    middle: Level | None
    time_dim: int
    time_condition: int
    added_dim: int
    scales: bool
    has_linear_projection: bool
    only_cross: tuple[bool, ...]
    kernel: int

    @property
    def skips(self) -> tuple[int, ...]:
        """Channels of what the way down leaves for the way up, in order."""
        found = [self.levels[0].channels]
        for place, level in enumerate(self.levels):
            found += [level.channels] * (level.layers + (place < len(self.levels) - 1))
        return tuple(found)


def read_shape(keys: Keys) -> Shape:
    """The levels from a UNet's or a ControlNet's config; what they do otherwise is a fault with its key."""
    for name, harmless in _OFF.items():
        value = keys.document.get(name)
        keys.asked.add(keys.prefix + name)
        if harmless is not None and name in keys.document and value not in harmless:
            keys.fault(name, "turns on a mechanism that is not supported yet", value)
    keys.text("act_fn", default="silu", choices=("silu", "swish"))
    widths = level_widths(keys, "block_out_channels", (320, 640, 1280, 1280))
    count = len(widths)
    kinds = keys.texts("down_block_types", default=(*_DOWN[1:] * (count - 1), _DOWN[0]), choices=_DOWN, length=count)
    layers = _each(keys, "layers_per_block", 2, count, MOST_BLOCKS)
    heads = _each(keys, "num_attention_heads" if keys.has("num_attention_heads") else "attention_head_dim", 8, count)
    depths = _each(keys, "transformer_layers_per_block", 1, count, MOST_BLOCKS)
    text_dims = _each(keys, "cross_attention_dim", 1280, count)
    keys.finish()
    for width, number in zip(widths, heads, strict=True):
        keys.require(width % number == 0, "attention_head_dim", f"must divide the level's width, {width}", number)
    levels = tuple(
        Level(width, blocks, depth if kind == _DOWN[1] else 0, number, text)
        for width, blocks, depth, kind, number, text in zip(
            widths, layers, depths, kinds, heads, text_dims, strict=True
        )
    )
    middle_kind = (
        None
        if "mid_block_type" in keys.document and not keys.has("mid_block_type")
        else keys.text("mid_block_type", default=_MIDDLE[0], choices=_MIDDLE)
    )
    depth = depths[-1] if middle_kind == _MIDDLE[0] else 0
    keys.require(middle_kind != _MIDDLE[1], "mid_block_type", "is not supported yet", middle_kind)
    has_added = keys.raw("addition_embed_type") == "text_time"
    added_dim = keys.optional_size("projection_class_embeddings_input_dim") or 0
    keys.require(bool(added_dim) or not has_added, "projection_class_embeddings_input_dim", "is required but absent")
    return Shape(
        inputs=keys.size("in_channels", default=4),
        levels=levels,
        middle=Level(widths[-1], 1, depth, heads[-1], text_dims[-1]) if middle_kind else None,
        time_dim=keys.optional_size("time_embedding_dim") or 4 * widths[0],
        time_condition=keys.optional_size("time_cond_proj_dim") or 0,
        added_dim=added_dim if has_added else 0,
        scales=keys.text("resnet_time_scale_shift", default="default", choices=("default", "scale_shift")) != "default",
        has_linear_projection=keys.flag("use_linear_projection", default=False),
        only_cross=_flags(keys, "only_cross_attention", count),
        kernel=keys.size("conv_in_kernel", default=3, maximum=31),
    )


def _each(keys: Keys, name: str, default: int, count: int, most: int = WIDEST) -> tuple[int, ...]:
    """A number for every level, given once or as a list."""
    if isinstance(keys.raw(name), (list, tuple)):
        return keys.sizes(name, length=count, maximum=most)
    return (keys.size(name, default=default, maximum=most),) * count


def _flags(keys: Keys, name: str, count: int) -> tuple[bool, ...]:
    value = keys.raw(name)
    if isinstance(value, list) and len(value) == count and all(isinstance(one, bool) for one in value):
        return tuple(value)
    return (keys.flag(name, default=False),) * count


def write_time(sheet: Sheet, shape: Shape) -> None:
    """The timestep's vector, and what SDXL adds to it: pooled text, sizes and crops of the image."""
    if shape.time_condition:
        sheet.product("cond_proj", 1, shape.time_condition, shape.levels[0].channels, bias=False)
    sheet.vector_mlp("time_embedding", shape.levels[0].channels, shape.time_dim)
    if shape.added_dim:
        sheet.vector_mlp("add_embedding", shape.added_dim, shape.time_dim)


def write_down(sheet: Sheet, shape: Shape, area: Area, text: int) -> list[Area]:
    """The way down and the middle; the areas of what is left for the way up, in order."""
    left = [area]
    inputs = shape.levels[0].channels
    kernel = (shape.kernel, shape.kernel)
    sheet.convolution("conv_in", shape.inputs, inputs, kernel, area)
    for place, level in enumerate(shape.levels):
        with sheet.block(f"down_{place}"):
            for _ in range(level.layers):
                residual_block(sheet, inputs, level.channels, area, time=shape.time_dim, scales=shape.scales)
                transformer(sheet, shape, level, area, text, only_cross=shape.only_cross[place])
                inputs = level.channels
                left.append(area)
            if place < len(shape.levels) - 1:
                area = downsample(sheet, inputs, area)
                left.append(area)
    if shape.middle is not None:
        with sheet.block("mid"):
            residual_block(sheet, inputs, inputs, area, time=shape.time_dim, scales=shape.scales)
            transformer(sheet, shape, shape.middle, area, text, only_cross=False)
            residual_block(sheet, inputs, inputs, area, time=shape.time_dim, scales=shape.scales)
    return left


def transformer(sheet: Sheet, shape: Shape, level: Level, area: Area, text: int, *, only_cross: bool) -> None:
    """Transformer blocks over the positions of a feature map: self-attention, attention to the text, a gated MLP."""
    if not level.depth:
        return
    width, tokens = level.channels, area.positions
    sheet.group_norm("norm", width, tokens)
    _projection(sheet, "proj_in", shape, width, area)
    for _ in range(level.depth):
        for name, own in (("attn1", not only_cross), ("attn2", False)):
            keys, key_dim = (tokens, width) if own else (text, level.text_dim)
            _attention(sheet, name, level, tokens, keys=keys, key_dim=key_dim)
        sheet.norm("norm3", "layer", width, tokens)
        sheet.product("ff.in", tokens, width, 8 * width)
        sheet.activation("gelu", 4 * width * tokens, gated=True)
        sheet.product("ff.out", tokens, 4 * width, width)
        sheet.residual(tokens, width)
    _projection(sheet, "proj_out", shape, width, area)
    sheet.residual(tokens, width)


def _projection(sheet: Sheet, name: str, shape: Shape, width: int, area: Area) -> None:
    if shape.has_linear_projection:
        sheet.product(name, area.positions, width, width)
    else:
        sheet.convolution(name, width, width, ONE, area)


def _attention(sheet: Sheet, name: str, level: Level, queries: int, *, keys: int, key_dim: int) -> None:
    width = level.channels
    sheet.norm(f"{name}.norm", "layer", width, queries)
    sheet.product(f"{name}.to_q", queries, width, width, bias=False)
    sheet.product(f"{name}.to_kv", keys, key_dim, width, width, bias=False)
    sheet.attention(queries, keys, level.heads, width // level.heads, name=f"{name}.attention")
    sheet.product(f"{name}.to_out", queries, width, width)
    sheet.residual(queries, width)


def up_widths(shape: Shape) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """For every level of the way up, from the lowest: its place, and (inputs, outputs) of its blocks."""
    skips, inputs = list(shape.skips), shape.levels[-1].channels
    for place in range(len(shape.levels) - 1, -1, -1):
        blocks = []
        for _ in range(shape.levels[place].layers + 1):
            blocks.append((inputs + skips.pop(), shape.levels[place].channels))
            inputs = shape.levels[place].channels
        yield place, blocks


__all__ = ["THREE", "Level", "Shape", "read_shape", "transformer", "up_widths", "write_down", "write_time"]
