"""Each statement that TensorFlow lacks a name is held against both: 1.15, whose attributes were recorded, and 2.15, imported.

The recording: `python -m tests.converter_oracle.test_names_said_to_be_gone > NAMES`, and
`PYTHON_OF_1_15 tools/attribute_inventory.py NAMES > tests/fixtures/names/attributes_1_15.tsv`.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from tests.one_item import together
from tf2npu.api_support.table import table
from tf2npu.engine.convert_file import convert_source
from tf2npu.frameworks.registry import known
from tf2npu.frameworks.tensorflow1.tensorflow2_names import TENSORFLOW_2_NAMES
from tf2npu.rules.outdated.contrib_gone import GONE_MODULES
from tf2npu.rules.outdated.older_tensorflow import OLD_NAMES

RECORDED = Path(__file__).parents[1] / "fixtures" / "names" / "attributes_1_15.tsv"
PRIVATE = Path(__file__).parents[2] / "tools" / "api_table" / "tensorflow_1_15_private.tsv"
NOT_IN_1_15 = sorted({*OLD_NAMES, *GONE_MODULES, *TENSORFLOW_2_NAMES})
"""Names of which rules say that 1.15 has them not."""
IN_NEITHER = re.compile(r"Neither TensorFlow 1\.15 nor 2\.15 has tf\.([\w.]+):")


def public_modules() -> list[str]:
    return sorted(name for name in table().modules if known().is_fully_known(name))


def asked_for() -> list[str]:
    """Names to be recorded: the public modules, and the owners of the names that 1.15 lacks."""
    owners = {name.replace("()", "").rpartition(".")[0] for name in NOT_IN_1_15}
    return sorted({*public_modules(), *owners})


@lru_cache(maxsize=1)
def attributes_of_1_15() -> dict[str, frozenset[str]]:
    with RECORDED.open(encoding="utf-8", newline="") as file:
        return {row[0]: frozenset(row[1].split()) for row in csv.reader(file, delimiter="\t")}


def said_of(code: str) -> set[str]:
    """The names of which a conversion says that neither release has them."""
    findings = convert_source(f"import tensorflow as tf\n{code}", "m.py").findings
    return {found[1] for finding in findings if (found := IN_NEITHER.match(finding.message))}


ATTRIBUTES = """
import json, sys, types
import tensorflow, tensorflow.compat.v1
found = {}
for module in sys.argv[1:]:
    names = found[module] = set()
    for there in (tensorflow, tensorflow.compat.v1):
        for part in module.split(".")[1:]:
            there = getattr(there, part, None)
        if isinstance(there, types.ModuleType):
            names.update(name for name in dir(there) if not name.startswith("_"))
print(json.dumps({module: sorted(names) for module, names in found.items()}))
"""
"""In a process of its own: other tests give TensorFlow names of 1.15 back."""


@lru_cache(maxsize=1)
def attributes_of_2_15() -> dict[str, list[str]]:
    """Attributes of each module under `import tensorflow` of 2.15, and of its names of version 1."""
    command = [sys.executable, "-c", ATTRIBUTES, *public_modules()]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@together("name", NOT_IN_1_15)
def test_1_15_lacks_what_a_rule_says_it_lacks(name: str) -> None:
    owner, _, last = name.replace("()", "").rpartition(".")
    assert last not in attributes_of_1_15().get(owner, ())


@together("module", public_modules())
def test_no_attribute_of_either_release_is_said_to_be_in_neither(module: str) -> None:
    """Of a name a line: modules that scripts reach, packages' own parts among them."""
    short = module.replace("tensorflow", "tf", 1)
    there = {*attributes_of_1_15().get(module, ()), *attributes_of_2_15()[module]}
    lines = (f"use({short}.{name})\n" for name in sorted(there) if name.isidentifier() and not name.startswith("_"))
    assert said_of("".join(lines)) == set()


@pytest.mark.whole
def test_no_name_of_a_module_of_its_own_is_said_to_be_in_neither() -> None:
    """Under tensorflow.python 1.15 has thousands of names, some of which the converter knows by a public one's path."""
    rows = [line.split("\t") for line in PRIVATE.read_text(encoding="utf-8").splitlines()]
    code = []
    for n, (module, names) in enumerate(row for row in rows if len(row) == 2):
        code += [f"from {module} import {name} as n{n}_{i}\nuse(n{n}_{i})\n" for i, name in enumerate(names.split())]
        package, _, last = module.rpartition(".")
        code += [f"from {package} import {last} as m{n}\n", *(f"use(m{n}.{name})\n" for name in names.split())]
    said = {name for start in range(0, len(code), 4000) for name in said_of("".join(code[start : start + 4000]))}
    assert said == set()


@pytest.mark.parametrize(
    "code",
    [
        "from tensorflow.core.protobuf import config_pb2\nuse(config_pb2.ThreadPoolOptionProto())",
        "from tensorflow.core.protobuf.config_pb2 import CallableOptions\nuse(CallableOptions())",
        "import tensorflow.python.ops.math_ops\nuse(tensorflow.python.ops.math_ops.resource_variable_ops)",
        "use(tf.python.ops.nn_ops.nn_impl)",
        "from tensorflow.python.ops.array_ops import *\nuse(tf.boolean_mask)",
    ],
)
def test_what_a_module_of_its_own_only_imports_is_there_too(code: str) -> None:
    assert said_of(code) == set()


def test_a_name_of_no_release_is_still_told_beside_an_import_of_another() -> None:
    assert said_of("from tensorflow.python.ops import math_ops\nuse(math_ops.cast, tf.nn.l2_norm)") == {"nn.l2_norm"}


if __name__ == "__main__":
    print("\n".join(asked_for()))
