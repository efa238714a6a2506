"""What stands behind the layers of a text encoder's class: poolers, classifiers, heads over the vocabulary."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mansard.architectures._encoders import labels
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.weights import Matrix, Norm


class Ends(NamedTuple):
    """Products behind the layers, norms among them, and elements of vectors that are parameters of no product."""

    back: tuple[Applied, ...] = ()
    norms: tuple[Norm, ...] = ()
    vectors: int = 0


class Widths(NamedTuple):
    """Sizes that heads depend on: of the hidden states, of the table of tokens, and of the vocabulary."""

    hidden: int
    embedding: int
    vocabulary: int
    # The classes of BERT's kind keep the head's bias a second time where it is not tied.
    has_bias_twice: bool = True


# What a head is made of -> how it is built. "pooled" parts see one vector of each sequence, "token" parts every one.
def _parts(keys: Keys, sizes: Widths) -> Mapping[str, Callable[[], Ends]]:
    width = sizes.hidden
    return {
        "pooler": lambda: pooled("pooler", width, width),
        "dense": lambda: pooled("head_dense", width, width),
        "labels": lambda: pooled("classifier", width, labels(keys)),
        "pair": lambda: pooled("pair_classifier", width, 2),
        "choice": lambda: pooled("choice_classifier", width, 1),
        "token labels": lambda: each_token("token_classifier", width, labels(keys)),
        "token dense": lambda: each_token("head_dense", width, width),
        "token choice": lambda: each_token("token_classifier", width, 1),
        "masked": lambda: masked(keys, sizes),
    }


def ends(keys: Keys, sizes: Widths, parts: Sequence[str]) -> Ends:
    """The parts of a class, in the order in which they run."""
    known = _parts(keys, sizes)
    found = [known[name]() for name in parts]
    return Ends(
        back=tuple(one for part in found for one in part.back),
        norms=tuple(one for part in found for one in part.norms),
        vectors=sum(part.vectors for part in found),
    )


def pooled(name: str, rows: int, columns: int, *, bias: bool = True) -> Ends:
    """A product with one vector of each sequence."""
    return Ends(back=(Applied(Matrix(name, rows, columns, bias), per=0),))


def each_token(name: str, rows: int, columns: int, *, bias: bool = True) -> Ends:
    """A product with every token."""
    return Ends(back=(Applied(Matrix(name, rows, columns, bias)),))


def masked(keys: Keys, sizes: Widths) -> Ends:
    """A head that predicts every token: a product to the width of the table, a layer norm, the table itself.

    The table is the embedding's, unless `tie_word_embeddings` is false.
    """
    tied = quiet_flag(keys, "tie_word_embeddings", default=True)
    vocabulary = Matrix("lm_head", sizes.embedding, sizes.vocabulary, bias=True)
    return Ends(
        back=(
            Applied(Matrix("head_transform", sizes.hidden, sizes.embedding, bias=True)),
            Applied(vocabulary, tied=tied),
        ),
        norms=(layer_norm(sizes.embedding),),
        vectors=sizes.vocabulary if sizes.has_bias_twice and not tied else 0,
    )
