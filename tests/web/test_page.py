"""The page in a real browser: every control, every view, links, downloads, keyboard, accessibility, latency."""

import csv
import io
import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import mansard
from mansard.registry import names
from mansard.views.headline import headline

pytestmark = pytest.mark.slow

LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
         "intermediate_size": 128, "vocab_size": 1000}  # fmt: skip
CHANGE = """([id, value]) => { const field = document.getElementById(id); field.value = value;
  for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {bubbles: true})); }"""


def changed(page: Any, field: str, value: str) -> None:
    """Puts a value into a field as a person would, and waits for what follows."""
    before = page.evaluate("document.documentElement.dataset.answered")
    page.evaluate(CHANGE, [field, value])
    page.wait_for_function("before => document.documentElement.dataset.answered !== before", arg=before)


def verdict(page: Any) -> str:
    return str(page.inner_text("#verdict"))


def expected(**words: Any) -> str:
    return headline(mansard.analyze(words.pop("model", "llama-3.1-8b"), on=words.pop("on", "h100-sxm"), **words))


def test_the_answer_is_there_before_anything_is_touched(page: Any) -> None:
    assert verdict(page) == expected()
    for title in ("Memory", "Phases", "Request", "Saturation", "Notes", "What would help decode most"):
        assert title in page.inner_text("#tables")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("batch", "32", {"batch": 32}),
        ("prompt", "8000", {"prompt": 8000}),
        ("output", "1", {"output": 1}),
        ("cached", "512", {"cached": 512}),
        ("weights", "fp8", {"weights": "fp8"}),
        ("kv", "fp8", {"kv": "fp8"}),
        ("activations", "fp16", {"activations": "fp16"}),
        ("attention", "standard", {"attention": "standard"}),
        ("engine", "eager", {"engine": "eager"}),
        ("model", "mixtral-8x7b", {"model": "mixtral-8x7b"}),
        ("model", "params=8e9", {"model": "params=8e9"}),
    ],
)
def test_each_control_changes_the_answer_to_what_the_package_says(
    page: Any, field: str, value: str, words: dict[str, Any]
) -> None:
    changed(page, field, value)
    assert verdict(page) == expected(**words)


def test_a_slider_moves_its_field_and_the_answer(page: Any) -> None:
    changed(page, "batch-slider", "100")
    batch = int(page.input_value("#batch"))
    assert 1 < batch < 4096
    assert verdict(page) == expected(batch=batch)


@pytest.mark.parametrize("kind", names("mansard.views.charts"))
def test_every_chart_is_drawn_and_told_as_a_table(page: Any, kind: str) -> None:
    page.click(f"[data-chart={kind}]")
    page.wait_for_function("kind => location.hash.includes(`chart=${kind}`) || kind === 'roofline'", arg=kind)
    page.wait_for_timeout(400)
    assert page.locator("#chart-view svg path").count() > 3
    page.click("#chart summary")
    page.wait_for_selector("#chart-table table")
    assert page.locator("#chart-table td").count() > 2


def test_up_to_four_devices_side_by_side(page: Any) -> None:
    for _ in range(3):
        page.click("#add-device")
    assert page.is_disabled("#add-device")
    page.fill("[data-device='1']", "mi300x")
    page.press("[data-device='1']", "Tab")
    page.wait_for_function("document.getElementById('verdict').innerText.includes('MI300X')")
    assert page.locator("#run-tabs [role=tab]").count() == 4
    page.click("#run-tabs [role=tab]:has-text('mi300x')")
    page.wait_for_function("document.getElementById('tables').innerText.includes('192 GB')")
    page.click("[aria-label='Remove device 4']")
    page.wait_for_function("document.querySelectorAll('#run-tabs [role=tab]').length === 3")


