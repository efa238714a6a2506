"""The device catalogue against the reference: every value equal, every confidence kept, every peak dense."""

import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import mansard
from mansard.inputs.device import Device, Fact
from mansard.inputs.device_file import device_names, load_device
from mansard.units import parse_quantity
from mansard.views.wording import bytes_both
from reference_data import parameters, rows

CATALOGUE = Path(mansard.__file__).parent / "catalogue" / "devices"
TERA, GIGA, MEBI, GIBI = 10**12, 10**9, 2**20, 2**30
UNKNOWN = ("not-found", "not-listed", "not-applicable")
# attribute: where it is kept, and the factor to base units
PEAKS = {
    "tf32_tflops": "tf32", "fp16_tflops": "fp16", "bf16_tflops": "bf16", "fp8_tflops": "fp8", "int8_tops": "int8",
    "fp6_tflops": "fp6", "fp4_tflops": "fp4", "int4_tops": "int4", "fp32_matrix_tflops": "fp32",
    "fp64_matrix_tflops": "fp64",
}  # fmt: skip
FACTS = {
    "boost_mhz": ("boost_hz", 10**6),
    "tdp_w": ("tdp_w", 1),
    "link_uni_gbs": ("link_bytes_per_s", GIGA),
    "link_bidir_gbs": ("link_both_directions_bytes_per_s", GIGA),
    "fp16_fp16acc_tflops": ("fp16_fp16_accumulate_flops_per_s", TERA),
    "fp8_fp16acc_tflops": ("fp8_fp16_accumulate_flops_per_s", TERA),
    "price_usd_gpu_hr": ("price_usd_per_h", 1),
    "onchip_sram_mb": ("onchip_sram_bytes", MEBI),
    "memory_bus_bits": ("memory_bus_bits", 1),
    "sm_count": ("cores", 1),
    "release_year": ("release_year", 1),
    "pcie_gen": ("pcie_generation", 1),
    "scaleup_domain": ("scaleup_devices", 1),
    "scaleout_nic_gbps": ("nic_bytes_per_s", GIGA / 8),
}
# Bytes as the driver reports them, which the reference rounds or labels "80 GB".
DRIVER_BYTES = {"h100-sxm": 81_559 * MEBI, "a100-sxm-80gb": 80 * GIBI, "a100-pcie-80gb": 80 * GIBI}


def by_device() -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows("hardware/hardware.csv"):
        found.setdefault(row["device_id"], {})[row["attribute"]] = row
    return found


HARDWARE = by_device()


def kept(device: Device, attribute: str) -> tuple[Fact | None, float] | None:
    """(what the catalogue has, the factor to base units) for an attribute that it keeps as a number."""
    peaks, facts = dict(device.peaks), dict(device.facts)
    if attribute in PEAKS:
        return peaks.get(PEAKS[attribute]), TERA
    if attribute in FACTS:
        name, factor = FACTS[attribute]
        return facts.get(name), factor
    return {
        "fp32_tflops": (device.vector_peak, TERA),
        "memory_bandwidth_tbs": (device.bandwidth, TERA),
    }.get(attribute)


@pytest.mark.parametrize("name", parameters(list(HARDWARE), list(HARDWARE)))
def test_every_value_is_the_reference_s(name: str) -> None:
    device = load_device(name)
    for attribute, row in HARDWARE[name].items():
        found = kept(device, attribute)
        if found is None:
            continue
        fact, factor = found
        if not row["value"] or row["confidence"] in UNKNOWN:
            assert fact is None, attribute
            continue
        assert fact is not None, attribute
        assert fact.value == pytest.approx(float(row["value"]) * factor, rel=1e-12), attribute
        assert fact.confidence == row["confidence"]
        source = next(one for one in device.sources if one.id == fact.source)
        assert source.title == row["source_title"]


@pytest.mark.parametrize("name", parameters(list(HARDWARE), list(HARDWARE)))
def test_memory_is_the_driver_s_or_the_label_s(name: str) -> None:
    device, row = load_device(name), HARDWARE[name]
    if device.name in DRIVER_BYTES:
        assert device.memory_bytes == DRIVER_BYTES[device.name]
    elif row.get("memory_usable_gib", {}).get("value"):
        assert device.memory_bytes == pytest.approx(float(row["memory_usable_gib"]["value"]) * GIBI, abs=1)
    elif row["memory_gb"]["value"]:
        assert device.memory_bytes == pytest.approx(float(row["memory_gb"]["value"]) * GIGA, abs=1)
        assert device.memory is not None
        assert "label" in device.memory.note
    else:
        assert device.memory is None


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(CATALOGUE.glob("*.toml")):
        yield path.stem, tomllib.loads(path.read_text(encoding="utf-8"))


