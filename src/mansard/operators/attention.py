"""Attention over cached and new tokens: by heads (whole, windowed, chunked) and by latents; fused and standard."""

from mansard.inputs.encoder import Pooling
from mansard.inputs.mixers import Attention, CrossAttention, Indexer, LatentAttention
from mansard.operators.cost import Form, Op, Setting, Term, form
from mansard.operators.step import SOURCE, TOKENS, Basis

# Vector FLOPs per query-key pair: softmax takes a subtraction, an exponential and a multiplication by the reciprocal
# sum; a soft cap a multiplication, a tanh and a multiplication.
SOFTMAX_FLOPS = 3
SOFTCAP_FLOPS = 3


def head_attention(mixer: Attention, setting: Setting) -> Op:
    """Scores and weighted values of H query heads over the keys and values of H_kv heads.

    Fused: 2·(d_qk + d_v)·H FLOPs for each attended pair; reads the cached tokens' keys and values once, and the new
    tokens' too unless they are fused with what produced them. Standard: the whole n×(c + n) square, whose scores and
    probabilities are written and read. FLOPs go by query heads, bytes by key/value heads (GQA, MQA and MHA alike).
    Source: Dao et al., FlashAttention, arXiv:2205.14135.

    One query of Llama-3.1-8B that sees 4,096 tokens, 4,095 of them in the cache:

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> op = head_attention(Attention(heads=32, kv_heads=8, head_dim=128), setting)
    >>> cost = op.cost(Step(batch=1, new=1, cached=4095))
    >>> cost.flops, 2 * (128 + 128) * 32 * 4096
    (67108864, 67108864)
    >>> cost.cache_read_bytes, 4095 * 8 * (128 + 128) * 2
    (16773120, 16773120)
    """
    standard = setting.attention == "standard"
    pairs = _seen(mixer, standard=standard)
    per_pair = SOFTMAX_FLOPS + (SOFTCAP_FLOPS if mixer.softcap else 0)
    per_token = -(-mixer.attended_elements_per_token * setting.cache_bits // 8)
    reads = Basis("reads", mixer.window, mixer.chunk)
    return Op(
        name="attention",
        kind="attention",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=_head_symbols(mixer, per_token),
        flops=form(2 * (mixer.head_dim + mixer.value_dim) * mixer.heads, pairs, "2·(d_qk + d_v)·H"),
        vector_flops=form(per_pair * mixer.heads, pairs, f"{per_pair}·H"),
        cache_read_bytes=form(per_token, reads, "κ") if mixer.causal else (),
        activation_bytes=_moved(mixer, setting, per_token) + (_score_traffic(mixer.heads, setting) if standard else ()),
    )


def latent_attention(mixer: LatentAttention, setting: Setting) -> Op:
    """Multi-head latent attention over cached latents, absorbed or expanded.

    Absorbed: queries are taken into the latent space, 2·H·(2·r + d_rope) FLOPs a pair. Expanded: keys and values are
    made from the latents again, 2·H·(d_nope + d_rope + d_v) a pair and 2·r·H·(d_nope + d_v) for each cached token.
    The new tokens' own projections are the same matrix work in both, counted with kv_b_proj. With a top_k a query sees
    no more than so many tokens; of those that several queries choose the least is read that any choice must.
    Source: DeepSeek-V2, arXiv:2405.04434; sparse: DeepSeek-V3.2-Exp (2025).

    DeepSeek-V3, one query that sees 4,096 tokens. Absorbed it reads latents alone; expanded it makes keys and values of
    all cached tokens again:

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="absorbed")
    >>> sizes = dict(heads=128, q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64)
    >>> mixer = LatentAttention(**sizes, v_head_dim=128)
    >>> step = Step(batch=1, new=1, cached=4095)
    >>> latent_attention(mixer, setting).cost(step).flops, 2 * 128 * (2 * 512 + 64) * 4096
    (1140850688, 1140850688)
    >>> latent_attention(mixer, setting).cost(step).cache_read_bytes, 4095 * (512 + 64) * 2
    (4717440, 4717440)
    >>> expanded = latent_attention(mixer, setting._replace(attention="expanded")).cost(step)
    >>> expanded.flops, 2 * 128 * (128 + 64 + 128) * 4096 + 2 * 512 * 128 * (128 + 128) * 4095
    (137740943360, 137740943360)
    """
    pairs, reads, whole = Basis("pairs", mixer.top_k), Basis("reads", mixer.top_k), Basis("reads")
    heads, latent = mixer.heads, mixer.kv_lora_rank
    per_token = -(-mixer.latent_elements_per_token * setting.cache_bits // 8)
    if setting.attention == "absorbed":
        flops: Form = form(2 * heads * (2 * latent + mixer.qk_rope_head_dim), pairs, "2·H·(2·r + d_rope)")
    else:
        again = 2 * latent * heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)
        flops = (
            Term(2 * heads * (mixer.qk_head_dim + mixer.v_head_dim), pairs, "2·H·(d_nope + d_rope + d_v)"),
            Term(again, whole, "2·r·H·(d_nope + d_v)"),
        )
        reads = whole  # keys and values of all cached tokens are made again, whichever a query then chooses
    moved = 0 if setting.fusion == "full" else heads * (mixer.qk_head_dim + mixer.v_head_dim)
    own = 0 if setting.fusion == "full" else per_token
    return Op(
        name=f"attention_{setting.attention}",
        kind="latent_attention",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=_latent_symbols(mixer, per_token),
        flops=flops,
        vector_flops=form(SOFTMAX_FLOPS * heads, pairs, f"{SOFTMAX_FLOPS}·H"),
        cache_read_bytes=form(per_token, reads, "κ"),
        activation_bytes=form(setting.activation_bytes(moved) + own, TOKENS, "H·(d_nope + d_rope + d_v)·a + κ"),
    )


def index_scores(indexer: Indexer, setting: Setting) -> Op:
    """Scores of every earlier token, from which sparse attention chooses: 2·H_i·d_i FLOPs a pair, in the whole context.

    Reads the index keys of all cached tokens. A rectified and weighed sum over the heads, 3 vector FLOPs a head, gives
    the score. Source: DeepSeek-V3.2-Exp (2025).

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="absorbed")
    >>> from mansard.inputs.weights import Norm
    >>> indexer = Indexer(heads=64, head_dim=128, query_dim=1536, norm=Norm("layer", 128))
    >>> op = index_scores(indexer, setting)
    >>> op.cost(Step(batch=1, new=1, cached=8191)).flops, 2 * 64 * 128 * 8192
    (134217728, 134217728)
    """
    pairs = Basis("pairs")
    per_token = -(-indexer.head_dim * setting.cache_bits // 8)
    moved = 0 if setting.fusion == "full" else indexer.heads * (indexer.head_dim + 1)
    return Op(
        name="index_scores",
        kind="index",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(
            ("H_i", indexer.heads, "index heads"),
            ("d_i", indexer.head_dim, "size of an index head"),
            ("κ_i", per_token, "bytes of an index key"),
        ),
        flops=form(2 * indexer.heads * indexer.head_dim, pairs, "2·H_i·d_i"),
        vector_flops=form(3 * indexer.heads, pairs, "3·H_i"),
        cache_read_bytes=form(per_token, Basis("reads"), "κ_i"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "H_i·(d_i + 1)·a"),
    )


def cross_attention(mixer: CrossAttention, setting: Setting) -> Op:
    """Attention to the S tokens of another sequence, whose keys and values were made once: 4·d·H FLOPs a pair.

    All S keys and values of each sequence are read in every step. Source: arXiv:1706.03762, 3.2.3.

    A layer of Whisper-large-v3, whose decoder attends to the 1,500 tokens of 30 seconds:

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> cost = cross_attention(CrossAttention(20, 20, 64), setting).cost(Step(1, 1, 4, source=1500))
    >>> cost.flops, 4 * 64 * 20 * 1500
    (7680000, 7680000)
    >>> cost.cache_read_bytes, 1500 * 2 * 20 * 64 * 2
    (7680000, 7680000)
    """
    pairs = Basis("cross_pairs")
    per_token = -(-mixer.source_elements_per_token * setting.cache_bits // 8)
    moved = 0 if setting.fusion == "full" else 2 * mixer.heads * mixer.head_dim
    return Op(
        name="cross_attention",
        kind="attention",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(
            ("H", mixer.heads, "query heads"),
            ("H_kv", mixer.kv_heads, "key/value heads"),
            ("d", mixer.head_dim, "size of a head"),
            ("κ", per_token, "cache bytes per source token and layer"),
        ),
        flops=form(4 * mixer.head_dim * mixer.heads, pairs, "4·d·H"),
        vector_flops=form(SOFTMAX_FLOPS * mixer.heads, pairs, f"{SOFTMAX_FLOPS}·H"),
        cache_read_bytes=form(per_token, SOURCE, "κ"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "2·H·d·a"),
    )


def pooling(part: Pooling, setting: Setting) -> Op:
    """Attention of q learned queries to all tokens of an encoder: 4·d·H·q FLOPs a token. Source: arXiv:2205.01917."""
    width = part.heads * part.head_dim
    moved = 0 if setting.fusion == "full" else 2 * width
    return Op(
        name="pooling_attention",
        kind="attention",
        group="encoder_back",
        dtype=setting.activation_dtype,
        symbols=(("H", part.heads, "heads"), ("d", part.head_dim, "size of a head"), ("q", part.queries, "queries")),
        flops=form(4 * width * part.queries, TOKENS, "4·d·H·q"),
        vector_flops=form(SOFTMAX_FLOPS * part.heads * part.queries, TOKENS, f"{SOFTMAX_FLOPS}·H·q"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "2·H·d·a"),
    )


def cross_append(mixer: CrossAttention, setting: Setting) -> Op:
    """Keys and values of the encoder's output written once, for every step to read."""
    per_token = -(-mixer.source_elements_per_token * setting.cache_bits // 8)
    return Op(
        name="cross_cache_write",
        kind="append",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(("κ", per_token, "cache bytes per source token and layer"),),
        cache_write_bytes=form(per_token, SOURCE, "κ"),
    )


def append(mixer: Attention | LatentAttention, setting: Setting) -> Op:
    """The new tokens' keys and values (or latents) written to the cache: n written, none read back.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> op = append(Attention(heads=32, kv_heads=8, head_dim=128), setting)
    >>> op.cost(Step(batch=2, new=1000, cached=0)).cache_write_bytes, 2 * 1000 * 8 * (128 + 128) * 2
    (8192000, 8192000)
    """
    elements = mixer.cache_elements_per_token
    per_token = -(-elements * setting.cache_bits // 8)
    # The usual kernel rotates and appends at once, so that only an engine without fusion reads what it appends again.
    read = setting.activation_bytes(elements) if setting.fusion == "none" else 0
    return Op(
        name="cache_append",
        kind="append",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(("κ", per_token, "cache bytes per token and layer"),),
        cache_write_bytes=form(per_token, TOKENS, "κ"),
        activation_bytes=form(read, TOKENS, "κ"),
    )


def _seen(mixer: Attention, *, standard: bool) -> Basis:
    """The pairs that are computed: all of the square by the standard algorithm, else those that the mask leaves."""
    if not mixer.causal:
        if mixer.square is not None:
            return Basis("both_ways") if standard else Basis("squares", fixed=mixer.square)
        return Basis("both_ways") if standard else Basis("both_ways", mixer.window, mixer.chunk)
    return Basis("square") if standard or mixer.prefix else Basis("pairs", mixer.window, mixer.chunk)


def _moved(mixer: Attention, setting: Setting, per_token: int) -> Form:
    if setting.fusion == "full":
        return ()
    queries_and_output = setting.activation_bytes(mixer.heads * (mixer.head_dim + mixer.value_dim))
    return form(queries_and_output + per_token, TOKENS, "H·(d_qk + d_v)·a + κ")


def _score_traffic(heads: int, setting: Setting) -> Form:
    """Scores and probabilities, each written once and read once; they don't fit on the chip, whatever is fused."""
    return form(4 * setting.activation_bytes(heads), Basis("square"), "4·H·a")


def _head_symbols(mixer: Attention, per_token: int) -> tuple[tuple[str, int | float, str], ...]:
    limit = () if mixer.window is None else (("W", mixer.window, "window"),)
    if mixer.chunk is not None:
        limit = (("A", mixer.chunk, "chunk"),)
    if mixer.square is not None:
        limit = (("A", mixer.square, "rows and columns of a square of patches"),)
    return (
        ("H", mixer.heads, "query heads"),
        ("H_kv", mixer.kv_heads, "key/value heads"),
        ("d_qk", mixer.head_dim, "size of a query or key head"),
        ("d_v", mixer.value_dim, "size of a value head"),
        ("κ", per_token, "cache bytes per token and layer"),
        *limit,
    )


def _latent_symbols(mixer: LatentAttention, per_token: int) -> tuple[tuple[str, int | float, str], ...]:
    return (
        ("H", mixer.heads, "query heads"),
        ("r", mixer.kv_lora_rank, "size of the latent"),
        ("d_nope", mixer.qk_nope_head_dim, "part of a head that is not rotated"),
        ("d_rope", mixer.qk_rope_head_dim, "part of a head that is rotated"),
        ("d_v", mixer.v_head_dim, "size of a value head"),
        ("κ", per_token, "cache bytes per token and layer"),
    )
