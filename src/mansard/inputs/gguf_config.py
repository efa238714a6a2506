"""The configuration of a model from the metadata and tensors of its GGUF file, in the words of its family's class.

Keys of the metadata are those of the specification (docs/gguf.md of ggml) and of the converter of llama.cpp. What the
metadata leaves out, the tensors tell: a tied head by its absence, biases and norms of heads by their presence.
"""

from collections.abc import Mapping
from typing import Any

from mansard.errors import Fault, InputError, did_you_mean, printable
from mansard.inputs.gguf import GgufHeader, Length
from mansard.inputs.gguf_families import FAMILIES, HARMLESS, KINDS, OTHER_MECHANISMS, USUAL, Config, Family, Stored
from mansard.inputs.tensors import refuse

_REQUIRED = ("embedding_length", "block_count", "feed_forward_length", "attention.head_count")
_CONFIG_HINT = "give the config.json of the model that it was made from"


def gguf_config(header: GgufHeader) -> tuple[Config, tuple[str, ...]]:
    """The configuration as a `config.json` would have it, and the keys of the metadata that were not understood.

    Raises:
        InputError: if the architecture is not known, lacks a size, or has a mechanism that its family's class has not.
    """
    name = header.metadata.get("general.architecture")
    if not isinstance(name, str):
        refuse(header.where, "is required but absent", "is it a model, and its first part?", key="general.architecture")
    kind = header.metadata.get("general.type", "model")
    if kind != "model" or name in KINDS:
        refuse(header.where, f"holds {KINDS.get(name, f'no model but {kind!r:.40}')}", "give the language model's file")
    family = FAMILIES.get(name)
    if family is None:
        hint = did_you_mean(name, tuple(FAMILIES)) or _CONFIG_HINT
        refuse(header.where, f"{printable(name[:60])!r} is not known, and is not guessed at", hint,
               key="general.architecture")  # fmt: skip
    return _Reader(header, name, family).config()


def gguf_name(metadata: Mapping[str, Any]) -> str | None:
    """What the file calls its model, or None."""
    name = metadata.get("general.name")
    return printable(name.strip()[:100]) if isinstance(name, str) and name.strip() else None


class _Reader:
    """Gathers one family's configuration from a header, and every fault."""

    def __init__(self, header: GgufHeader, name: str, family: Family) -> None:
        self.header = header
        self.name = name
        self.family = family
        prefix = f"{name}."
        self.own = {key.removeprefix(prefix): value for key, value in header.metadata.items() if key.startswith(prefix)}
        self.faults: list[Fault] = []

    def config(self) -> tuple[Config, tuple[str, ...]]:
        keys = {**USUAL, **self.family.keys}
        self._check(keys)
        found: Config = {"model_type": self.family.model_type, **self.family.always}
        for key, target in keys.items():
            if key in self.own:
                found[target] = self._scalar(key)
        self._refuse()
        found.update(self._from_tensors())
        self._refuse()
        _without_predictions(found, self.own.get("nextn_predict_layers"))
        _defaults(found)
        if self.family.adjust is not None:
            self.family.adjust(found, self.own, Stored(self.header.tensors))
        known = {*keys, *HARMLESS, *self.family.read}
        return found, tuple(sorted(key for key in self.own if key not in known and not key.startswith("rope.")))

    def _check(self, keys: Mapping[str, str]) -> None:
        for key in _REQUIRED:
            if key not in self.own:
                self._fault(key, "is required but absent", hint=_CONFIG_HINT)
        if self.own.get("attention.causal") is False:
            self._fault("attention.causal", "says attention in both directions, and a decoder's is causal", False)
        for key, mechanism in OTHER_MECHANISMS.items():
            for name, value in self.own.items():
                is_meant = name == key or (key.endswith(".") and name.startswith(key))
                if is_meant and name not in keys and name not in self.family.read and value not in (0, False):
                    problem = f"says {mechanism}, which {self.family.model_type} does not have"
                    self._fault(name, problem, value, _CONFIG_HINT)
        size, of_values = self.own.get("attention.key_length"), self.own.get("attention.value_length")
        if "attention.key_length_mla" not in self.family.read and size != of_values and None not in (size, of_values):
            self._fault("attention.value_length", f"must be attention.key_length, {size!r:.20}", of_values)

    def _scalar(self, key: str) -> Any:
        """A value; of a list with one for each layer the one that all have."""
        value = self.own[key]
        if not isinstance(value, (list, Length)):
            return value
        if isinstance(value, list) and value and all(one == value[0] for one in value):
            return value[0]
        self._fault(key, "differs from layer to layer, which this family's class does not", hint=_CONFIG_HINT)
        return None

    def _from_tensors(self) -> Config:
        names = {tensor.name for tensor in self.header.tensors}
        table = next((one.shape for one in self.header.tensors if one.name == "token_embd.weight"), ())
        if len(table) != 2:
            problem = "is required, a table of tokens"
            self.faults.append(Fault(problem=problem, where=self.header.where, key="token_embd.weight"))
            return {}
        return {
            "vocab_size": table[1],
            "tie_word_embeddings": "output.weight" not in names,
            "torch_dtype": self._dtype(),
        }

    def _dtype(self) -> str:
        """The dtype of the matrices where all have one; else 16 bits, to which shorter ones are widened."""
        types = {one.type for one in self.header.tensors if one.name.startswith("blk.") and len(one.shape) > 1}
        if types == {"F32"}:
            return "float32"
        return "bfloat16" if "BF16" in types else "float16"

    def _fault(self, key: str, problem: str, value: object = None, hint: str = "") -> None:
        place = printable(f"{self.name}.{key}"[:120])
        self.faults.append(Fault(problem=problem, where=self.header.where, key=place, value=value, hint=hint))

    def _refuse(self) -> None:
        if self.faults:
            raise InputError(self.faults[:20])


def _without_predictions(config: Config, extra: Any) -> None:
    """The layers without the extra prediction layers that the file counts among them."""
    count = config["num_hidden_layers"]
    if isinstance(extra, int) and isinstance(count, int) and 0 < extra < count:
        config.update(num_hidden_layers=count - extra, num_nextn_predict_layers=extra)


def _defaults(config: Config) -> None:
    """What llama.cpp takes where the metadata is silent: as many key/value heads as heads, of an even share each."""
    hidden_size, heads = config["hidden_size"], config["num_attention_heads"]
    config.setdefault("num_key_value_heads", heads)
    if isinstance(hidden_size, int) and isinstance(heads, int) and heads > 0:
        config.setdefault("head_dim", hidden_size // heads)
