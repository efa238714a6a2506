"""The deep-compression autoencoder of Sana: residual blocks of convolutions above, linear attention of scales below.

Source: Chen et al., arXiv:2410.10733.
"""

from typing import NamedTuple

from mansard.components._images import THREE, Area
from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part

CLASSES = ("AutoencoderDC",)

_BLOCKS = ("ResBlock", "EfficientViTBlock")
_EXPANSION = 4  # of the gated convolutions after attention


class Side(NamedTuple):
    """The encoder or the decoder, from the image down: of each level width, layers, kind and kernels of its scales."""

    widths: tuple[int, ...]
    layers: tuple[int, ...]
    kinds: tuple[str, ...]
    scales: tuple[tuple[int, ...], ...]
    shuffles: bool


class Shape(NamedTuple):
    """The sizes of an autoencoder."""

    inputs: int
    latents: int
    head_dim: int
    encoder: Side
    decoder: Side
    adds_out: bool
    adds_in: bool


def read(keys: Keys) -> Component:
    """An autoencoder of images from its config."""
    down = keys.text("downsample_block_type", default="pixel_unshuffle", choices=("pixel_unshuffle", "conv"))
    up = keys.text("upsample_block_type", default="pixel_shuffle", choices=("pixel_shuffle", "interpolate"))
    shape = Shape(
        inputs=keys.size("in_channels", default=3),
        latents=keys.size("latent_channels", default=32),
        head_dim=keys.size("attention_head_dim", default=32),
        encoder=_side(keys, "encoder", (2, 2, 2, 3, 3, 3), shuffles=down == "pixel_unshuffle"),
        decoder=_side(keys, "decoder", (3,) * 6, shuffles=up == "pixel_shuffle"),
        adds_out=keys.flag("encoder_out_shortcut", default=True),
        adds_in=keys.flag("decoder_in_shortcut", default=True),
    )
    norms = keys.raw("decoder_norm_types")
    for one in norms if isinstance(norms, list) else [norms]:
        keys.require(one in (None, "rms_norm"), "decoder_norm_types", "is not supported other than rms_norm", norms)
    keys.finish()
    factor = 1 << (len(shape.decoder.widths) - 1)
    return Component(
        name="vae", source=keys.source, class_name=CLASSES[0], role="autoencoder",
        parts=lambda sample: _decode(shape, Area(sample.height, sample.width)),
        encoder=lambda sample: _encode(shape, Area(sample.height * factor, sample.width * factor)),
        channels=shape.latents, outputs=shape.inputs, spatial=factor,
    )  # fmt: skip


def _side(keys: Keys, name: str, layers: tuple[int, ...], *, shuffles: bool) -> Side:
    widths = level_widths(keys, f"{name}_block_out_channels", (128, 256, 512, 512, 1024, 1024))
    count = len(widths)
    found = keys.sizes(f"{name}_layers_per_block", default=layers, length=count, minimum=0, maximum=100)
    given = keys.raw(f"{name}_block_types")
    kinds = (
        (keys.text(f"{name}_block_types", default=_BLOCKS[0], choices=_BLOCKS),) * count
        if given is None or isinstance(given, str)
        else keys.texts(f"{name}_block_types", length=count, choices=_BLOCKS)
    )
    keys.require(all(found[1:]), f"{name}_layers_per_block", "must be 1 or more below the first level", list(found))
    return Side(widths, found, kinds, _scales(keys, f"{name}_qkv_multiscales", count), shuffles)


def _scales(keys: Keys, name: str, count: int) -> tuple[tuple[int, ...], ...]:
    value = keys.raw(name)
    if value is None:
        keys.note("class-default", f"{name} is absent: the default of the class, 5 in the last three levels")
        value = [[], [], [], [5], [5], [5]]
    sound = isinstance(value, list) and len(value) == count and all(isinstance(one, list) for one in value)
    if not sound or not all(isinstance(k, int) and 0 < k < 100 and k % 2 for one in value for k in one):
        keys.fault(name, f"must be {count} lists of odd kernel sizes", value)
        return ((),) * count
    return tuple(tuple(one) for one in value)


def _decode(shape: Shape, area: Area) -> tuple[Part, ...]:
    sheet, side = Sheet(), shape.decoder
    lowest = side.widths[-1]
    sheet.convolution("conv_in", shape.latents, lowest, THREE, area)
    if shape.adds_in:
        sheet.residual(area.positions, lowest)
    for level in reversed(range(len(side.widths))):
        if not side.layers[level]:
            continue
        with sheet.block(f"up_{level}"):
            if level < len(side.widths) - 1:
                area = _upsample(sheet, side, side.widths[level + 1], side.widths[level], area)
                sheet.residual(area.positions, side.widths[level])
            _level(sheet, shape, side, level, area)
    width = side.widths[0] if side.layers[0] else side.widths[1]
    with sheet.block("output"):
        sheet.norm("norm_out", "layer", width, area.positions)
        sheet.activation("relu", width * area.positions)
        if side.layers[0]:
            sheet.convolution("conv_out", width, shape.inputs, THREE, area)
        else:
            _upsample(sheet, side, width, shape.inputs, area)
    return sheet.parts


