"""The texts of public scripts as files of a tree: notebooks and documents become scripts, and numbers of steps become small."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

_LENGTHS = re.compile(
    r"(?i)(\b(?:\w*(?:epochs?|iters?|iterations|n_steps|\w+_steps|num_steps|_step|max_episodes|train_steps))\s*=\s*)(\d+)(?=\s*[,)\n#;])"
)
"""A number that a name or an argument gets by which scripts say how long they train."""
_RANGES = re.compile(r"(?<![\w.])(range\()(\d{2,})(\s*\))")
"""A loop over so many numbers: scripts that spell out their epochs have it. Ranges of TensorFlow are often data."""
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)
_BLOCK = re.compile(r"```python\s*\n(.*?)```", re.DOTALL)
N_STEPS = 2


def copy_tree(source: Path, target: Path) -> list[str]:
    """Copy a repository with shortened scripts, and with scripts of its notebooks and documents; the paths of all scripts."""
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git", "*.png", "*.gif", "*.mp4"))
    for path in sorted(target.rglob("*.ipynb")):
        _write(path.with_suffix(".ipynb.py"), _of_notebook(path))
        path.unlink()
    for path in sorted(target.rglob("*.md")):
        blocks = _BLOCK.findall(path.read_text(errors="replace"))
        if blocks:
            _write(path.with_suffix(".md.py"), "\n".join(blocks))
    for path in sorted(target.rglob("*.py")):
        path.write_text(shortened(path.read_text(errors="replace")))
    return sorted(str(path.relative_to(target)) for path in target.rglob("*.py"))


def _write(path: Path, text: str) -> None:
    path.write_text(_MAGIC.sub("", text))


def _of_notebook(path: Path) -> str:
    try:
        cells = json.loads(path.read_text()).get("cells", [])
    except ValueError:
        return ""
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell.get("cell_type") == "code") + "\n"


def shortened(text: str) -> str:
    """A script's text that trains a few steps only."""
    text = _LENGTHS.sub(lambda found: f"{found[1]}{min(int(found[2]), N_STEPS)}", text)
    return _RANGES.sub(lambda found: f"{found[1]}{min(int(found[2]), 10)}{found[3]}", text)
