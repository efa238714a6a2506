"""Any value under any key of a component gives counts or one clear error, in bounded time."""

import tomllib
from typing import Any

import pytest

from mansard.errors import InputError
from mansard.inputs.folders import catalogue_files, small_text
from mansard.inputs.parts import Sample
from mansard.pipelines import is_component, read_component

HOSTILE: tuple[Any, ...] = (
    None, -1, 0, 1, 7, 10**30, 1.5, float("inf"), float("nan"), "x", True, [], [0], [1] * 20_000, ["x"], [None],
    [[1]], {}, {"a": 1}, "\x1b[31m", 1 << 24,
)  # fmt: skip
EXTRA = ({"_class_name": "SanaTransformer2DModel"}, {"_class_name": "PixArtTransformer2DModel"},
         {"_class_name": "ZImageTransformer2DModel"}, {"_class_name": "CosmosTransformer3DModel"},
         {"_class_name": "Flux2Transformer2DModel"}, {"_class_name": "AutoencoderDC"})  # fmt: skip


def configurations() -> dict[str, dict[str, Any]]:
    """One configuration of every class."""
    found = {one["_class_name"]: dict(one) for one in EXTRA}
    for path in catalogue_files("pipelines"):
        for document in tomllib.loads(small_text(path))["components"].values():
            if is_component(document):
                found.setdefault(document["_class_name"], document)
    return found


CONFIGURATIONS = configurations()


def keys_of(name: str) -> set[str]:
    """Every key that the class's family looks at."""
    asked: set[str] = set()

    class Watched(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            asked.add(key)
            return super().get(key, default)

    read_component(Watched(CONFIGURATIONS[name]), name)
    return asked - {"_class_name"}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_hostile_values(name: str) -> None:
    small = Sample(height=48, width=48, frames=4, text=8)
    for key in sorted(keys_of(name)):
        for value in HOSTILE:
            document = {**CONFIGURATIONS[name], key: value}
            try:
                component = read_component(document, "config.json")
            except InputError as error:
                assert error.faults
                assert "\x1b" not in str(error)
                continue
            assert component.parameters > 0, (key, value)
            assert all(part.count >= 0 for part in component.parts(small)), (key, value)
