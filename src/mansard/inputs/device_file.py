"""A device from what a person types: a catalogue name, a file, or `peak=…,bandwidth=…`."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from mansard.errors import Fault, InputError, UnavailableError, UsageError, did_you_mean, printable
from mansard.inputs.device import FALLBACKS, Device, Fact
from mansard.inputs.folders import catalogue_files, exact_file, flat, folders, heads, spelled, stem, words_of
from mansard.inputs.notes import Note, Source
from mansard.units import parse_quantity

_CONFIDENCES = ("vendor", "vendor-quoted", "secondary", "derived", "given")
_HEADER = ("name", "title", "vendor", "aliases", "ambiguous", "memory_label")
_TABLES = ("peaks", "memory", "facts", "texts", "absent", "sources")
_MEMORY = ("bandwidth", "bytes", "last_level_cache")
_FACT = ("value", "confidence", "source", "note")
_SOURCE = ("title", "address", "date")
_LABEL_TAKEN = "the label, taken as decimal"  # how the catalogue marks memory that no driver has told
_LARGEST_FILE = 1 << 20
_LARGEST_VALUE = 1e24
_SMALLEST_VALUE = 1e-9


def device_names() -> tuple[str, ...]:
    """The names of the devices in the catalogue and in private folders, sorted."""
    return tuple(sorted({stem(path) for path in catalogue_files("devices")}))


def load_device(name: str | os.PathLike[str]) -> Device:
    """A device from a catalogue name or alias, a `.toml` file, or `peak=…,bandwidth=…[,memory=…]`.

    Raises:
        UsageError: if there is none of that name (with near matches), or a quantity cannot be read.
        InputError: if a file is bad, with every fault of it.
        UnavailableError: for `this`, which needs a measurement of this machine.

    >>> load_device("h100-sxm").peak("bf16").flops_per_s
    989400000000000.0
    """
    text = spelled(name, "device")
    if "=" in text:
        return _given(text)
    if text.strip().lower() == "this":
        raise UnavailableError(
            "this machine has not been measured", hint="give its numbers as peak=…,bandwidth=…, or as a .toml file"
        )
    if text.endswith(".toml") or os.sep in text:
        return _from_file(text)
    exact = exact_file("devices", text)
    return _from_file(exact) if exact else _by_alias(text)


def named_device(text: str) -> Device:
    """A device by its catalogue name or its numbers; no path is looked at, whatever the text is.

    Raises:
        UsageError: if the catalogue has no such device, with near matches, or a quantity cannot be read.
    """
    if "=" in text:
        return _given(text)
    exact = exact_file("devices", text)
    return _from_file(exact) if exact else _by_alias(text)


def usable_devices() -> Iterator[Device]:
    """Every device whose memory bandwidth is known, without which nothing can be said of it."""
    for path in catalogue_files("devices"):
        try:
            device = _unchanged(path, os.stat(path).st_mtime_ns)
        except (InputError, OSError):
            continue  # a private file that is bad says so when it is asked for
        if device.bandwidth is not None:
            yield device


@lru_cache(maxsize=1024)
def _unchanged(path: str, modified_ns: int) -> Device:
    """A file's device, kept as long as the file is: a server lists the whole catalogue again and again."""
    del modified_ns
    return _from_file(path)


def _by_alias(text: str) -> Device:
    wanted = flat(text)
    known: list[str] = []
    for path, head in heads(catalogue_files("devices")):
        aliases, loose = words_of(head.get("aliases")), words_of(head.get("ambiguous"))
        known += [stem(path), *aliases, *loose]
        if wanted in map(flat, (stem(path), *aliases)):
            return _from_file(path)
        if wanted in map(flat, loose):
            return _chosen(text, path)
    raise UsageError(
        f"no device is called {text[:60]!r}",
        hint=did_you_mean(text, known)
        or "`mansard list devices` shows those that are known; peak=…,bandwidth=… gives your own",
    )


def _chosen(text: str, path: str) -> Device:
    device = _from_file(path)
    beyond = [name for name in device_names() if name != device.name]
    # A card's size is not in every name: h100-80gb is h100-pcie too.
    others = [name for name in beyond if _is_of(text, name)] or [
        name for name in beyond if _is_of(re.split(r"[\s_\-]+", text.strip())[0], name)
    ]
    beside = f" (others: {', '.join(others)})" if others else ""
    note = Note(level="info", code="device-choice", text=f"{text}: took {device.name}{beside}")
    return _with(device, notes=(note, *device.notes))


