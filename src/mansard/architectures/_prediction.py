"""Layers that predict further tokens (multi-token prediction): in checkpoints, and in no count unless asked for.

Such a layer takes the last layer's output for a token and the embedding of the next one, each normed, through one
matrix [2·hidden → hidden], then a whole layer of the model and a norm. It looks up and samples by the model's own
embedding and head; the copies of them that some checkpoints hold are not counted.

DeepSeek-V3: 11,610,067,968 parameters, so that its checkpoint, with two copies, has 685B.

Sources: arXiv:2412.19437, 2.2; the class MtpLayer of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

_NAMES = ("num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules", "mtp_num_hidden_layers")


def prediction_count(keys: Keys) -> int:
    """How many prediction layers a configuration names."""
    return keys.optional_size(*_NAMES, minimum=0, maximum=MOST_LAYERS) or 0


def note_prediction_layers(keys: Keys) -> None:
    """Says that extra prediction layers are named, of which it is not known what they hold."""
    count = prediction_count(keys)
    if count:
        text = f"{count} extra prediction layer(s) (MTP) are named and not counted: what they hold is not known"
        keys.note("prediction-layers", text)


def predicting(keys: Keys, model: ModelConfig, layer: Layer | None = None, *, default: int = 0) -> ModelConfig:
    """The model with its prediction layers, each made of `layer` or one like the last, with a matrix and norms before.

    default: how many there are where the configuration does not say.
    """
    count = prediction_count(keys) if keys.has(*_NAMES) else default
    if not count or not model.layers:
        return model
    joined = joining(model, layer or model.layers[-1])
    return replace(model, prediction_layers=(joined,) * count)


def chained(keys: Keys, model: ModelConfig, layer: Layer, *, default: int = 0) -> ModelConfig:
    """The same where all prediction layers have one matrix and three norms between them, as Qwen's do."""
    count = prediction_count(keys) if keys.has(*_NAMES) else default
    if not count:
        return model
    return replace(model, prediction_layers=(joining(model, layer), *(layer,) * (count - 1)))


def joining(model: ModelConfig, layer: Layer) -> Layer:
    """The layer with what joins the two inputs before it, and a norm behind it."""
    hidden = model.hidden_size
    norms = (Norm(kind="rms", size=hidden),) * 3
    return layer._replace(norms=(*layer.norms, *norms), extras=(*layer.extras, Matrix("eh_proj", 2 * hidden, hidden)))
