"""What requests may say, checked strictly: a bool is no count, unknown keys are refused, every size has a bound."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from mansard.inputs.scenario import MOST_IMAGES, MOST_OUTPUT, MOST_SECONDS, MOST_SEQUENCES, MOST_TOKENS

LONGEST_NAME = 200
MOST_INPUTS = 32
MOST_RUNS = 4

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Sequences = Annotated[int, Field(ge=1, le=MOST_SEQUENCES)]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Format = Literal["json", "jsonl", "csv", "md", "html", "text"]
Chart = Literal["roofline", "clocks", "operators", "batch", "context", "memory", "request", "hardware"]


class Words(BaseModel):
    """What every request has in common."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Asked(Words):
    """A model on a device. `model`: a catalogue name, `params=8e9`, or a parsed config.json; never a path."""

    model: Annotated[Name | dict[str, Any], Field(description="catalogue name, params=8e9, or a parsed config.json")]
    on: Annotated[Name, Field(description="catalogue name, or peak=990e12,bandwidth=3.35e12[,memory=80e9]")]
    context: Annotated[Tokens | None, Field(description="tokens that the decode step attends to")] = None
    weights: Name | None = None
    activations: Name | None = None
    kv: Name | None = None
    state: Name | None = None
    attention: Name | None = None
    engine: Name | None = None
    mtp: Annotated[bool, Field(description="whether layers that draft tokens are loaded")] = False


class Saturate(Asked):
    """The words of `saturate`."""


class Scenario(Asked):
    """The words of `analyze`, `explain` and `advise`."""

    batch: Sequences | None = None
    prompt: Tokens | None = None
    output: Annotated[int, Field(ge=1, le=MOST_OUTPUT)] | None = None
    cached: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None = None
    images: Annotated[int, Field(ge=0, le=MOST_IMAGES)] | None = None
    resolution: Annotated[Name | None, Field(description="width and height in pixels, such as 1920x1080")] = None
    frames: Annotated[int, Field(ge=1, le=MOST_IMAGES)] | None = None
    seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS, allow_inf_nan=False)] | None = None
    routing: Name | None = None


class Operator(Words):
    """The words of `operator`: its inputs as one object."""

    name: Name
    on: Name
    inputs: Annotated[dict[Name, int | float | Name], Field(max_length=MOST_INPUTS)] = {}


class Request(Words):
    """The words of `request`."""

    ttft: Seconds
    itl: Seconds
    output: Annotated[int, Field(ge=1, le=MOST_OUTPUT)]
    prompt: Tokens | None = None


class Listed(Words):
    """The words of `list`."""

    kind: Literal["models", "devices", "engines", "formats", "operators", "charts"]
    sort: Literal["name", "ridge", "bandwidth", "peak"] = "name"


class Named(Words):
    """The words of `show` and `cite`."""

    name: Name


class Output(Words):
    """The words of `schema`."""

    name: Name


class Drawn(Words):
    """The words of `chart`: what is drawn, for one to four runs, and how it looks."""

    kind: Chart = "roofline"
    runs: Annotated[list[Scenario], Field(max_length=MOST_RUNS)] = []
    theme: Literal["light", "dark"] = "light"
    width: Annotated[int, Field(ge=240, le=4000)] = 600
    along: Literal["batch", "context"] | None = None


class Page(Words):
    """What the page asks for at once: the answers of its runs and the chart that it shows."""

    runs: Annotated[list[Scenario], Field(min_length=1, max_length=MOST_RUNS)]
    chart: Drawn | None = None


class Algebra(Words):
    """The simple mode: a weight matrix of `bytes_per_parameter`, read once for a batch. FLOP/s and byte/s."""

    batch: Sequences
    peak: Annotated[float, Field(ge=1, le=1e24, allow_inf_nan=False)]
    bandwidth: Annotated[float, Field(ge=1, le=1e24, allow_inf_nan=False)]
    bytes_per_parameter: Annotated[float, Field(ge=0.01, le=16, allow_inf_nan=False)] = 2.0


class Lesson(Words):
    """A lesson by its name."""

    name: Name


class Attempt(Words):
    """An answer to an exercise of a lesson, counted from 0; `tries`, how many there were, this one included."""

    lesson: Name
    exercise: Annotated[int, Field(ge=0, le=100)]
    answer: Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
    tries: Annotated[int, Field(ge=1, le=1000)] = 1


# What each verb takes; the answers themselves are found by name.
VERBS: dict[str, type[Words]] = {
    "analyze": Scenario,
    "explain": Scenario,
    "advise": Scenario,
    "saturate": Saturate,
    "operator": Operator,
    "request": Request,
    "list": Listed,
    "show": Named,
    "cite": Named,
    "schema": Output,
}