def test_every_number_has_a_source_that_exists() -> None:
    for name, document in documents():
        assert document["name"] == name
        for table in ("peaks", "memory", "facts"):
            for key, fact in document.get(table, {}).items():
                assert fact["source"] in document["sources"], (name, key)
                assert fact["value"] > 0


def test_names_and_aliases_are_unique() -> None:
    owners: dict[str, str] = {}
    for name, document in documents():
        for word in {name, *document["aliases"], *document["ambiguous"]}:
            flat = "".join(character for character in word.lower() if character not in " -_")
            assert owners.setdefault(flat, name) == name, word


def test_all_devices_are_there() -> None:
    assert len(device_names()) == 107


@pytest.mark.parametrize(
    ("name", "dtype", "dense"),
    [
        ("h100-sxm", "bf16", 989.4),
        ("h100-pcie", "bf16", 756.5),  # 1,513 is sparse (case A42)
        ("h100-nvl", "bf16", 835.5),  # one card, not the pair
        ("h200-sxm", "bf16", 989.5),  # 1,979 is sparse
        ("h20", "bf16", 148),
        ("h20", "fp8", 296),
        ("l4", "bf16", 121),  # 242 is sparse
        ("l40", "bf16", 181),
        ("l40s", "bf16", 362.05),
        ("a10", "bf16", 125),
        ("a10g", "bf16", 70),
        ("rtx-6000-ada", "fp8", 728.5),  # 1,457 is sparse
        ("rtx-4090", "fp16", 165.2),  # 330.3 accumulates in fp16
        ("rtx-5090", "fp16", 209.5),
        ("rtx-5090", "fp4", 1676),
        ("b200", "bf16", 2250),
        ("gb200", "bf16", 2500),
        ("b300", "int8", 153.5),
        ("mi300x", "bf16", 1307.4),
        ("mi250x-gcd", "bf16", 191.5),
        ("trainium2", "fp8", 1299),
    ],
)
def test_peaks_are_dense(name: str, dtype: str, dense: float) -> None:
    peak = load_device(name).peak(dtype)
    assert peak.dtype == dtype
    assert peak.flops_per_s == pytest.approx(dense * TERA, rel=1e-12)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("H100 SXM", "h100-sxm"), ("h100-sxm5", "h100-sxm"), ("nvidia-h100-sxm5", "h100-sxm"), ("4090", "rtx-4090"),
        ("RTX 4090", "rtx-4090"), ("gb10", "dgx-spark"), ("trillium", "tpu-v6e"), ("M4_Max", "m4-max"),
        ("v100-sxm2-32gb", "v100-sxm-32gb"), ("b200-sxm", "b200"), ("Tesla T4", "t4"), ("v5e", "tpu-v5e"),
    ],
)  # fmt: skip
def test_what_people_type(typed: str, name: str) -> None:
    assert load_device(typed).name == name


def test_a_family_alone_says_which_one_it_took() -> None:
    device = load_device("h100")
    assert device.name == "h100-sxm"
    note = next(note for note in device.notes if note.code == "device-choice")
    assert "h100-sxm" in note.text
    assert "h100-pcie" in note.text


def test_a_dtype_that_a_device_lacks_is_a_visible_fallback() -> None:
    device = load_device("v100-sxm-32gb")
    peak = device.peak("bf16")
    assert (peak.dtype, peak.flops_per_s) == ("fp32", 15.7e12)
    note = next(note for note in device.marks("bf16") if note.code == "dtype-fallback")
    assert note.level == "warning"
    assert "fp16 it would run at 125" in note.text
    found = mansard.analyze("llama-2-7b", on="v100-sxm-32gb", activations="bf16", prompt=512)
    assert "dtype-fallback" in {note.code for note in found.notes}
    assert found.prefill.best_s == pytest.approx(found.prefill.flops / 15.7e12)


def test_h100_has_the_ridge_point_of_its_numbers() -> None:
    device = load_device("h100-sxm")
    assert device.peak("bf16").flops_per_s / device.memory_bandwidth.value == 989.4e12 / 3.35e12
    assert device.memory_bytes == 85_520_809_984
    assert device.memory_label == "80 GB"


