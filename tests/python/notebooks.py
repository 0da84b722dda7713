#!/usr/bin/env python3
"""Executes notebooks, and with --write keeps what their cells print: a cell that fails, fails here.

    notebooks.py [--write] NOTEBOOK...
"""

import argparse
import pathlib
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--write", action="store_true")
parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
arguments = parser.parse_args()
failed = []
for path in arguments.notebooks:
    notebook = nbformat.read(path, as_version=4)
    try:
        NotebookClient(notebook, timeout=600, record_timing=False).execute()
    except CellExecutionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        failed.append(path)
        continue
    shown = sum(1 for cell in notebook.cells if cell.cell_type == "code" and cell.outputs)
    print(f"{path}: {shown} cells with outputs")
    if arguments.write:
        notebook.metadata.pop("widgets", None)
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, path)
sys.exit(1 if failed else 0)