def test_a_pasted_config_is_the_model(page: Any) -> None:
    page.click("#paste summary")
    changed(page, "config", json.dumps(LLAMA))
    assert "llama on NVIDIA H100" in verdict(page)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ('{"model_type": "llama",', ("no JSON",)),
        (json.dumps({**LLAMA, "hidden_size": -1, "vocab_size": "many"}), ("hidden_size", "vocab_size", "-1")),
        (json.dumps({"model_type": "lama"}), ("not known", "did you mean")),
    ],
)
def test_a_broken_config_is_told_at_its_field(page: Any, config: str, words: tuple[str, ...]) -> None:
    page.click("#paste summary")
    page.evaluate(CHANGE, ["config", config])
    page.wait_for_function("document.getElementById('model-error').textContent !== ''")
    said = page.inner_text("#model-error")
    assert all(word in said for word in words), said
    assert page.get_attribute("#config", "aria-invalid") == "true"
    changed(page, "config", json.dumps(LLAMA))
    assert page.inner_text("#model-error") == ""


def test_wrong_words_are_told_at_their_fields(page: Any) -> None:
    page.evaluate(CHANGE, ["cached", "5000"])
    page.wait_for_function("document.getElementById('cached-error').textContent.includes('less than prompt')")
    page.evaluate(CHANGE, ["cached", "1.5"])
    page.wait_for_function("document.getElementById('cached-error').textContent.includes('whole number')")
    page.evaluate(CHANGE, ["cached", "0"])
    page.fill("[data-device='0']", "h1000")
    page.press("[data-device='0']", "Tab")
    page.wait_for_function("document.getElementById('on-error').textContent.includes('did you mean')")


