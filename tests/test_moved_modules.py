"""`tools/move_modules.py`: what names a module that moves names its new place afterwards, and nothing else changes."""

import ast

import pytest

from tools.move_modules import with_moved_imports, with_moved_names

MOVES = {"house.attic.box": "house.cellar.crate", "house.lamp": "house.hall.lamp"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from house import lamp, stairs\n\nlamp.on()\n",
         "from house.hall import lamp\nfrom house import stairs\n\nlamp.on()\n"),
        ("from house.attic import box\n\nbox.open(box.lid)\n",
         "from house.cellar import crate\n\ncrate.open(crate.lid)\n"),
        ("from house.attic import box as b\n\nb.open()\n",
         "from house.cellar import crate as b\n\nb.open()\n"),
        ("def late():\n    from house.attic import box, rope\n\n    return box.open(), rope\n",
         "def late():\n    from house.cellar import crate\n    from house.attic import rope\n\n    return crate.open(), rope\n"),
        ("from house.attic import box\n\ndef other(box):\n    return box\n",
         "from house.cellar import crate\n\ndef other(box):\n    return box\n"),
        ("from garden import lamp\nfrom house.attic.box import lid\n",
         "from garden import lamp\nfrom house.attic.box import lid\n"),
    ],
)  # fmt: skip
def test_an_import_from_a_package_names_the_new_package_and_its_uses_the_new_name(before, after):
    written = with_moved_imports(before, MOVES)
    assert written == after
    ast.parse(written)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import house.attic.box", "import house.cellar.crate"),
        ("from house.attic.box import lid", "from house.cellar.crate import lid"),
        ('set("house.lamp.WATT", 40)', 'set("house.hall.lamp.WATT", 40)'),
        ("see `house/attic/box.py:12`", "see `house/cellar/crate.py:12`"),
        ("house.lampshade, warehouse.lamp, my/house/lamp.py", "house.lampshade, warehouse.lamp, my/house/lamp.py"),
    ],
)
def test_a_dotted_name_or_a_path_moves_where_it_is_whole(before, after):
    assert with_moved_names(before, MOVES) == after
