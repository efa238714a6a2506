"""The example notebook runs from top to bottom, and its cells show what they promise."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "examples" / "analysis.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # the kernel's libraries warn as they please
def test_the_example_notebook_runs() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    for needed in ("ipykernel", "polars", "nanoarrow", "vl_convert"):
        pytest.importorskip(needed)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [output["data"] for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    assert "application/vnd.vegalite.v6+json" in shown[0]
    assert "image/svg+xml" in shown[1]
    assert any("text/html" in data for data in shown)
    text = "".join(output.get("text", "") for output in notebook.cells[-1]["outputs"])
    assert "296 times" in text