def disputed(device: Device) -> list[str]:
    facts = [*dict(device.peaks).values(), *dict(device.facts).values(), device.vector_peak, device.bandwidth]
    return [fact.note for fact in (*facts, device.memory, device.last_level_cache) if fact and "disputed:" in fact.note]


# No value was chosen: there is no number at which the dispute could stand.
WITHOUT_VALUE = {("nvidia-h800-sxm5", "fp64"), ("nvidia-rubin", "int8_tops"), ("nvidia-dgx-spark-gb10", "bf16_tflops")}
PATTERNS = {"amd-mi3xx": "amd-mi3*x", "google-tpu-v5e/v5p/v6e": "google-tpu-v[56][ep]"}
DISPUTES = rows("hardware/disputes.csv")


@pytest.mark.parametrize("row", parameters(DISPUTES, [f"{row['device_id']}-{row['attribute']}" for row in DISPUTES]))
def test_every_dispute_stands_at_its_numbers(row: dict[str, str]) -> None:
    pattern = PATTERNS.get(row["device_id"], row["device_id"])
    names = [name for name in HARDWARE if fnmatch(name, pattern)]
    assert names
    if (row["device_id"], row["attribute"]) in WITHOUT_VALUE:
        return
    for name in names:
        found = disputed(load_device(name))
        assert any(row["reason"] in note and row["alternative"] in note for note in found), name


def test_a_disputed_number_in_use_is_told() -> None:
    notes = [note for note in load_device("h100-sxm").marks("bf16") if note.code == "disputed"]
    assert {note.level for note in notes} == {"info"}
    assert any("1979 (sparse)" in note.text for note in notes)


def test_a_weak_number_in_use_is_told() -> None:
    note = next(note for note in load_device("m4-max").marks("fp16") if note.code == "low-confidence")
    assert note.level == "warning"
    assert "derived" in note.text


@pytest.mark.parametrize(("name", "labelled"), [("h100-sxm", False), ("a100-sxm-80gb", False), ("mi300x", True)])
def test_memory_from_a_label_is_told(name: str, labelled: bool) -> None:
    assert ("memory-label" in {note.code for note in load_device(name).notes}) is labelled


def test_a_family_with_a_size_names_only_those_of_that_size() -> None:
    note = next(note for note in load_device("a100 80gb").notes if note.code == "device-choice")
    assert note.text == "a100 80gb: took a100-sxm-80gb (others: a100-pcie-80gb)"
    note = next(note for note in load_device("h100-80gb").notes if note.code == "device-choice")
    assert "h100-pcie" in note.text


def test_a41_a_sparse_peak_halves_the_utilisation() -> None:
    achieved = (6 * 6.738e9 + 12 * 32 * 4096 * 4096) * 9600
    dense = load_device("h100-sxm").peak("bf16").flops_per_s
    assert 100 * achieved / dense == pytest.approx(45.5, abs=0.1)
    assert 100 * achieved / 1979e12 == pytest.approx(22.7, abs=0.1)


def test_a42_1513_is_the_sparse_figure_of_the_pcie_card() -> None:
    device = load_device("h100-pcie")
    peak = device.peak("bf16").flops_per_s
    assert peak == 756.5e12
    assert round(peak / device.memory_bandwidth.value) == 378


def test_a44_104_percent_was_the_peak_of_another_card() -> None:
    achieved = 1.04 * load_device("a100-sxm-80gb").peak("bf16").flops_per_s
    assert achieved == pytest.approx(324e12, rel=5e-3)
    assert 100 * achieved / load_device("h100-sxm").peak("bf16").flops_per_s == pytest.approx(32.8, abs=0.05)


@pytest.mark.parametrize(
    ("mebibytes", "both"),
    [
        (183_359, "192.3 GB (179.1 GiB)"),
        (81_920, "85.9 GB (80 GiB)"),
        (81_559, "85.5 GB (79.6 GiB)"),
        (143_771, "150.8 GB (140.4 GiB)"),
    ],
)
def test_a47_f10_what_nvidia_smi_reports_in_both_units(mebibytes: int, both: str) -> None:
    size = parse_quantity(f"{mebibytes}MiB", "byte")
    assert size == mebibytes * MEBI
    assert bytes_both(size) == both


def test_a47_f10_cards_of_80_are_not_of_one_size() -> None:
    assert load_device("a100-sxm-80gb").memory_bytes == 81_920 * MEBI
    assert load_device("h100-sxm").memory_bytes == 81_559 * MEBI