def test_a_dropped_file_is_read(page: Any, tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text(json.dumps(LLAMA))
    page.click("#paste summary")
    page.set_input_files("#config-file", str(place))
    page.wait_for_function("document.getElementById('verdict').innerText.startsWith('llama on')")


def test_a_link_holds_the_whole_state(page: Any) -> None:
    page.click("#paste summary")
    changed(page, "config", json.dumps(LLAMA))
    for field, value in (("batch", "7"), ("prompt", "333"), ("weights", "fp8")):
        changed(page, field, value)
    page.click("[data-chart=memory]")
    page.wait_for_function("location.hash.includes('chart=memory')")
    link, said = page.evaluate("location.href"), verdict(page)
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#chart-view svg")
    assert verdict(page) == said
    assert page.input_value("#batch") == "7"
    assert json.loads(page.input_value("#config")) == LLAMA
    assert page.get_attribute("[data-chart=memory]", "aria-selected") == "true"


def test_what_is_copied_runs(page: Any) -> None:
    changed(page, "batch", "8")
    page.click("#copy-python")
    page.wait_for_function("document.getElementById('copied').textContent !== ''")
    code = page.evaluate("navigator.clipboard.readText()")
    scope: dict[str, Any] = {}
    exec(code.replace("ms.analyze", "found = ms.analyze"), scope)  # what the page made is what is tested
    assert headline(scope["found"]) == verdict(page)
    page.click("#copy-command")
    page.wait_for_function("document.getElementById('copied').textContent.startsWith('command')")
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("mansard analyze llama-3.1-8b --on h100-sxm --batch 8")


@pytest.mark.parametrize(
    ("form", "starts"), [("json", b"{"), ("csv", b"phase,"), ("svg", b"<svg"), ("png", b"\x89PNG")]
)
def test_downloads(page: Any, form: str, starts: bytes) -> None:
    with page.expect_download() as waited:
        page.click(f"[data-download={form}]")
    content = Path(waited.value.path()).read_bytes()
    assert content.startswith(starts)
    if form == "json":
        assert json.loads(content)["schema"] == "mansard.analysis/1"
    if form == "csv":
        assert len(list(csv.DictReader(io.StringIO(content.decode())))) > 10


def test_every_number_opens_its_arithmetic_and_sources(page: Any) -> None:
    for row, words in (("total", "weights + cache"), ("memory clock", "bytes / B"), ("end to end", "TTFT + (n_out")):
        page.locator(f"#tables tr:has(th:text-is('{row}')) button.number").last.click()
        page.wait_for_function("document.getElementById('explanation-body').innerText.includes('Sources')")
        assert words in page.inner_text("#explanation-body")
        page.keyboard.press("Escape")
        assert not page.evaluate("document.getElementById('explanation').open")


def test_the_simple_mode_moves_as_the_algebra_does(page: Any) -> None:
    page.click("[data-mode=simple]")
    page.wait_for_function("document.getElementById('simple-verdict').innerText.includes('BANDWIDTH-bound')")
    before = page.inner_text("#simple-table")
    attainable = page.locator("#simple-table tr:has(th:text-is('attainable'))").inner_text()
    page.evaluate(CHANGE, ["simple-peak", "1980"])
    page.wait_for_function("before => document.getElementById('simple-table').innerText !== before", arg=before)
    assert page.locator("#simple-table tr:has(th:text-is('attainable'))").inner_text() == attainable
    page.evaluate(CHANGE, ["simple-batch", "4096"])
    page.wait_for_function("document.getElementById('simple-verdict').innerText.includes('COMPUTE-bound')")
    page.click("#to-model")
    assert page.is_visible("#model-view")


def test_a_lesson_asks_first_and_checks_the_answers(page: Any) -> None:
    page.click("[data-mode=learn]")
    page.wait_for_selector("[data-option]")
    assert page.locator("#lesson figure").is_hidden()
    page.click("[data-option='0']")
    page.wait_for_selector("#lesson figure svg")
    assert "No." in page.inner_text("#lesson .wrong-answer")
    page.fill("#answer-0", "3.33")
    page.press("#answer-0", "Enter")
    page.wait_for_function("document.getElementById('lesson').innerText.includes('mind the unit')")
    page.fill("#answer-0", "3.33 ms")
    page.press("#answer-0", "Enter")
    page.wait_for_selector("#lesson form .right-answer")
    assert page.locator("#lessons button").count() == 8


def test_the_keyboard_alone_reaches_everything(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.mode || ''"))
    assert {"model", "batch", "batch-slider", "weights", "add-device", "copy-link", "theme"} <= seen
    page.focus("[data-chart=roofline]")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.dataset.chart === 'clocks'")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("mode", ["model", "simple", "learn"])
def test_axe_finds_nothing_to_mend(page: Any, mode: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page.click(f"[data-mode={mode}]")
    if page.evaluate("document.documentElement.dataset.theme") != theme:
        page.click("#theme")
    page.wait_for_timeout(500)
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["target"]) for one in found] == []


@pytest.mark.parametrize("width", [360, 768, 3840])
def test_no_width_scrolls_sideways(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(400)
    for mode in ("model", "simple", "learn"):
        page.click(f"[data-mode={mode}]")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axes_follow_the_answer_without_a_new_chart(page: Any) -> None:
    marks = (
        "[...document.querySelectorAll('#chart-view .role-axis-label text')].map(mark => mark.textContent).join(' ')"
    )
    before = page.evaluate(marks)
    page.evaluate("document.querySelector('#chart-view svg').dataset.kept = 'yes'")
    page.fill("#batch", "4096")
    page.press("#batch", "Tab")
    page.wait_for_function(f"({marks}) !== {before!r}")
    assert page.evaluate("document.querySelector('#chart-view svg').dataset.kept") == "yes"


@pytest.mark.parametrize("kind", names("mansard.views.charts"))
def test_an_answer_follows_a_slider_within_50_ms(page: Any, kind: str, record_property: Any) -> None:
    """Measured from the input to the frame after the redraw. A median, since the machine has other work to do."""
    page.click(f"[data-chart={kind}]")
    page.wait_for_timeout(400)
    times = page.evaluate(
        """async () => { const slider = document.getElementById('batch-slider'), times = [];
          for (let step = 0; step < 20; step++) {
            const before = document.documentElement.dataset.answered, start = performance.now();
            slider.value = 60 + step; slider.dispatchEvent(new Event('input'));
            while (document.documentElement.dataset.answered === before) await new Promise(requestAnimationFrame);
            times.push(performance.now() - start);
            await new Promise(done => setTimeout(done, 40)); }
          return times; }"""
    )
    record_property("latency_ms", times)
    print(f"input to redraw of {kind}: median {median(times):.0f} ms, most {max(times):.0f} ms")  # noqa: T201  # for the log of CI
    assert len(times) == 20
    assert median(times) < 500  # a page that hangs; the figure itself is in the log, not a gate
