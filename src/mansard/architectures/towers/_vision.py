"""A vision tower by the type that its part of a configuration names, and what of it the language model gets."""

from collections.abc import Callable, Mapping

from mansard.architectures._reading import quiet_flag
from mansard.architectures.towers._clip import clip, siglip
from mansard.architectures.towers._pixtral import pixtral
from mansard.architectures.towers._reading import part
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.perception import FixedImage
from mansard.inputs.weights import Matrix

_TOWERS: Mapping[str, Callable[..., Encoder]] = {
    "clip_vision_model": clip, "siglip_vision_model": siglip, "pixtral": pixtral,
}  # fmt: skip


def vision(keys: Keys, otherwise: str, **defaults: int | bool) -> Encoder:
    """The tower of `vision_config`; where it names no type that of `otherwise`, with the composite's own defaults.

    The defaults count only where the whole part is absent, as the composites' classes have it.
    """
    absent = not keys.has("vision_config")
    inner = part(keys, "vision_config")
    kind = inner.text("model_type", default=otherwise)
    if kind not in _TOWERS:
        inner.fault("model_type", "is a vision tower that is not known", kind, f"known are {', '.join(_TOWERS)}")
        kind = otherwise
    return _TOWERS[kind](inner, **(defaults if absent else {}))


def chosen(keys: Keys, tower: Encoder, *, layer: int = -2, strategy: str = "default") -> tuple[int, int]:
    """How many tokens of an image go on, and of what width: features of several layers lie side by side."""
    reads = tower.reads
    rule = keys.text("vision_feature_select_strategy", choices=("default", "full"), default=strategy)
    layers = keys.raw("vision_feature_layer")
    if isinstance(layers, list):
        layers = keys.sizes("vision_feature_layer", minimum=-10_000, maximum=10_000)
        width = max(1, len(layers)) * tower.hidden_size
    else:
        keys.size("vision_feature_layer", default=layer, minimum=-10_000, maximum=10_000)
        width = tower.hidden_size
    tokens = (reads.size // reads.patch) ** 2 + reads.beside if isinstance(reads, FixedImage) else 0
    return max(1, tokens - (1 if rule == "default" else 0)), width


def perceptron(keys: Keys, width: int, hidden: int, times: int = 1, per: int = 1) -> tuple[Applied, Applied]:
    """LLaVA's projector of two layers, [width, hidden] and [hidden, hidden], for `times` of every `per` tokens."""
    bias = quiet_flag(keys, "multimodal_projector_bias", default=True)
    into, on = Matrix("projector_in", width, hidden, bias), Matrix("projector_out", hidden, hidden, bias)
    return Applied(into, times, per), Applied(on, times, per)
