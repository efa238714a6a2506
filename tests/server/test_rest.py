"""REST: the same documents as everywhere else, strict words, bounded bodies, no paths, no other sites."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

import mansard
from mansard.answers import SAYS
from mansard.cli import root
from mansard.registry import names

pytest.importorskip("fastapi", reason="the extra web is not installed")
pytest.importorskip("httpx", reason="httpx, which asks the application, is not installed")

from starlette.testclient import TestClient

from asking_agents import ask, call
from mansard.server.agents import create_server
from mansard.server.app import create_app
from mansard.server.guards import MOST_BYTES
from mansard.server.words import MOST_RUNS, VERBS

HOME = "http://127.0.0.1"
RUN = {"model": "llama-3.1-8b", "on": "h100-sxm"}
LLAMA = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16", "tie_word_embeddings": False,
}  # fmt: skip
# One question of each verb: the words of a request, those of the command, and the function.
QUESTIONS: dict[str, tuple[dict[str, Any], list[str], Any]] = {
    "analyze": (
        {**RUN, "batch": 32, "prompt": 4096, "weights": "fp8"},
        ["llama-3.1-8b", "--on", "h100-sxm", "--batch", "32", "--prompt", "4096", "--weights", "fp8"],
        lambda: mansard.analyze("llama-3.1-8b", on="h100-sxm", batch=32, prompt=4096, weights="fp8").to_dict(),
    ),
    "explain": (
        {"model": "params=8e9", "on": "peak=990e12,bandwidth=3.35e12"},
        ["params=8e9", "--on", "peak=990e12,bandwidth=3.35e12"],
        lambda: mansard.explain("params=8e9", on="peak=990e12,bandwidth=3.35e12").to_dict(),
    ),
    "advise": (
        {"model": "mixtral-8x7b", "on": "mi300x"},
        ["mixtral-8x7b", "--on", "mi300x"],
        lambda: None,
    ),
    "saturate": (
        {**RUN, "context": 4096},
        ["llama-3.1-8b", "--on", "h100-sxm", "--context", "4096"],
        lambda: None,
    ),
    "operator": (
        {"name": "attention", "on": "h100-sxm", "inputs": {"length": 4096, "head_dim": 128, "kind": "standard"}},
        ["attention", "length=4096", "head_dim=128", "kind=standard", "--on", "h100-sxm"],
        lambda: mansard.operator("attention", on="h100-sxm", length=4096, head_dim=128, kind="standard").to_dict(),
    ),
    "request": (
        {"ttft": 0.2, "itl": 0.05, "output": 5},
        ["--ttft", "200ms", "--itl", "50ms", "--output", "5"],
        lambda: mansard.request(ttft=0.2, itl=0.05, output=5).to_dict(),
    ),
    "list": ({"kind": "devices", "sort": "ridge"}, ["devices", "--sort", "ridge"],
             lambda: mansard.list("devices", sort="ridge").to_dict()),
    "show": ({"name": "h100-sxm"}, ["h100-sxm"], lambda: mansard.show("h100-sxm").to_dict()),
    "cite": ({"name": "llama-3.1-8b"}, ["llama-3.1-8b"], lambda: mansard.cite("llama-3.1-8b").to_dict()),
    "schema": ({"name": "analysis"}, ["analysis"], lambda: mansard.schema("analysis").to_dict()),
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(), base_url=HOME, raise_server_exceptions=False)


def test_every_verb_is_there() -> None:
    assert set(VERBS) == set(names("mansard.answers")) == set(SAYS) == set(QUESTIONS)


@pytest.mark.parametrize("verb", QUESTIONS)
def test_rest_agents_command_and_python_give_the_same_answer(client: TestClient, verb: str) -> None:
    body, words, function = QUESTIONS[verb]
    by_rest = client.post(f"/api/{verb}", json=body)
    assert by_rest.status_code == 200, by_rest.text
    by_command = json.loads(CliRunner().invoke(root, [verb, *words, "--json"]).stdout)
    assert by_rest.json() == by_command
    assert _by_agent(verb, body) == by_command
    by_python = function()
    assert by_python is None or by_python == by_command


def _by_agent(verb: str, body: dict[str, Any]) -> Any:
    found = call(create_server(), verb, body)
    assert not found.is_error, found.content
    return found.structured_content


def test_the_page_and_its_chart_show_the_numbers_of_the_answer(client: TestClient) -> None:
    run = {**RUN, "batch": 32}
    page = client.post("/api/page", json={"runs": [run], "chart": {"kind": "roofline"}}).json()
    document = client.post("/api/analyze", json=run).json()
    text = CliRunner().invoke(root, ["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--batch", "32"]).stdout
    assert page["runs"][0]["headline"] in " ".join(text.split())
    phases = {row["phase"]: row for row in page["chart"]["datasets"]["phases"]}
    for name, phase in document["phases"].items():
        assert phases[name]["x"] == phase["intensity"]
        assert phases[name]["y"] == phase["flops"] / phase["best_s"]
        assert page["runs"][0]["bounds"][name] == phase["bound"]
    points = {(row["phase"], row["operator"]): row["x"] for row in page["chart"]["datasets"]["operators"]}
    for name, phase in document["phases"].items():
        for operator in phase["operators"]:
            if operator["flops"] and operator["bytes"]:
                assert points[name, operator["name"]] == operator["intensity"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "md", "html"])
def test_other_formats_are_those_of_the_command(client: TestClient, form: str) -> None:
    found = client.post(f"/api/analyze?format={form}", json=RUN)
    said = CliRunner().invoke(root, ["analyze", "llama-3.1-8b", "--on", "h100-sxm", "--format", form]).stdout
    assert found.text == said


def test_a_config_is_given_as_it_is(client: TestClient) -> None:
    found = client.post("/api/analyze", json={**RUN, "model": LLAMA}).json()
    attention, feed, norms = 4 * 64 * 64, 3 * 64 * 128, 2 * 64
    assert found["model"]["parameters"] == 2 * (attention + feed + norms) + 2 * 1000 * 64 + 64


@pytest.mark.parametrize(
    ("body", "key", "words"),
    [
        ({**RUN, "batch": True}, "batch", "valid integer"),
        ({**RUN, "batch": 1.5}, "batch", "valid integer"),
        ({**RUN, "batch": "8"}, "batch", "valid integer"),
        ({**RUN, "batch": 0}, "batch", "greater than or equal to 1"),
        ({**RUN, "prompt": 1 << 40}, "prompt", "less than or equal to 1073741824"),
        ({**RUN, "bach": 8}, "bach", "not known"),
        ({**RUN, "weights": "fp7"}, "weights", "fp7"),
        ({**RUN, "cached": 5000}, "cached", "less than prompt"),
        ({**RUN, "on": "h1000"}, "", "no device is called"),
        ({**RUN, "model": "lama-3.1-8b"}, "model", "not known"),
        ({**RUN, "model": {**LLAMA, "hidden_size": -1}}, "hidden_size", "between"),
        ({"model": "llama-3.1-8b"}, "on", "required"),
        ([], "", "dictionary"),
    ],
)  # fmt: skip
def test_bad_words_are_refused_at_their_key(client: TestClient, body: Any, key: str, words: str) -> None:
    found = client.post("/api/analyze", json=body)
    assert found.status_code == 422
    error = found.json()["error"]
    assert words in json.dumps(error)
    assert key == "" or key in {fault["key"].split(".")[-1] for fault in error["faults"]}


def test_every_fault_is_told_at_once_with_near_matches(client: TestClient) -> None:
    found = client.post("/api/analyze", json={**RUN, "bach": 8, "prompt": -1}).json()["error"]
    assert {fault["key"] for fault in found["faults"]} == {"bach", "prompt"}
    assert "did you mean batch" in json.dumps(found)


@pytest.mark.parametrize(
    "model", ["/etc/passwd", "../config.json", "./", "-", "~/x", "org/model", "file:///etc/passwd", "x\0y"]
)
def test_no_path_and_no_hub_is_ever_looked_at(client: TestClient, model: str, tmp_path_factory: Any) -> None:
    found = client.post("/api/analyze", json={**RUN, "model": model})
    assert found.status_code == 422
    assert "no model is called" in found.json()["error"]["message"]
    place = tmp_path_factory.mktemp("there") / "config.json"
    place.write_text(json.dumps(LLAMA))
    assert client.post("/api/analyze", json={**RUN, "model": str(place)}).status_code == 422
    assert client.post("/api/show", json={"name": str(place)}).status_code == 422
    assert client.post("/api/analyze", json={**RUN, "on": str(place.with_suffix(".toml"))}).status_code == 422


def test_a_body_that_is_no_json(client: TestClient) -> None:
    found = client.post("/api/analyze", content=b"{", headers={"content-type": "application/json"})
    assert found.status_code == 400
    assert "no JSON" in found.json()["error"]["message"]


def test_bodies_are_bounded_whatever_their_length_says(client: TestClient) -> None:
    assert client.post("/api/analyze", content=b" " * (MOST_BYTES + 1)).status_code == 413

    def pieces() -> Any:
        for _ in range(20):
            yield b" " * (MOST_BYTES // 10)

    assert client.post("/api/analyze", content=pieces()).status_code == 413
    assert client.post("/api/analyze", content=b"{}", headers={"content-length": "-1"}).status_code == 413


def test_runs_are_bounded(client: TestClient) -> None:
    found = client.post("/api/page", json={"runs": [RUN] * (MOST_RUNS + 1)})
    assert found.status_code == 422
    assert str(MOST_RUNS) in found.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "127.0.0.1:8642"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "[::1]:8642"}, 200),
        ({"host": "evil.example"}, 400),
        ({"host": "127.0.0.1.evil.example"}, 400),
        ({"host": ""}, 400),
        ({"origin": "http://127.0.0.1"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_other_sites_and_other_names_are_refused(client: TestClient, headers: dict[str, str], status: int) -> None:
    assert client.post("/api/list", json={"kind": "charts"}, headers=headers).status_code == status


def test_a_token_is_asked_for_everywhere() -> None:
    guarded = TestClient(create_app(token="secret"), base_url=HOME)  # no secret
    for path in ("/", "/vega.js", "/docs", "/openapi.json", "/page/app.js"):
        assert guarded.get(path).status_code == 401
    assert guarded.post("/api/list", json={"kind": "charts"}).status_code == 401
    wrong = {"authorization": "Bearer wrong"}
    assert guarded.post("/api/list", json={"kind": "charts"}, headers=wrong).status_code == 401
    right = {"authorization": "Bearer secret"}
    assert guarded.post("/api/list", json={"kind": "charts"}, headers=right).status_code == 200
    assert guarded.get("/?token=secret").status_code == 200
    assert guarded.get("/page/app.js").status_code == 200  # by the cookie that the page has set


def test_off_loopback_a_token_is_needed() -> None:
    for command in (["serve"], ["mcp", "--http"]):
        found = CliRunner().invoke(root, [*command, "--host", "0.0.0.0"])  # it is refused
        assert found.exit_code == 2
        assert "--token" in found.output


def test_answers_carry_the_headers_that_keep_them_here(client: TestClient) -> None:
    headers = client.get("/").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["nothing.js", "..%2fapp.py", "%2e%2e/app.py", "index", "app.py"])
def test_only_the_parts_of_the_page_are_served(client: TestClient, name: str) -> None:
    assert client.get(f"/page/{name}").status_code == 404


def test_a_question_that_takes_too_long_is_given_up(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setattr("mansard.server.app.SECONDS", 0.05)
    monkeypatch.setattr("mansard.server.verbs.answered", lambda *_: time.sleep(0.3))
    found = client.post("/api/list", json={"kind": "charts"})
    assert found.status_code == 503
    assert "took longer" in found.text


def test_the_reference_names_every_operation_and_needs_nothing_from_elsewhere(client: TestClient) -> None:
    text = client.get("/docs").text
    document = client.get("/openapi.json").json()
    assert {f"/api/{verb}" for verb in VERBS} <= set(document["paths"])
    for path, operations in document["paths"].items():
        assert path in text or "get" in operations
    assert "src=" not in text
    assert "1,073,741,824" in text  # a bound, in the open


def test_lessons_are_judged_as_text(client: TestClient) -> None:
    ask = {"lesson": "clocks", "exercise": 0, "answer": "__import__('os').system('true')", "tries": 1}
    assert client.post("/api/grade", json=ask).json()["is_right"] is False
    assert client.post("/api/grade", json={**ask, "answer": "3.33 ms"}).json()["is_right"] is True
    assert client.post("/api/grade", json={**ask, "exercise": 9}).status_code == 422
    assert len(client.get("/api/lessons").json()["lessons"]) == 8


def test_the_simple_mode_is_the_algebra(client: TestClient) -> None:
    peak, bandwidth = 990e12, 3.35e12
    one = client.post("/api/algebra", json={"batch": 1, "peak": peak, "bandwidth": bandwidth}).json()
    twice = client.post("/api/algebra", json={"batch": 1, "peak": 2 * peak, "bandwidth": bandwidth}).json()
    assert one["attainable_flops_per_s"] == twice["attainable_flops_per_s"] == bandwidth * 1
    assert one["ridge_point"] == peak / bandwidth
    assert one["share_of_peak"] == bandwidth / peak
    assert one["bound"] == "bandwidth"
    assert (
        client.post("/api/algebra", json={"batch": 296, "peak": peak, "bandwidth": bandwidth}).json()["bound"]
        == "compute"
    )


def test_agents_are_told_what_is_wrong() -> None:
    def asked(name: str, words: dict[str, Any]) -> tuple[bool, str]:
        found = call(create_server(), name, words)
        return bool(found.is_error), found.content[0].text

    wrong, text = asked("analyze", {**RUN, "bach": 1, "batch": True})
    assert wrong
    assert "did you mean batch" in text
    assert "valid integer" in text
    assert asked("analyse", RUN)[0]
    assert "no model is called" in asked("analyze", {**RUN, "model": "/etc/passwd"})[1]


def test_agents_see_the_words_with_their_bounds() -> None:
    listed = ask(create_server(), lambda agent: agent.list_tools())
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) == set(VERBS)
    assert all(tool.description == SAYS[name] for name, tool in tools.items())
    assert tools["analyze"].input_schema["additionalProperties"] is False
    assert tools["analyze"].output_schema is not None
    assert all(tool.annotations.read_only_hint for tool in tools.values())
