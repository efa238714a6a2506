"""The autoencoder of LTX-Video: patches of pixels first, then blocks that halve time and sides at once.

Its decoder may do the last step of denoising by itself, and then takes a timestep. Source: HaCohen et al.,
arXiv:2501.00103, section 2.1.
"""

from typing import NamedTuple

from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._streams import TIME_WAVES
from mansard.components._videos import CUBE, POINT, Volume
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("AutoencoderKLLTXVideo",)

_DOWN = ("LTXVideoDownBlock3D", "LTXVideo095DownBlock3D")
# What the later encoder's blocks divide time and sides by.
_STRIDES = {"spatial": (1, 2), "temporal": (2, 1), "spatiotemporal": (2, 2)}


class Side(NamedTuple):
    """The encoder, or the decoder from its low end: widths, layers (one more, of the middle), what each level does."""

    widths: tuple[int, ...]
    layers: tuple[int, ...]
    scales: tuple[bool, ...]
    kinds: tuple[str, ...] = ()
    factors: tuple[int, ...] = ()
    residuals: tuple[bool, ...] = ()
    noise: tuple[bool, ...] = ()


class Shape(NamedTuple):
    """The sizes of an autoencoder."""

    inputs: int
    outputs: int
    latents: int
    patch: int
    encoder: Side
    decoder: Side
    is_timed: bool


class Block(NamedTuple):
    """What a residual block has beside its convolutions."""

    is_timed: bool = False
    has_noise: bool = False


def read(keys: Keys) -> Component:
    """An autoencoder of videos from its config."""
    patch = keys.size("patch_size", default=4)
    over_time = keys.size("patch_size_t", default=1)
    keys.require(over_time == 1, "patch_size_t", "is not supported other than 1", over_time)
    encoder, decoder = _encoder_side(keys), _decoder_side(keys)
    keys.finish()
    shape = Shape(
        inputs=keys.size("in_channels", default=3),
        outputs=keys.size("out_channels", default=3),
        latents=keys.size("latent_channels", default=128),
        patch=patch,
        encoder=encoder,
        decoder=decoder,
        is_timed=keys.flag("timestep_conditioning", default=False),
    )
    spatial = patch << sum(decoder.scales)
    temporal = 1 << sum(decoder.scales)
    for name, found in (("spatial_compression_ratio", spatial), ("temporal_compression_ratio", temporal)):
        given = keys.optional_size(name)
        keys.require(given in (None, found), name, f"must be what the decoder's levels make, {found}", given)
    return Component(
        name="vae", source=keys.source, class_name=CLASSES[0], role="autoencoder",
        parts=lambda sample: _decode(shape, Volume(sample.frames, sample.height, sample.width)),
        encoder=lambda sample: _encode(shape, _pixels(sample, spatial, temporal)),
        channels=shape.latents, outputs=shape.outputs, spatial=spatial, temporal=temporal,
    )  # fmt: skip


def _pixels(sample: Sample, spatial: int, temporal: int) -> Volume:
    return Volume(1 + (sample.frames - 1) * temporal, sample.height * spatial, sample.width * spatial)


def _encoder_side(keys: Keys) -> Side:
    widths = level_widths(keys, "block_out_channels", (128, 256, 512, 512))
    kinds = keys.texts("down_block_types", default=(_DOWN[0],) * len(widths), choices=_DOWN)
    later = bool(kinds) and kinds[-1] == _DOWN[1]
    levels = len(widths) - later
    keys.require(len(set(kinds)) == 1 and len(kinds) == levels, "down_block_types", f"must be {levels} of one kind")
    layers = keys.sizes("layers_per_block", default=(4, 3, 3, 3, 4), length=levels + 1, maximum=100)
    scales = _flags(keys, "spatio_temporal_scaling", (True, True, True, False), levels)
    types = keys.texts("downsample_type", default=("conv",) * levels, choices=("conv", *_STRIDES)) if later else ()
    keys.require(
        not later or (len(types) == levels and "conv" not in types), "downsample_type", "is not supported", types
    )
    return Side(widths, layers, scales, types)


def _decoder_side(keys: Keys) -> Side:
    """Reversed: from the latents up."""
    widths = level_widths(keys, "decoder_block_out_channels", (128, 256, 512, 512))
    levels = len(widths)
    layers = keys.sizes("decoder_layers_per_block", default=(4, 3, 3, 3, 4), length=levels + 1, maximum=100)
    scales = _flags(keys, "decoder_spatio_temporal_scaling", (True, True, True, False), levels)
    noise = _flags(keys, "decoder_inject_noise", (False,) * (levels + 1), levels + 1)
    residuals = _flags(keys, "upsample_residual", (False,) * levels, levels)
    factors = keys.sizes("upsample_factor", default=(1,) * levels, length=levels, maximum=64)
    return Side(
        widths[::-1], layers[::-1], scales[::-1], factors=factors[::-1], residuals=residuals[::-1], noise=noise[::-1]
    )


def _flags(keys: Keys, name: str, default: tuple[bool, ...], length: int) -> tuple[bool, ...]:
    value = keys.raw(name)
    if value is None:
        keys.note("class-default", f"{name} is absent: the default of the class")
        value = list(default)
    if not isinstance(value, list) or len(value) != length or not all(isinstance(one, bool) for one in value):
        keys.fault(name, f"must be {length} of true and false", value)
        return (False,) * length
    return tuple(value)


