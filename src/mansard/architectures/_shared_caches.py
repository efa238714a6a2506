"""Layers that attend to the keys and values of an earlier layer, and the inputs that each layer has of its own."""

from collections.abc import Sequence
from dataclasses import replace

from mansard.inputs.keys import MOST_LAYERS, WIDEST, Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm


def sharing_layers(keys: Keys, kinds: Sequence[bool], *, default: int) -> tuple[bool, ...]:
    """Which layers use an earlier cache: the last `num_kv_shared_layers`, each that of the last own one of its kind.

    kinds: whether a layer sees a window only. Each kind that uses a cache must have a layer that keeps one.
    """
    name, layers = "num_kv_shared_layers", len(kinds)
    shared = keys.size(name, default=default, minimum=0, maximum=MOST_LAYERS)
    own = layers - shared
    if shared:
        keys.require(own > 0, name, f"must be below num_hidden_layers, {layers}", shared)
        if own > 0:
            hint = "a layer can only use the cache of an earlier one of its kind"
            keys.require(
                set(kinds[own:]) <= set(kinds[:own]), name, "leaves a kind of layer without a cache", shared, hint
            )
        which = "layer keeps" if shared == 1 else f"{shared} layers keep"
        text = f"the last {which} no cache: a prefill takes only the last position that far"
        keys.note("shared-caches", text)
    return tuple(index >= own for index in range(layers))


def normed_heads(mixer: Attention) -> Attention:
    """Attention with RMS norms on each head of queries and keys, and one without weights on the values."""
    return mixer._replace(
        q_norm=Norm(kind="rms", size=mixer.head_dim, repeats=mixer.heads),
        k_norm=Norm(kind="rms", size=mixer.head_dim, repeats=mixer.kv_heads),
        v_norm=Norm(kind="none", size=mixer.head_dim, repeats=mixer.kv_heads),
    )


def following(mixer: Attention) -> Attention:
    """The same attention over an earlier layer's cache: no keys and values of its own, and no norms of them."""
    return mixer._replace(k_norm=None, v_norm=None, shares_cache=True)


def layer_inputs(hidden_size: int, width: int) -> tuple[Matrix, ...]:
    """The products with a layer's own input: a gate into its width, and back."""
    if not width:
        return ()
    return Matrix("per_layer_input_gate", hidden_size, width), Matrix("per_layer_projection", width, hidden_size)


def with_layer_inputs(keys: Keys, model: ModelConfig, width: int) -> ModelConfig:
    """The model with a table of `vocab_size_per_layer_input` rows of `width` elements for each layer.

    A row is looked up for each token; to it is added a projection of the embedded token, with a norm for each layer.
    """
    if not width or model.embedding is None:
        return model
    layers = len(model.layers)
    keys.require(layers * width <= WIDEST, "hidden_size_per_layer_input", "is too wide for so many layers", width)
    embedding = model.embedding._replace(
        per_layer_vocab=keys.size("vocab_size_per_layer_input", default=262144),
        per_layer_dim=layers * width,
        extras=(Matrix("per_layer_model_projection", model.hidden_size, layers * width),),
        extra_norms=(Norm(kind="rms", size=width, repeats=layers),),
    )
    return replace(model, embedding=embedding)
