"""What every test gets: an isolated home, no network beyond this machine, derandomised hypothesis in CI."""

import os
import socket
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import configuration, settings

import reference_data

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis keeps its examples where pytest keeps its own, so that the checkout stays clean."""
    if hasattr(config, "cache"):
        configuration.set_hypothesis_home_dir(config.cache.mkdir("hypothesis"))


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of the reference data; the test is skipped where it is not to be had."""
    found = reference_data.folder()
    if found is None:
        pytest.skip(reference_data.reason())
    return found


@pytest.fixture(scope="session", autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nobody's own settings reach a test, and nothing that a test writes reaches anybody's home."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "MANSARD_PATH",
            "MANSARD_DEBUG",
            "NO_COLOR",
            "FORCE_COLOR",
            "CLICOLOR_FORCE",
            "COLUMNS",
            "HF_TOKEN",
        ):
            patch.delenv(name, raising=False)
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HF_HOME"):
            patch.setenv(name, str(home / name.lower()))
        patch.setenv("HF_HUB_OFFLINE", "1")
        # Processes that a test starts have their own sockets: their HTTP goes to a port where nothing listens.
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        patch.setenv("no_proxy", "127.0.0.1,localhost,::1")
        yield


@pytest.fixture(scope="session", autouse=True)
def offline() -> Iterator[None]:
    """A connection or a look-up that would leave this machine fails the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex))
        look_up = socket.getaddrinfo

        def local_look_up(host: Any, *rest: Any, **named: Any) -> Any:
            _require_local(host)
            return look_up(host, *rest, **named)

        patch.setattr(socket, "getaddrinfo", local_look_up)
        yield


def _guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def connect_locally(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _require_local(address[0])
        return connect(self, address)

    return connect_locally


def _require_local(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return
    try:
        local = ip_address(name).is_loopback
    except ValueError:
        local = False
    if not local:
        pytest.fail(f"a test must not reach the network: {name}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says loudly how many tests had no reference data to run on."""
    reports = terminalreporter.stats.get("skipped", [])
    missing = sum(reference_data.MISSING in str(report.longrepr) for report in reports)
    if missing:
        terminalreporter.write_sep("!", f"{missing} skipped: {reference_data.reason()}", yellow=True)