def _encode(shape: Shape, pixels: Volume) -> tuple[Part, ...]:
    sheet, side = Sheet(), shape.encoder
    volume = Volume(pixels.frames, pixels.height // shape.patch, pixels.width // shape.patch)
    widths = side.widths if side.kinds else (*side.widths, side.widths[-1])
    sheet.convolution("conv_in", shape.inputs * shape.patch**2, widths[0], CUBE, volume)
    for level, scales in enumerate(side.scales):
        inputs, outputs = widths[level], widths[level + 1]
        with sheet.block(f"down_{level}"):
            for _ in range(side.layers[level]):
                _residual_block(sheet, inputs, inputs, volume)
            if scales and side.kinds:
                volume = _shuffle_down(sheet, inputs, outputs, volume, side.kinds[level])
            elif scales:
                smaller = Volume(*(-(-one // 2) for one in volume))
                sheet.convolution("downsample", inputs, inputs, CUBE, smaller, before=volume)
                volume = smaller
            if not side.kinds and inputs != outputs:
                _residual_block(sheet, inputs, outputs, volume)
    with sheet.block("mid"):
        for _ in range(side.layers[-1]):
            _residual_block(sheet, widths[-1], widths[-1], volume)
    _finish(sheet, widths[-1], shape.latents + 1, volume)
    return sheet.parts


def _shuffle_down(sheet: Sheet, inputs: int, outputs: int, volume: Volume, kind: str) -> Volume:
    """A convolution at the larger size, whose positions become channels; beside it, means of as many channels."""
    time, side = _STRIDES[kind]
    padded = volume._replace(frames=volume.frames + time - 1)
    sheet.convolution("downsample", inputs, outputs // (time * side * side), CUBE, padded)
    sheet.residual(padded.positions, outputs // (time * side * side))
    return Volume(padded.frames // time, volume.height // side, volume.width // side)


def _decode(shape: Shape, volume: Volume) -> tuple[Part, ...]:
    sheet, side = Sheet(), shape.decoder
    inputs = side.widths[0]
    sheet.convolution("conv_in", shape.latents, inputs, CUBE, volume)
    with sheet.block("mid"):
        _timestep(sheet, shape, inputs, 4)
        for _ in range(side.layers[0]):
            _residual_block(sheet, inputs, inputs, volume, Block(shape.is_timed, side.noise[0]))
    for level, width in enumerate(side.widths):
        factor = side.factors[level]
        inputs, outputs = inputs // factor, width // factor
        block = Block(shape.is_timed, side.noise[level + 1])
        with sheet.block(f"up_{level}"):
            if inputs != outputs:
                _residual_block(sheet, inputs, outputs, volume, block)
            _timestep(sheet, shape, inputs, 4)
            if side.scales[level]:
                volume = _shuffle_up(sheet, outputs * factor, outputs * 8, volume, adds=side.residuals[level])
            for _ in range(side.layers[level + 1]):
                _residual_block(sheet, outputs, outputs, volume, block)
        inputs = outputs
    with sheet.block("output"):
        if shape.is_timed:
            sheet.learned("timestep_scale_multiplier", 1)
            sheet.learned("scale_shift_table", 2 * inputs)
        _timestep(sheet, shape, inputs, 2)
    _finish(sheet, inputs, shape.outputs * shape.patch**2, volume)
    return sheet.parts


def _shuffle_up(sheet: Sheet, inputs: int, outputs: int, volume: Volume, *, adds: bool) -> Volume:
    """A convolution whose channels become positions, twice as many along each axis; the first frame is one too many."""
    sheet.convolution("upsample", inputs, outputs, CUBE, volume)
    larger = Volume(2 * volume.frames - 1, 2 * volume.height, 2 * volume.width)
    if adds:
        sheet.residual(larger.positions, outputs // 8)
    return larger


def _timestep(sheet: Sheet, shape: Shape, channels: int, sets: int) -> None:
    if shape.is_timed:
        sheet.vector_mlp("time_embedder", TIME_WAVES, sets * channels)


def _residual_block(sheet: Sheet, inputs: int, outputs: int, volume: Volume, block: Block | None = None) -> None:
    """Two convolutions after norms without weights, which a timestep scales and shifts; noise is added."""
    positions, extra = volume.positions, block or Block()
    if extra.is_timed:
        sheet.learned("scale_shift_table", 4 * inputs)
    for name, source in (("conv1", inputs), ("conv2", outputs)):
        sheet.norm("norm", "none", source, positions)
        if extra.is_timed:
            sheet.modulated(positions, source)
        sheet.activation("silu", source * positions)
        sheet.convolution(name, source, outputs, CUBE, volume)
        if extra.has_noise:
            sheet.learned("per_channel_scale", inputs, outputs * positions)
    if inputs != outputs:
        sheet.norm("norm3", "layer", inputs, positions)
        sheet.convolution("conv_shortcut", inputs, outputs, POINT, volume)
    sheet.residual(positions, outputs)


def _finish(sheet: Sheet, inputs: int, outputs: int, volume: Volume) -> None:
    with sheet.block("output"):
        sheet.norm("norm_out", "none", inputs, volume.positions)
        sheet.activation("silu", inputs * volume.positions)
        sheet.convolution("conv_out", inputs, outputs, CUBE, volume)