def _encode(shape: Shape, area: Area) -> tuple[Part, ...]:
    sheet, side = Sheet(), shape.encoder
    if side.layers[0]:
        sheet.convolution("conv_in", shape.inputs, side.widths[0], THREE, area)
    else:
        area = _downsample(sheet, side, shape.inputs, side.widths[1], area)
    for level, width in enumerate(side.widths):
        if not side.layers[level]:
            continue
        with sheet.block(f"down_{level}"):
            _level(sheet, shape, side, level, area)
            if level < len(side.widths) - 1:
                area = _downsample(sheet, side, width, side.widths[level + 1], area)
                sheet.residual(area.positions, side.widths[level + 1])
    with sheet.block("output"):
        sheet.convolution("conv_out", side.widths[-1], shape.latents, THREE, area)
        if shape.adds_out:
            sheet.residual(area.positions, shape.latents)
    return sheet.parts


def _downsample(sheet: Sheet, side: Side, inputs: int, outputs: int, area: Area) -> Area:
    """Half as high and wide: by a stride, or by a convolution whose positions become channels."""
    smaller = Area(area.height // 2, area.width // 2)
    if side.shuffles:
        sheet.convolution("downsample", inputs, outputs // 4, THREE, area)
    else:
        sheet.convolution("downsample", inputs, outputs, THREE, smaller, before=area)
    return smaller


def _upsample(sheet: Sheet, side: Side, inputs: int, outputs: int, area: Area) -> Area:
    """Twice as high and wide: neighbours repeated before a convolution, or channels that become positions after it."""
    if side.shuffles:
        sheet.convolution("upsample", inputs, 4 * outputs, THREE, area)
    else:
        sheet.convolution("upsample", inputs, outputs, THREE, area.doubled())
    return area.doubled()


def _level(sheet: Sheet, shape: Shape, side: Side, level: int, area: Area) -> None:
    width, positions = side.widths[level], area.positions
    for _ in range(side.layers[level]):
        if side.kinds[level] == _BLOCKS[0]:
            sheet.convolution("conv1", width, width, THREE, area)
            sheet.activation("silu", width * positions)
            sheet.convolution("conv2", width, width, THREE, area, bias=False)
            sheet.norm("norm", "layer", width, positions)
            sheet.residual(positions, width)
        else:
            _attention(sheet, shape, width, side.scales[level], area)
            _gated_convolutions(sheet, width, area)


def _attention(sheet: Sheet, shape: Shape, width: int, kernels: tuple[int, ...], area: Area) -> None:
    """Linear attention, of queries, keys and values as they are and as depthwise convolutions spread them."""
    positions, heads = area.positions, width // shape.head_dim
    inner = heads * shape.head_dim
    sheet.product("to_qkv", positions, width, inner, inner, inner, bias=False)
    for kernel in kernels:
        sheet.convolution("multiscale.proj_in", 3 * inner, 3 * inner, (kernel,) * 2, area, groups=3 * inner, bias=False)
        sheet.convolution("multiscale.proj_out", 3 * inner, 3 * inner, (1, 1), area, groups=3 * heads, bias=False)
    sheet.activation("relu", 2 * inner * (1 + len(kernels)) * positions)
    for _ in range(1 + len(kernels)):
        if positions > shape.head_dim:
            sheet.linear_attention(positions, heads, shape.head_dim)
        else:
            sheet.attention(positions, positions, heads, shape.head_dim)
    sheet.product("to_out", positions, inner * (1 + len(kernels)), width, bias=False)
    sheet.norm("norm_out", "layer", width, positions)
    sheet.residual(positions, width)


def _gated_convolutions(sheet: Sheet, width: int, area: Area) -> None:
    hidden = _EXPANSION * width
    sheet.convolution("conv_inverted", width, 2 * hidden, (1, 1), area)
    sheet.activation("silu", 2 * hidden * area.positions)
    sheet.convolution("conv_depth", 2 * hidden, 2 * hidden, THREE, area, groups=2 * hidden)
    sheet.activation("silu", hidden * area.positions, gated=True)
    sheet.convolution("conv_point", hidden, width, (1, 1), area, bias=False)
    sheet.norm("norm", "layer", width, area.positions)
    sheet.residual(area.positions, width)
