"""What transformers share whose text is only keys of cross-attention: one modulation for all blocks, with tables."""

from mansard.components._sheet import Sheet
from mansard.components._streams import TIME_WAVES, modulated_norm


def shared_modulation(sheet: Sheet, width: int, rows: int = 1, *, is_guided: bool = False) -> None:
    """The timestep's vector and the six scales, shifts and gates that every block adds its table to.

    Source: Chen et al., PixArt-α, arXiv:2310.00426, section 2.3.
    """
    sheet.vector_mlp("timestep_embedder", TIME_WAVES, width, rows=rows)
    if is_guided:
        sheet.vector_mlp("guidance_embedder", TIME_WAVES, width, rows=rows)
    sheet.activation("silu", rows * width)
    sheet.product("time_embed.linear", rows, width, 6 * width)


def caption_projection(sheet: Sheet, tokens: int, inputs: int, width: int) -> None:
    """The text's tokens brought to the width of the image's."""
    sheet.product("caption_projection.linear_1", tokens, inputs, width)
    sheet.activation("gelu", tokens * width)
    sheet.product("caption_projection.linear_2", tokens, width, width)


def block_table(sheet: Sheet, width: int, rows: int = 1) -> None:
    """A block's own part of the scales, shifts and gates."""
    sheet.learned("scale_shift_table", 6 * width, 6 * width * rows)


def finish(sheet: Sheet, tokens: int, width: int, outputs: int, rows: int = 1) -> None:
    """The last norm with a table for its scale and shift, and the product that gives latents."""
    with sheet.block("output"):
        sheet.learned("scale_shift_table", 2 * width, 2 * width * rows)
        modulated_norm(sheet, "norm_out", tokens, width)
        sheet.product("proj_out", tokens, width, outputs)
