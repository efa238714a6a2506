"""Schemathesis: whatever the OpenAPI document allows or forbids, no request brings the server to a fault of its own."""

import pytest

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
pytest.importorskip("fastapi", reason="the extra web is not installed")

from hypothesis import HealthCheck, settings  # noqa: E402  # after what may skip the file

from mansard.server.app import create_app  # noqa: E402  # the same

APP = create_app(hosts=("127.0.0.1", "localhost", "testserver"))
schema = schemathesis.openapi.from_asgi("/openapi.json", APP)


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_is_a_fault_of_the_server(case: "schemathesis.Case") -> None:  # type: ignore[name-defined]
    response = case.call(base_url="http://127.0.0.1")
    assert response.status_code in (200, 400, 404, 405, 413, 422), response.text
    if response.status_code >= 400 and response.status_code != 405:
        assert response.json()["error"]["message"]
