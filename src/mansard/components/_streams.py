"""What transformers of denoisers share: streams that attend together or to a text, modulated norms, feed-forward."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from mansard.components._sheet import Sheet
from mansard.inputs.keys import Keys

TIME_WAVES = 256  # sinusoids of a timestep or of the guidance


class Heads(NamedTuple):
    """Attention heads. norm: of queries and keys, over each head or across all of them, or none."""

    number: int
    size: int
    norm: Literal["heads", "across", "none"] = "heads"
    kind: Literal["rms", "layer"] = "rms"

    @property
    def width(self) -> int:
        return self.number * self.size

    def write_norm(self, sheet: Sheet, name: str, tokens: int) -> None:
        """The norm of queries or keys of so many tokens."""
        if self.norm == "heads":
            sheet.norm(name, self.kind, self.size, tokens, self.number)
        elif self.norm == "across":
            sheet.norm(name, self.kind, self.width, tokens)


class Stream(NamedTuple):
    """Tokens with weights of their own in attention that is joint; without `has_output` their result is dropped."""

    name: str
    tokens: int
    width: int
    has_output: bool = True


class Block(NamedTuple):
    """A joint block's sizes: `hidden` elements of the feed-forward part, with a gate or without."""

    width: int
    heads: Heads
    hidden: int
    gated: bool = False
    bias: bool = True
    is_modulated: bool = True  # by a projection of its own; else by one that all blocks share


def output_channels(keys: Keys, inputs: int, default: int) -> int:
    """Channels of what comes out: the class's default where the key is absent, those that come in where it is null."""
    if "out_channels" in keys.document and not keys.has("out_channels"):
        return inputs
    return keys.size("out_channels", default=default)


def condition(sheet: Sheet, width: int, *, pooled: int = 0, is_guided: bool = False) -> None:
    """The vector of the timestep, with that of the guidance and of the pooled text where there are such."""
    sheet.vector_mlp("timestep_embedder", TIME_WAVES, width)
    if is_guided:
        sheet.vector_mlp("guidance_embedder", TIME_WAVES, width)
    if pooled:
        sheet.vector_mlp("text_embedder", pooled, width)


def modulation(sheet: Sheet, name: str, inputs: int, outputs: int, *, bias: bool = True, rows: int = 1) -> None:
    """Scales, shifts and gates from the condition's vector."""
    sheet.activation("silu", rows * inputs)
    sheet.product(name, rows, inputs, outputs, bias=bias)


def modulated_norm(sheet: Sheet, name: str, tokens: int, width: int, kind: str = "none") -> None:
    """A norm, then a scale and a shift that depend on the timestep."""
    sheet.norm(name, kind, width, tokens)
    sheet.modulated(tokens, width)


def projection_out(sheet: Sheet, tokens: int, width: int, outputs: int) -> None:
    """The norm, modulated by a projection of its own, and the product that gives latents."""
    with sheet.block("output"):
        modulation(sheet, "norm_out.linear", width, 2 * width)
        modulated_norm(sheet, "norm_out", tokens, width)
        sheet.product("proj_out", tokens, width, outputs)


def joint_attention(
    sheet: Sheet, heads: Heads, streams: Sequence[Stream], *, bias: bool = True, out_bias: bool = True, rotated: int = 0
) -> None:
    """Every token of every stream attends to all of all streams; `rotated` tokens have rotary positions."""
    for stream in streams:
        sheet.product(f"{stream.name}to_qkv", stream.tokens, stream.width, *(heads.width,) * 3, bias=bias)
        for which in ("q", "k"):
            heads.write_norm(sheet, f"{stream.name}norm_{which}", stream.tokens)
    if rotated:
        sheet.rotary(rotated, heads.width)
    tokens = sum(stream.tokens for stream in streams)
    sheet.attention(tokens, tokens, heads.number, heads.size)
    for stream in streams:
        if stream.has_output:
            sheet.product(f"{stream.name}to_out", stream.tokens, heads.width, stream.width, bias=out_bias)


