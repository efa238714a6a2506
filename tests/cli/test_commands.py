"""Every command: exit statuses, formats, what goes to standard output and what to standard error."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mansard.cli import root
from mansard.cli._group import SUMMARIES
from mansard.registry import names

GIVEN = "peak=990e12,bandwidth=3.35e12"
SERVERS = {"serve", "mcp"}  # which answer until they are stopped
COMMANDS = {
    "analyze": ["analyze", "llama-3.1-8b", "--on", "h100-sxm"],
    "explain": ["explain", "params=8e9", "--on", GIVEN],
    "advise": ["advise", "llama-3.1-8b", "--on", "h100-sxm"],
    "saturate": ["saturate", "llama-3.1-8b", "--on", "h100-sxm"],
    "operator": ["operator", "gemm", "m=32", "n=4096", "k=4096", "--on", "h100-sxm"],
    "request": ["request", "--ttft", "0.2", "--itl", "0.05", "--output", "5"],
    "list": ["list", "devices"],
    "learn": ["learn", "clocks"],
    "show": ["show", "h100-sxm"],
    "cite": ["cite", "h100-sxm"],
    "schema": ["schema", "saturation"],
}


def run(*words: str, **extra: object) -> Result:
    return CliRunner().invoke(root, list(words), **extra)  # type: ignore[arg-type]


def test_every_file_of_the_folder_is_a_command_with_a_summary() -> None:
    assert set(names("mansard.cli")) == set(SUMMARIES) == set(COMMANDS) | SERVERS
    for name in SUMMARIES:
        command = root.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.short_help == SUMMARIES[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_format_can_be_read_back(name: str, tmp_path: Path) -> None:
    words = COMMANDS[name]
    assert isinstance(json.loads(run(*words, "--json").stdout), dict)
    assert run(*words, "--json").stdout == run(*words, "--format", "json").stdout
    lines = run(*words, "--format", "jsonl").stdout.splitlines()
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    assert len(rows) == len([json.loads(line) for line in lines]) > 0
    assert run(*words, "--format", "html").stdout.startswith("<!doctype html>")
    assert run(*words, "--format", "md").stdout
    file = tmp_path / "answer.txt"
    written = run(*words, "-o", str(file))
    assert (written.exit_code, written.stdout) == (0, "")
    assert file.read_text(encoding="utf-8") == run(*words).stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_plain_output_keeps_to_100_columns(name: str) -> None:
    wide = [line for line in run(*COMMANDS[name]).stdout.splitlines() if len(line) > 100 and "http" not in line]
    assert wide == []


def test_notes_of_data_go_to_standard_error_unless_quiet() -> None:
    loud, quiet = run(*COMMANDS["analyze"], "--json"), run(*COMMANDS["analyze"], "--json", "--quiet")
    assert "note: batch was not given" in loud.stderr
    assert quiet.stderr == ""
    assert loud.stdout == quiet.stdout


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["analyse", "x"], 2, "did you mean analyze"),
        (["analyze"], 2, "MODEL"),
        (["analyze", "llama-3.1-8b"], 2, "--on"),
        (["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--bacth", "2"], 2, "--batch"),
        (["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--batch", "0"], 2, "batch"),
        (["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--batch", "many"], 2, "many"),
        (["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--json", "--format", "csv"], 2, "contradict"),
        (["analyze", "llama-3.1-8b", "--on", "h100-smx"], 2, "h100-sxm"),
        (["analyze", "no-such-model-at-all", "--on", "h100-sxm"], 2, "no-such-model-at-all"),
        (["operator", "gem", "--on", "h100-sxm"], 2, "gemm"),
        (["operator", "gemm", "m", "--on", "h100-sxm"], 2, "key=value"),
        (["operator", "gemm", "m=1", "m=2", "--on", "h100-sxm"], 2, "twice"),
        (["request", "--ttft", "1", "--itl", "1", "--output", "0"], 2, "output"),
        (["request", "--ttft", "-1", "--itl", "1", "--output", "1"], 2, "-1"),
        (["list", "models", "--sort", "ridge"], 2, "devices"),
        (["show", "h100-smx"], 2, "h100-sxm"),
        (["schema", "analysys"], 2, "analysis"),
        (["request", "--ttft", "1", "--itl", "1", "--output", "1", "-o", "/no/such/folder/file"], 2, "cannot write"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else None,
)
def test_a_users_mistake_is_one_clear_message(words: list[str], status: int, said: str) -> None:
    found = run(*words)
    assert found.exit_code == status, found.stderr
    assert found.stderr.startswith("error: ")
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert found.stdout == ""


def test_a_bad_file_exits_with_3(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "llama",}', encoding="utf-8")
    found = run("analyze", str(file), "--on", "h100-sxm")
    assert (found.exit_code, found.stdout) == (3, "")
    assert "Traceback" not in found.stderr


def test_what_does_not_fit_exits_with_1_and_still_gives_the_bound() -> None:
    # 70,553,706,496 parameters of 2 bytes: 141.1 GB on a device of 80 GB.
    found = run("analyze", "llama-3.1-70b", "--on", "h100-sxm", "--json")
    document = json.loads(found.stdout)
    assert found.exit_code == 1
    assert document["memory"]["fits"] is False
    assert document["memory"]["weights_bytes"] == 2 * 70_553_706_496
    assert document["phases"]["decode"]["best_s"] > 0


def test_an_unexpected_fault_is_one_line_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a\nbug")

    monkeypatch.delenv("MANSARD_DEBUG", raising=False)
    monkeypatch.setattr("mansard.answers.request.request_times", broken)
    found = run(*COMMANDS["request"])
    assert found.exit_code == 70
    assert found.stderr == "error: RuntimeError: a bug\nhint: this is a bug; set MANSARD_DEBUG=1 for the traceback\n"
    monkeypatch.setenv("MANSARD_DEBUG", "1")
    assert isinstance(run(*COMMANDS["request"]).exception, RuntimeError)


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mansard.answers.request.request_times", interrupted)
    assert run(*COMMANDS["request"]).exit_code == 130


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m mansard list models | head -1"
    found = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert found.stderr == ""


def test_a_piped_answer_is_plain() -> None:
    found = subprocess.run([sys.executable, "-m", "mansard", *COMMANDS["request"]], capture_output=True, check=True)
    assert b"\x1b" not in found.stdout


def test_version_and_help() -> None:
    from mansard import __version__

    assert run("--version").stdout == f"mansard {__version__}\n"
    assert run("--help").exit_code == 0
    for name in COMMANDS:
        shown = run(name, "--help")
        assert shown.exit_code == 0
        assert f"\n  mansard {name}" in shown.stdout  # an example on a line of its own


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device here that is always full")
def test_a_full_disk_is_no_bug() -> None:
    words = [sys.executable, "-m", "mansard", "show", "h100-sxm"]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert run.returncode == 2
    assert b"cannot write to standard output" in run.stderr


def test_charts_are_written_beside_the_answer(tmp_path: Path) -> None:
    roof, memory = tmp_path / "roof.json", tmp_path / "memory.json"
    found = run(*COMMANDS["analyze"], "--chart", str(roof), "--chart", f"memory:{memory}", "--theme", "dark")
    assert found.exit_code == 0
    assert found.stdout == run(*COMMANDS["analyze"]).stdout
    assert "operators" in json.loads(roof.read_text())["datasets"]
    assert "parts" in json.loads(memory.read_text())["datasets"]
    assert json.loads(roof.read_text())["config"]["background"] != "#ffffff"
    batch = tmp_path / "batch.json"
    assert run(*COMMANDS["saturate"], "--chart", str(batch)).exit_code == 0
    assert "curve" in json.loads(batch.read_text())["datasets"]
    assert run("list", "devices", "--chart", str(tmp_path / "h.json"), "--quiet").exit_code == 0


def test_charts_that_are_not_there(tmp_path: Path) -> None:
    assert "no chart that is called" in run(*COMMANDS["analyze"], "--chart", f"roof:{tmp_path / 'a.json'}").stderr
    assert "has no chart" in run("list", "models", "--chart", str(tmp_path / "a.json")).stderr
    assert "bmp" in run(*COMMANDS["analyze"], "--chart", str(tmp_path / "a.bmp")).stderr


def test_a_plot_stands_above_the_table() -> None:
    text = run(*COMMANDS["analyze"], "--plot").stdout
    assert text.index("Roofline") < text.index("Memory")
    assert "ridge 295.3" in text


def test_a_lesson_on_a_terminal_asks_and_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mansard.cli.learn._is_dialogue", lambda: True)
    found = CliRunner().invoke(root, ["learn", "clocks"], input="1\n12 ms\n3.33 ms\n2\n")
    assert found.exit_code == 0
    assert "No. Reading the weights takes 4.78 ms" in " ".join(found.output.split())
    assert "Not yet. Divide the bytes" in found.output
    assert "Right: 3.33 ms" in found.output
    assert "Right: 2 FLOP/byte" in found.output
