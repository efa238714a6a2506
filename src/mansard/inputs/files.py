"""Documents from a path, a folder or standard input: read whole only when small, and every cause of failure named."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any, NoReturn

from mansard.errors import Fault, InputError

LARGEST_CONFIG = 16 << 20  # bytes; real ones have a few kB, with per-layer lists a few hundred
_STDIN = "standard input"


def read_json(path: str) -> tuple[dict[str, Any], str]:
    """The object in a JSON file, in a folder's `config.json`, or on standard input (`-`); and where it was found.

    Bare Infinity and NaN are read, as the hub's files have them; whether a value may be infinite is for its reader.

    Raises:
        InputError: naming the file, what is wrong with it, where, and what to do.
    """
    where = _STDIN if path == "-" else str(_resolved(path))
    return _parsed(_decoded(_stdin() if path == "-" else _content(Path(where)), where), where), where


def beside(where: str, ending: str) -> dict[str, Any] | None:
    """The object in a file beside a config: `ending` in its folder, or under its own name; None if there is none.

    Raises:
        InputError: if it is there and bad.
    """
    place = Path(where)
    for side in (place.with_name(ending), place.with_name(f"{place.stem}.{ending}")):
        if where != _STDIN and (side.name != ending or place.name == "config.json") and side.is_file():
            return _parsed(_decoded(_content(side), str(side)), str(side))
    return None


def _resolved(path: str) -> Path:
    place = Path(path)
    try:
        place = place.expanduser()
        if not place.is_dir():
            return place
        if (place / "config.json").exists():
            return place / "config.json"
        if (place / "model_index.json").exists():
            return place / "model_index.json"
    except (OSError, ValueError, RuntimeError) as error:  # the last: there is no such user
        _refuse(path[:200], f"cannot be looked at: {error}")
    return _refuse(str(place), "is a folder without a config.json", "give the folder of the model's own config.json")


def _content(place: Path) -> bytes:
    try:
        found = place.stat()
        if not stat.S_ISREG(found.st_mode):
            _refuse(str(place), "is no regular file", "pipe it in and give - as the model")
        if found.st_size > LARGEST_CONFIG:
            hint = "a model is given by its config.json, not by its weights"
            _refuse(str(place), f"has {found.st_size:,} bytes; a config has at most {LARGEST_CONFIG:,}", hint)
        with place.open("rb") as file:
            return file.read(LARGEST_CONFIG + 1)
    except InputError:
        raise
    except FileNotFoundError:
        _refuse(str(place), "does not exist", _near(place))
    except (OSError, ValueError) as error:
        _refuse(str(place)[:200], f"cannot be read: {error}")


def _stdin() -> bytes:
    if sys.stdin is None:
        _refuse(_STDIN, "is closed", "pipe a config.json in")
    content = sys.stdin.buffer.read(LARGEST_CONFIG + 1)
    if len(content) > LARGEST_CONFIG:
        _refuse(_STDIN, f"has more than {LARGEST_CONFIG:,} bytes, the most that a config has")
    return content


def _near(place: Path) -> str:
    from mansard.errors import did_you_mean

    try:
        names = [entry.name for entry in os.scandir(place.parent)][:1000]
    except OSError:
        return "neither does its folder"
    return did_you_mean(place.name, names) or "check the path, or name a model of `mansard list models`"


def _decoded(content: bytes, where: str) -> str:
    if not content.strip():
        _refuse(where, "is empty", "the download may have failed: fetch config.json again")
    if content.startswith(b"version https://git-lfs"):
        _refuse(
            where, "is a git-LFS pointer, not the file itself", "run `git lfs pull`, or download config.json itself"
        )
    if content.startswith(b"GGUF"):
        _refuse(where, "is a GGUF file, which is read by its path alone", "give the path of the file")
    if content.startswith(b"PK\x03\x04") or where.endswith((".bin", ".pt", ".pth")):
        _refuse(where, "is a file of pickled weights, which is not read", "give the config.json that lies beside it")
    if content.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")):
        _refuse(where, "is an HTML page, not JSON", "download the raw file, not the page that shows it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(where, f"is not UTF-8 text: byte {error.start} cannot be read", "a config.json is a text file")


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"is no valid JSON: line {error.lineno}, column {error.colno}: {_cause(text, error)}"
        _refuse(where, problem, "mend it there, or fetch the file again")
    except RecursionError:
        _refuse(where, "is nested too deeply to be a config")
    except ValueError:  # Python refuses to convert numbers of many thousand digits
        _refuse(where, "has a number with too many digits")
    if not isinstance(document, dict):
        _refuse(where, f"must hold a JSON object at its top, and holds a {type(document).__name__}")
    return document


def _cause(text: str, error: json.JSONDecodeError) -> str:
    before, after = text[: error.pos].rstrip(), text[error.pos : error.pos + 20].split("\n", 1)[0]
    if text[error.pos : error.pos + 1] in "}]" and before.endswith(","):
        return "a comma before a closing bracket"
    if before.endswith(",") and text[error.pos :].lstrip()[:1] in "}]":
        return "a comma before a closing bracket"
    return f"{error.msg.lower()}, at {after!r}" if after else f"{error.msg.lower()}, at the end of the line"


def _refuse(where: str, problem: str, hint: str = "") -> NoReturn:
    raise InputError([Fault(problem=problem, where=where, hint=hint)])