def cross_attention(
    sheet: Sheet,
    heads: Heads,
    queries: Stream,
    keys: Stream,
    *,
    bias: bool = True,
    out_bias: bool = True,
) -> None:
    """The tokens of one stream attend to those of another."""
    name = f"{queries.name}cross_"
    sheet.product(f"{name}to_q", queries.tokens, queries.width, heads.width, bias=bias)
    sheet.product(f"{name}to_kv", keys.tokens, keys.width, heads.width, heads.width, bias=bias)
    heads.write_norm(sheet, f"{name}norm_q", queries.tokens)
    heads.write_norm(sheet, f"{name}norm_k", keys.tokens)
    sheet.attention(queries.tokens, keys.tokens, heads.number, heads.size, name="cross_attention")
    sheet.product(f"{name}to_out", queries.tokens, heads.width, queries.width, bias=out_bias)


def feed_forward(
    sheet: Sheet, tokens: int, width: int, hidden: int, *, name: str = "", kind: str = "gelu", gated: bool = False,
    bias: bool = True,
) -> None:  # fmt: skip
    """Two products with a non-linearity between them; gated: the first is twice as wide."""
    sheet.product(f"{name}ff.in", tokens, width, *(hidden,) * (1 + gated), bias=bias)
    sheet.activation(kind, tokens * hidden, gated=gated)
    sheet.product(f"{name}ff.out", tokens, hidden, width, bias=bias)


def joint_block(sheet: Sheet, block: Block, image: int, text: int, *, rotated: int, is_last: bool = False) -> None:
    """A double block: image and text attend together, each with weights of its own; the last one drops the text.

    Source: Esser et al., arXiv:2403.03206, figure 2.
    """
    width = block.width
    streams = (Stream("", image, width), Stream("context_", text, width, has_output=not is_last))
    for stream in streams:
        if block.is_modulated:
            modulation(sheet, f"{stream.name}modulation", width, (6 if stream.has_output else 2) * width)
        modulated_norm(sheet, f"{stream.name}norm", stream.tokens, width)
    joint_attention(sheet, block.heads, streams, bias=block.bias, out_bias=block.bias, rotated=rotated)
    for stream in streams:
        if stream.has_output:
            _joint_feed_forward(sheet, block, stream)


def _joint_feed_forward(sheet: Sheet, block: Block, stream: Stream) -> None:
    sheet.gated_residual(stream.tokens, block.width)
    modulated_norm(sheet, f"{stream.name}norm_2", stream.tokens, block.width)
    feed_forward(
        sheet, stream.tokens, block.width, block.hidden, name=stream.name, kind="silu" if block.gated else "gelu",
        gated=block.gated, bias=block.bias,
    )  # fmt: skip
    sheet.gated_residual(stream.tokens, block.width)


def single_block(sheet: Sheet, block: Block, tokens: int, *, rotated: int) -> None:
    """Attention and the feed-forward part side by side, from one norm and into one product.

    Source: Dehghani et al., arXiv:2302.05442, for parallel blocks.
    """
    width, heads = block.width, block.heads
    if block.is_modulated:
        modulation(sheet, "modulation", width, 3 * width)
    modulated_norm(sheet, "norm", tokens, width)
    widths = (heads.width,) * 3 + (block.hidden,) * (1 + block.gated)
    sheet.product("to_qkv_mlp", tokens, width, *widths, bias=block.bias)
    for which in ("q", "k"):
        heads.write_norm(sheet, f"norm_{which}", tokens)
    sheet.rotary(rotated, heads.width)
    sheet.attention(tokens, tokens, heads.number, heads.size)
    sheet.activation("silu" if block.gated else "gelu", tokens * block.hidden, gated=block.gated)
    sheet.product("proj_out", tokens, heads.width + block.hidden, width, bias=block.bias)
    sheet.gated_residual(tokens, width)