def _is_of(family: str, name: str) -> bool:
    """Whether each word of a family's name begins a word of a device's: `a100 80gb` is a100-pcie-80gb too."""
    parts = name.split("-")
    return all(any(part.startswith(word) for part in parts) for word in re.split(r"[\s_\-]+", family.strip().lower()))


def _with(device: Device, **changes: Any) -> Device:
    from dataclasses import replace

    return replace(device, **changes)


def _from_file(where: str) -> Device:
    reader = _Reader(_document(where), where)
    if os.path.dirname(where) != folders("devices")[-1]:  # the package's own are checked by its tests
        reader.check()
    device = reader.device(stem(where))
    if reader.faults:
        raise InputError(reader.faults)
    return device


def _document(where: str) -> dict[str, Any]:
    try:
        if not os.path.isfile(where):
            there = "is no regular file" if os.path.lexists(where) else "does not exist"
            problem = "is a folder" if os.path.isdir(where) else there
            raise InputError([Fault(problem=problem, where=where, hint="a device is one .toml file")])
        if os.path.getsize(where) > _LARGEST_FILE:
            raise InputError([Fault(problem="is larger than a device file can be (1 MiB)", where=where)])
        with open(where, encoding="utf-8-sig") as file:
            return tomllib.loads(file.read())
    except InputError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(problem=f"cannot be read: {error}", where=where)]) from error
    except (ValueError, RecursionError) as error:  # not only TOMLDecodeError: an integer may have too many digits
        raise InputError([Fault(problem=f"is no valid TOML: {error}", where=where)]) from error


