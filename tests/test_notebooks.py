"""Every notebook runs from its first cell to its last, and is kept without outputs."""

from pathlib import Path
from unittest.mock import ANY

import nbformat
import pytest
from nbclient import NotebookClient

from tests.processes import _environment

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    for name, value in _environment().items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(path, as_version=4)
    NotebookClient(
        book, timeout=240, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    pictures = [
        out for cell in book.cells for out in cell.get("outputs", ()) if "image" in str(out)
    ]
    assert bool(pictures) == path.stem.startswith(("03", "05"))
    assert [state["value"] for state in bars(book)] == {"02": [1.0]}.get(path.stem[:2], ANY)


def bars(book):
    """The states in which the bars of a notebook that has run were left."""
    kept = book.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    states = [each["state"] for each in kept.get("state", {}).values()]
    return [state for state in states if state.get("_model_name") == "FloatProgressModel"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def test_there_are_five():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05"]
