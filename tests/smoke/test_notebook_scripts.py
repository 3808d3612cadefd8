"""The cells of a notebook become a script beside it."""

from __future__ import annotations

import json

from tf2npu.launch.notebook_script import started_for


def test_the_script_of_cells_stands_beside_a_notebook_whose_folder_has_a_blank_in_its_name(tmp_path):
    (tmp_path / "06 models").mkdir()
    cells = [{"cell_type": "code", "metadata": {}, "source": ["print(1)\n"], "outputs": [], "execution_count": None}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    (tmp_path / "06 models" / "a train.ipynb").write_text(json.dumps(notebook))
    script = started_for(tmp_path, "06 models/a train.ipynb")
    assert script == "06 models/a_train_cells.py" and "print(1)" in (tmp_path / script).read_text()
