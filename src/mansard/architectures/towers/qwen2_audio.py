"""Qwen2-Audio: Whisper's encoder over windows of 30 seconds, the mean of each two tokens, one matrix to the decoder.

Sources: arXiv:2407.10759; the class Qwen2AudioForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._reading import part
from mansard.architectures.towers._whisper import positions, whisper
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import TrimmedAudio
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("qwen2_audio",)
_TOKENS_PER_S = 50  # of two spectral frames each, 10 ms apart


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its encoder and projector."""
    own = part(keys, "audio_config")
    tower, tokens = whisper(own), positions(own)
    project = Applied(Matrix("projector", tower.hidden_size, model.hidden_size, bias=True), per=2)
    reads = TrimmedAudio(tokens / _TOKENS_PER_S, tokens)
    return replace(model, encoders=(tower._replace(back=(project,), reads=reads),))
