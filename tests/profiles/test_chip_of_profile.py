"""The chip of a profile, whichever of its folders is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.profiles import trees
from tf2npu.profiles.reader import read_profile
from tf2npu.profiles.tree import profiles_in


def test_the_chip_is_named_where_the_profile_names_it(tmp_path):
    tree = trees.new_tree(tmp_path)
    facts = {"hwtype": "Ascend910B4-1", "DeviceInfo": [{"ai_core_num": 20, "aic_frequency": "1500"}]}
    (tree / "device_0" / "info.json.0").write_text(json.dumps(facts))
    found = read_profile(tree)
    assert (found.soc, found.chip.n_cores) == ("Ascend910B4-1", 20)


WAYS = {
    "the profile": ("PROF_1", ""),
    "the folder of profiles": ("out/PROF_1", ".."),
    "its tables": ("PROF_1", "mindstudio_profiler_output"),
    "a profile with another name": ("last_run", ""),
    "the tables of one": ("last_run", "mindstudio_profiler_output"),
}


def put_info(device: Path, number: int = 0) -> None:
    device.mkdir(parents=True, exist_ok=True)
    facts = {"hwtype": "Ascend910A", "DeviceInfo": [{"ai_core_num": 32, "aic_frequency": "1000"}]}
    (device / f"info.json.{number}").write_text(json.dumps(facts))


@pytest.mark.parametrize("way", WAYS)
def test_the_chip_is_named_whichever_folder_is_given(way, tmp_path):
    made = trees.new_tree(tmp_path)
    place, named = tmp_path / WAYS[way][0], WAYS[way][1]
    place.parent.mkdir(exist_ok=True)
    made.rename(place)
    put_info(place / "device_0")
    (found,) = profiles_in(place / named)
    assert read_profile(found).soc == "Ascend910A"


@pytest.mark.parametrize("named", ["", "device_0", "device_0/summary"])
def test_the_chip_of_an_earlier_release_is_named_whichever_folder_is_given(named, tmp_path):
    made = tmp_path / "PROF_1"
    trees.put(made / "device_0" / "summary" / "op_summary_0_1_1.csv", trees.OLD, trees.tasks_of(trees.OLD))
    put_info(made / "device_0")
    (found,) = profiles_in(made / named)
    assert read_profile(found).soc == "Ascend910A"


def test_the_chip_is_named_where_tables_number_the_device_anew(tmp_path):
    made = trees.new_tree(tmp_path)
    for path in made.rglob("info.json.*"):
        path.unlink()
    put_info(made / "device_4", 4)
    assert read_profile(made).soc == "Ascend910A"
