"""The CLIP family: a tower for text and one for images, each with a product into a shared space.

The text tower sees backwards only, and keeps nothing: one pass over at most 77 tokens. The vision tower has a class
token, squares without a bias, a norm before its layers and one on the class token behind them. What is counted is the
class's: CLIPModel has both and a scale; CLIPTextModel, of diffusion pipelines, and CLIPVisionModel have no product into
the shared space; the classes "WithProjection" have it.

Sources: arXiv:2103.00020; the class CLIPModel of Hugging Face transformers.
"""

from mansard.architectures._clip import dual_layers, text_tower
from mansard.architectures._encoder_heads import pooled
from mansard.architectures._encoders import encoder_model, labels, named_class, nested_or_default
from mansard.architectures._images import patches
from mansard.architectures._plain import layer_norm
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("clip", "clip_text_model", "clip_vision_model")
_BASES = {"clip_text_model": "CLIPTextModel", "clip_vision_model": "CLIPVisionModel"}
_TEXT = ("CLIPTextModel", "CLIPTextModelWithProjection")
_VISION = ("CLIPVisionModel", "CLIPVisionModelWithProjection")
ARCHITECTURES = ("CLIPModel", *_TEXT, *_VISION, "CLIPForImageClassification")
READS_PARTS = True
_SHARED = 512


def read(keys: Keys) -> ModelConfig:
    """A configuration of both towers or of one."""
    name = named_class(keys, ARCHITECTURES, _BASES.get(str(keys.raw("model_type")), "CLIPModel"))
    if name in _TEXT:
        own = keys.nested("text_config") if keys.has("text_config") else keys
        encoder, positions = text(own, projected=name == _TEXT[1])
        return encoder_model(keys, encoder, positions=positions)
    if name in _VISION:
        own = keys.nested("vision_config") if keys.has("vision_config") else keys
        return encoder_model(keys, vision(own, projected=name == _VISION[1]))
    seen = vision(_tower(keys, "vision_config"), projected=False)
    if name == "CLIPForImageClassification":
        return encoder_model(keys, seen._replace(back=pooled("classifier", seen.hidden_size, labels(keys)).back))
    shared = keys.size("projection_dim", default=_SHARED)
    encoder, positions = text(_tower(keys, "text_config"), projected=False)
    return encoder_model(
        keys,
        encoder._replace(back=_product("text_projection", encoder, shared)),
        seen._replace(back=_product("visual_projection", seen, shared), vectors=seen.vectors + 1),
        positions=positions,
    )


def _tower(keys: Keys, name: str) -> Keys:
    """The keys of a tower: of `text_config_dict`, as older files have it too, the class takes that and nothing else."""
    older = f"{name}_dict"
    return keys.nested(older) if keys.has(older) else nested_or_default(keys, name)


def _product(name: str, encoder: Encoder, shared: int) -> tuple[Applied, ...]:
    return pooled(name, encoder.hidden_size, shared, bias=False).back


def text(keys: Keys, *, projected: bool) -> tuple[Encoder, int]:
    """The tower for text, and how many tokens it reads; `projected`: with the product that its own class may have."""
    hidden = keys.size("hidden_size", default=512)
    layers = dual_layers(keys, hidden, heads=8, width=2048, kind="quick_gelu", causal=True)
    encoder, positions = text_tower(keys, hidden, layers, vocab_size=49408, positions=77)
    if projected:
        encoder = encoder._replace(back=_product("text_projection", encoder, _own_space(keys)))
    return encoder, positions


def vision(keys: Keys, *, projected: bool) -> Encoder:
    """The tower for images, as models of images and text have it too. One norm sees the class token alone."""
    hidden = keys.size("hidden_size", default=768)
    squares = patches(keys, hidden, image_size=224, patch_size=32, bias=False, beside=1)
    encoder = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=dual_layers(keys, hidden, heads=12, width=3072, kind="quick_gelu"),
        front=squares.front,
        norms=(layer_norm(hidden), layer_norm(hidden)),
        vectors=hidden + squares.tokens * hidden,
        reads=squares.reads,
    )
    return encoder._replace(back=_product("visual_projection", encoder, _own_space(keys))) if projected else encoder


def _own_space(keys: Keys) -> int:
    return keys.size("projection_dim", default=_SHARED)
