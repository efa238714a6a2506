"""Expressions of module names: as Python's own matcher reads them, in bounded time."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mansard.inputs.expressions import Expression, UnreadableError

NAMES = (
    "model.layers.3.self_attn.q_proj", "model.layers.13.mlp.gate_proj", "model.layers.0.mlp.experts.12.w1", "lm_head",
    "model.layers.7.mlp.experts.3.down_proj", "model.layers.7.mlp.down_proj", "xxxy", "ab1", "a{1}", "",
)  # fmt: skip
PATTERNS = (
    r".*self_attn.*", r".*mlp\.(gate|up|gate_up|down)_proj.*", r"^model\.layers\.(0|1|1[0-9])\.mlp.*$", r"lm_head$",
    r"model\.layers\.\d+\.mlp\.experts\.\d+\.(w1|w3)", r"(?!.*experts).*down_proj$", r"(?=.*experts).*", r"x{2,}y?",
    r"[^.]+\.layers\.[0-5]\..*", r"(ab|a)(1)?", r".*\.(?:q|k)_proj", r".*[a-c_]{3}_proj", r"a\{1}", r"a{,1}b+?1", r"",
    r"model\.layers\.\D", r"[\w.]*\Z", r".*[]\d-]$", r"a|",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_names_are_matched_as_python_matches_them(pattern: str) -> None:
    found = Expression(pattern)
    assert [name for name in NAMES if found.matches(name)] == [name for name in NAMES if re.match(pattern, name)]


@given(st.text("ab.|()*?^$\\d1,{}+", max_size=9), st.text("ab1.", max_size=6))
def test_what_is_read_means_what_it_means_to_python(pattern: str, name: str) -> None:
    try:
        mine, theirs = Expression(pattern), re.compile(pattern)
    except (UnreadableError, re.error):
        return  # what either of them refuses
    assert mine.matches(name) == bool(theirs.match(name))


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(a*)*(a*)*(a*)*c", r".*a.*a.*a.*a.*a.*a.*b"])
def test_a_hostile_expression_takes_no_time(pattern: str) -> None:
    began = time.perf_counter()
    assert not Expression(pattern).matches("a" * 80 + "x")
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    "pattern", ["(", ")", "[a", "*a", "a**", r"(a)\1", "(?<=a)b", "(?i)a", "a{999}", "(" * 99, "a" * 1001]
)
def test_what_is_not_read_is_said(pattern: str) -> None:
    with pytest.raises(UnreadableError):
        Expression(pattern)