class _Reader:
    """Reads a device's document and keeps every fault."""

    def __init__(self, document: Mapping[str, Any], where: str) -> None:
        self.document = document
        self.where = where
        self.faults: list[Fault] = []

    def check(self) -> None:
        """Unknown keys are faults, a misspelt one must not be silently ignored; and a device needs rates."""
        if "bandwidth" not in self._table("memory"):
            self._fault("memory.bandwidth", "is required but absent", "bandwidth = 3.35e12, in byte/s")
        if not self._table("peaks"):
            self._fault("peaks", "at least one is required", "bf16 = 989.4e12, in FLOP/s, dense")
        self._names("ambiguous")
        self._known(self.document, (*_HEADER, *_TABLES), "")
        for table, known in (("peaks", (*FALLBACKS, "vector")), ("memory", _MEMORY)):
            self._known(self._table(table), known, f"{table}.")
        for table in ("peaks", "memory", "facts"):
            for key, value in self._table(table).items():
                self._check_fact(value, f"{table}.{key}")
        for key, value in self._table("sources").items():
            if isinstance(value, Mapping):
                self._known(value, _SOURCE, f"sources.{key}.")

    def _check_fact(self, value: Any, key: str) -> None:
        if not isinstance(value, Mapping):
            return
        self._known(value, _FACT, f"{key}.")
        source, known = value.get("source", ""), self._table("sources")
        if not isinstance(source, str) or (source and source not in known):
            hint = did_you_mean(str(source), tuple(known)) or "add it to [sources], as s1 = { title = … }"
            self._fault(f"{key}.source", "is not among the sources", hint, source)

    def _known(self, table: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in table:
            if key not in known:
                self._fault(prefix + key, "is not known", did_you_mean(key, known) or f"known are {', '.join(known)}")

    def device(self, name: str) -> Device:
        peaks = [(dtype, self._fact(f"peaks.{dtype}", value)) for dtype, value in self._table("peaks").items()]
        memory = {key: self._fact(f"memory.{key}", value) for key, value in self._table("memory").items()}
        named, called = dict(peaks), self._text("name", name)
        return Device(
            name=called,
            title=printable(self._text("title", called)),
            vendor=self._text("vendor", ""),
            bandwidth=memory.get("bandwidth"),
            peaks=tuple((dtype, fact) for dtype, fact in peaks if dtype in FALLBACKS),
            vector_peak=named.get("vector"),
            memory=memory.get("bytes"),
            memory_label=self._text("memory_label", ""),
            last_level_cache=memory.get("last_level_cache"),
            facts=tuple((key, self._fact(f"facts.{key}", value)) for key, value in self._table("facts").items()),
            texts=tuple((key, str(value)) for key, value in self._table("texts").items()),
            aliases=self._names("aliases"),
            sources=self._sources(),
            notes=_label_note(called, memory.get("bytes"), self._text("memory_label", "")),
        )

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self.document.get(name, {})
        if not isinstance(table, Mapping):
            self._fault(name, "must be a table", f"[{name}]")
            return {}
        return table

    def _text(self, key: str, otherwise: str) -> str:
        value = self.document.get(key, otherwise)
        if not isinstance(value, str):
            self._fault(key, "must be a string", "", value)
            return otherwise
        if key == "name" and not (value.strip() and value.isprintable()):
            self._fault(key, "must have characters that can be printed", "", value)
        return value

    def _names(self, key: str) -> tuple[str, ...]:
        value = self.document.get(key, [])
        if not isinstance(value, list) or len(words_of(value)) != len(value):
            self._fault(key, "must be a list of strings", f'{key} = ["h100", "hopper"]', value)
        return tuple(words_of(value))

    def _fact(self, key: str, value: Any) -> Fact:
        given = value if isinstance(value, Mapping) else {"value": value}
        number: Any = given.get("value")
        confidence = given.get("confidence", "given")
        if not _is_quantity(number):
            self._fault(key, "must be a positive finite number in base units", "", number)
            number = 1.0
        if key in ("memory.bytes", "memory.last_level_cache") and number < 1:
            self._fault(key, "must be a number of bytes", "80e9", number)
        if confidence not in _CONFIDENCES:
            self._fault(f"{key}.confidence", "is not known", f"one of {', '.join(_CONFIDENCES)}", confidence)
            confidence = "given"
        source, note = str(given.get("source", "")), str(given.get("note", ""))
        return Fact(value=number, confidence=confidence, source=source, note=note)

    def _sources(self) -> tuple[Source, ...]:
        found = []
        for key, value in self._table("sources").items():
            told = value if isinstance(value, Mapping) else {"title": str(value)}
            words = {name: str(told.get(name, "")) for name in ("title", "address", "date")}
            found.append(Source(id=key, **words))
        return tuple(found)

    def _fault(self, key: str, problem: str, hint: str, value: Any = None) -> None:
        fault = Fault(problem=problem, where=self.where, key=key, value=value, hint=hint)
        if fault not in self.faults:  # a table is looked at more than once
            self.faults.append(fault)


def _label_note(name: str, memory: Fact | None, label: str) -> tuple[Note, ...]:
    if memory is None or _LABEL_TAKEN not in memory.note:
        return ()
    text = f"the memory of {name} is its label, {label}, taken as decimal: no driver's figure was read"
    return (Note(level="info", code="memory-label", text=text),)


def _is_quantity(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _SMALLEST_VALUE < value < _LARGEST_VALUE


def _given(text: str) -> Device:
    """A device of `key=value` pairs: one peak for every dtype, or a dtype's own."""
    units = {"peak": "FLOP/s", "vector": "FLOP/s", "bandwidth": "byte/s", "memory": "byte", "cache": "byte"}
    values: dict[str, float] = {}
    faults: list[str] = []
    for pair in text.split(","):
        key, _, value = (part.strip() for part in pair.partition("="))
        if key in values:
            faults.append(f"{key} is given twice")
        unit = units.get(key) or ("FLOP/s" if key in FALLBACKS else None)
        if unit is None:
            hint = did_you_mean(key, (*units, *FALLBACKS)) or f"known are {', '.join((*units, *FALLBACKS))}"
            faults.append(f"{key[:40]!r} is no part of a device: {hint}")
            continue
        try:
            values[key] = parse_quantity(value, unit)
        except UsageError as error:
            faults.append(f"{key}: {error}")
    dtypes = [key for key in values if key in FALLBACKS]
    if not faults and ("bandwidth" not in values or not ("peak" in values or dtypes)):
        faults.append("a device needs a bandwidth and a peak")
    faults += [f"{key} must be more than 0" for key, value in values.items() if not value]
    faults += [f"{key} is smaller than anything that is built" for key, value in values.items() if 0 < value < 1]
    if faults:
        raise UsageError("\n".join(faults), hint="for example peak=990e12,bandwidth=3.35e12,memory=80e9")
    return _from_values(text, values)


def _from_values(text: str, values: dict[str, float]) -> Device:
    facts = {key: Fact(value=value, confidence="given") for key, value in values.items()}
    peaks = {dtype: facts["peak"] for dtype in FALLBACKS if "peak" in facts}
    peaks |= {key: fact for key, fact in facts.items() if key in FALLBACKS}
    told = "one peak was given: it is taken for every dtype" if "peak" in facts else ""
    memory = facts.get("memory")
    return Device(
        name=text,
        title=text,
        vendor="",
        bandwidth=facts["bandwidth"],
        peaks=tuple(peaks.items()),
        vector_peak=facts.get("vector"),
        memory=memory,
        memory_label=f"{memory.value / 1e9:g} GB" if memory else "",
        last_level_cache=facts.get("cache"),
        notes=(Note(level="info", code="given-peak", text=told),) if told else (),
    )
