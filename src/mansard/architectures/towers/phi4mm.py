"""Phi-4-multimodal: SigLIP over crops of an image, a Conformer over sound, a perceptron behind each, low-rank matrices.

2 × 2 patches are averaged; one learned vector ends a row, one stands between crops and the whole. Sound has a second
perceptron for prompts with images. The published configuration states ranks of matrices that are added to the language
model's where a prompt has images (`vision_lora`) or sound (`speech_lora`): they are stored, and their work is not
counted.

Sources: arXiv:2503.01743; the class Phi4MultimodalForCausalLM of Hugging Face transformers; the published
Phi4MMForCausalLM of Microsoft.
"""

from dataclasses import replace

from mansard.architectures.towers._clip import siglip
from mansard.architectures.towers._conformer import conformer
from mansard.architectures.towers._reading import note_unknown, part
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage
from mansard.inputs.tiles import CroppedImage, Tile
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("phi4mm", "phi4_multimodal")
_MOST_CROPS = 36
_TOWER = {
    "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14, "image_size": 448, "num_hidden_layers": 27,
    "num_attention_heads": 16,
}  # fmt: skip


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, its encoder of sound, and what is behind them."""
    seen, heard = _vision(keys, model.hidden_size), _audio(keys, model.hidden_size)
    ranks = [_rank(keys, name) for name in ("vision_lora", "speech_lora")]
    widths = _widths(model)
    seen, heard = (
        one._replace(unused=one.unused + rank * widths) for one, rank in zip((seen, heard), ranks, strict=True)
    )
    if any(ranks):
        text = f"low-rank matrices, {sum(ranks) * widths:,} parameters, are stored, and their work is not counted"
        keys.note("low-rank", text, "warning")
    return replace(model, encoders=(seen, heard))


def _vision(keys: Keys, out: int) -> Encoder:
    if keys.raw("model_type") == "phi4mm":
        keys.note(
            "class-default", "the published class states the vision tower's sizes by itself: SigLIP-so400m at 448"
        )
        own = Keys({}, keys.source, "vision_config.", faults=keys.faults, notes=[], asked=keys.asked)
    else:
        own = part(keys, "vision_config")
    for name in ("crop_size", "feature_layer"):
        own.has(name)
    tower = siglip(own, **_TOWER)
    hidden, reads = tower.hidden_size, tower.reads
    side = reads.size // reads.patch if isinstance(reads, FixedImage) else 1
    tile = Tile(side * (reads.patch if isinstance(reads, FixedImage) else 1), max(1, getattr(reads, "patch", 1)), 0)
    back = (
        Applied(Matrix("projector_in", hidden, out, bias=True), per_given=True),
        Applied(Matrix("projector_out", out, out, bias=True), per_given=True),
    )
    return tower._replace(back=back, vectors=tower.vectors + 2 * hidden, reads=CroppedImage(tile, _MOST_CROPS))


def _audio(keys: Keys, out: int) -> Encoder:
    if keys.raw("model_type") == "phi4mm":
        own = keys.nested("audio_processor").nested("config")
        bias = own.nested("relative_attention_bias_args")
        reach = bias.size("t5_bias_max_distance") if bias.has("t5_bias_max_distance") else 500
    else:
        own = part(keys, "audio_config")
        reach = own.size("bias_max_distance", default=1000)
        note_unknown(own)
    tower = conformer(own, reach)
    into, on = Matrix("projector_in", tower.hidden_size, out, bias=True), Matrix("projector_out", out, out, bias=True)
    second = into.parameters + on.parameters  # for prompts with images
    return tower._replace(back=(Applied(into), Applied(on)), unused=second)


def _rank(keys: Keys, name: str) -> int:
    own = keys.nested(name)
    return own.size("r", minimum=0) if own.has("r") else 0


def _widths(model: ModelConfig) -> int:
    """Inputs and outputs, together, of the fused projections that have low-rank matrices, over all layers."""
    found, hidden = 0, model.hidden_size
    for layer, count in model.distinct_layers:
        mixer, inner = layer.mixer, layer.feed_forward
        if isinstance(mixer, Attention) and isinstance(inner, FeedForward):
            *into, on = mixer.matrices(hidden)
            fused = hidden + sum(matrix.columns for matrix in into)
            gated = hidden + 3 * inner.intermediate_size + hidden
            found += count * (fused + on.rows + on.columns + gated)
    return found
