"""The language models of MiniCPM-V, by `version`: Llama's layers in 2.5 and 4.0, Qwen2's in 2.6, Qwen3's in 4.5.

Published configurations keep its keys beside `vision_config`. Other versions have other towers and are refused.

Sources: arXiv:2408.01800; the published MiniCPMV classes of OpenBMB.
"""

from collections.abc import Callable, Mapping

from mansard.architectures import llama, qwen2, qwen3
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("minicpmv",)
ARCHITECTURES = ("MiniCPMV",)
VERSIONS: Mapping[str, Callable[[Keys], ModelConfig]] = {
    "2.5": llama.read, "2.6": qwen2.read, "4.0": llama.read, "4.5": qwen3.read,
}  # fmt: skip


def version(keys: Keys) -> str:
    """The version, as published configurations state it: a number, or its text."""
    stated = keys.raw("version")
    known = f"known are {', '.join(VERSIONS)}: they decide which language model and which tower there is"
    text = f"{stated:.1f}" if isinstance(stated, (int, float)) and not isinstance(stated, bool) else str(stated)[:20]
    if text not in VERSIONS:
        keys.require(False, "version", "is required but absent" if stated is None else "is not known", stated, known)
        return "2.6"
    return text


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a MiniCPM-V-class configuration."""
    return VERSIONS[version(keys)](keys)
