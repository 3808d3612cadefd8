"""pyproject.toml lists packages one by one, so that nothing is installed under two names: the list is the tree's."""

from pathlib import Path

from npu_formats.toml_document import tomllib

ROOT = Path(__file__).parents[2]


def packages_below(folder: Path, name: str) -> set[str]:
    inits = (path.parent.relative_to(folder) for path in folder.rglob("__init__.py"))
    return {".".join((name, *inner.parts)) for inner in inits}


def test_the_listed_packages_are_those_of_the_tree():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    tool = packages_below(ROOT / "tf2npu", "tf2npu")
    installed_on_top = {name for name in tool if name.split(".")[1:2] in (["npu_bridge"], ["npu_device"], ["hccl"])}
    expected = tool - installed_on_top
    for name in ("npu_runtime", "npu_formats"):
        expected |= packages_below(ROOT / name, name)
    expected |= {name.removeprefix("tf2npu.") for name in installed_on_top}
    assert sorted(listed) == sorted(expected)
