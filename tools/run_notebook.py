"""Runs a notebook and keeps its outputs in the file: `python tools/run_notebook.py notebooks/tour.ipynb`."""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

LANGUAGE = {"name": "python"}  # and not which version happened to run it


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a run in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=600, record_timing=False, resources={"metadata": {"path": folder}})
        client.execute()
    notebook.metadata["language_info"] = LANGUAGE
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(run(Path(name)), name)
