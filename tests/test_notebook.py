"""The notebook runs from top to bottom, and its answers show themselves."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

PATH = Path(__file__).parents[1] / "examples" / "tour.ipynb"


@pytest.mark.slow
def test_the_tour_runs() -> None:
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs for cell in code), "outputs are not kept in the repository"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": PATH.parent}}).execute()
    shown = [output for cell in code for output in cell.outputs]
    text = " ".join(str(one.get("data") or one.get("text")) for one in shown)
    assert "(True, False)" in text  # A and B are independent where C is there, and only there
    assert "image/svg+xml" in text and "proved optimal" in text
    assert "same=True" in text and "False" in text and "above 0.5: True" in text
