"""Functions that nothing in a project names: work in them is a remark, and whatever may reach them keeps it work."""

from __future__ import annotations

import pytest

from tests.converter.test_foreign_projects import findings
from tests.how_many import some

TRAIN = "import tensorflow as tf\nimport net\nif __name__ == '__main__':\n    tf.Session().run(net.loss(1))\n"
UNUSED = "import tensorflow as tf\n\n\ndef loss(x):\n    return x\n\n\ndef norm(x):\n    return tf.nn.l2_norm(x)\n"
METHOD = (
    "import tensorflow as tf\nfrom base import Layer\n\n\ndef loss(x):\n    return Edge()\n\n\nclass Edge(Layer):\n"
    "    def norm(self):\n        return tf.nn.l2_norm(self.x)\n"
)
CALLED = {
    "called": {"train.py": f"{TRAIN}    net.norm(1)\n"},
    "handed on": {"train.py": f"{TRAIN}    f = net.norm\n"},
    "imported": {"other.py": "from net import norm\n"},
    "named by a text": {"other.py": "NAMES = ['norm']\n"},
    "reached by a name that is put together": {"other.py": "import net\ndef pick(name):\n    return getattr(net, name)\n"},
    "in a file that no Python reads": {"other.py": "import net\nif x\n"},
    "installed for others": {"setup.py": "from setuptools import setup\nsetup(name='net')\n"},
    "decorated": {"net.py": UNUSED.replace("def norm", "@register\ndef norm")},
    "defined again where it may be called": {"other.py": "class A(Unknown):\n    def norm(self):\n        pass\n"},
    "a method of a class of another package": {"net.py": METHOD},
    "a method that TensorFlow calls": {
        "net.py": METHOD.replace("norm(self)", "call(self)"),
        "base.py": "class Layer:\n    pass\n",
    },
}
"""A reason why `norm` of net.py may be called -> the files that differ from TRAIN and UNUSED."""


def levels(files: dict[str, str]) -> list[str]:
    return [finding.level.value for finding in findings({"train.py": TRAIN, "net.py": UNUSED} | files, "net.py", "NPU970")]


def test_work_in_a_function_that_nothing_names_is_a_remark():
    (found,) = findings({"train.py": TRAIN, "net.py": UNUSED}, "net.py", "NPU970")
    assert found.level.value == "info" and found.message.startswith("Nothing in this project calls norm.")


def test_so_is_work_in_a_method_of_a_class_of_the_project():
    assert levels({"net.py": METHOD, "base.py": "class Layer:\n    pass\n"}) == ["info"]


@pytest.mark.parametrize("why", some(CALLED))
def test_what_may_be_called_stays_work(why: str):
    assert levels(CALLED[why]) == ["manual"]


def test_a_file_that_no_entry_script_needs_is_left_as_it_is():
    assert levels({"train.py": "import tensorflow as tf\ntf.Session().run(1)\n"}) == ["manual"]


def test_code_that_keeps_python_from_reading_the_file_stays_work():
    source = UNUSED.replace("    return tf.nn.l2_norm(x)", "    if (y := x):\n        return y")
    assert [f.level.value for f in findings({"train.py": TRAIN, "net.py": source}, "net.py", "NPU950")] == ["unsupported"]


def test_a_default_is_computed_when_the_file_is_loaded():
    source = UNUSED.replace("norm(x):\n    return tf.nn.l2_norm(x)", "norm(x=tf.nn.l2_norm(1)):\n    return x")
    assert levels({"net.py": source}) == ["manual"]
