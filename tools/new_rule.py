"""Writes the file of a new rule, and says what else to do: `make new-rule NAME=lrn TOPIC=ops MATCH=tensorflow.nn.lrn`.

The file is complete enough that its examples pass; what is to be said is written over. docs/adding_a_rule.md has the whole way.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tf2npu.rules import all_rules

RULES = Path(__file__).parents[1] / "tf2npu" / "rules"
# The first digit of an id for each topic. Rules with 9 only report; they stand in the topic that they are about.
FAMILIES = {
    "session": "1", "estimator": "2", "keras": "3", "distributed": "4", "ops": "5", "input": "6", "device": "7",
    "names": "9", "outdated": "9",
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*$")
_ID = re.compile(r"NPU([1-7]|9)\d\d$")
_API = re.compile(r"\w+(\.\w+(\(\))?)+$")

SKELETON = '''"""{title}."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="{id}",
    title="{title}",
    matches=("{api}",),
    why="Say in one sentence why this does not do on the NPU what the script expects.",
    source="Name the guide, the release note or the code that says so",
    examples=(
        Example.same("y = {short}(x)", level="manual", write="y = x  # what a person writes in its place"),
        Example.same("y = {last}(x)", note="not TensorFlow's"),
        Example.same("y = my.{last}(x)", note="the user's own"),
    ),
)
def {name}(call: Call) -> None:
    """Reports calls of {short}."""
    call.manual("Say what to write in the place of {short}.")
'''

NEXT = """{path} is written as {id}.
1. Fill in title, why, source, examples and the function; docs/adding_a_rule.md says how.
2. Until it is right: pytest tests/converter/test_rule_examples.py tests/converter_detectors/test_descriptions.py -k {id}
3. make regen   writes docs/generated, the API table, and a line with no text for each new sentence in zh.json.
4. Write the Chinese texts: the lines of tf2npu/report/locale/zh.json that end in "".
5. tf2npu/report/effort.csv: the line  {id},{name},CLASS,MINUTES,MINUTES,judged: what a person does   (docs/report_effort.md)
6. Golden conversions that hold the API change: pytest tests/converter --regen, and read the difference.
7. ruff format . && make quick
"""


class Refused(Exception):
    """The rule cannot be made as it was asked for."""


def topic_and_id(topic: str | None, rule_id: str | None) -> tuple[str, str]:
    """The topic and the id of a new rule, of which one may be left out.

    Raises: Refused where they do not go together, the id is in use, or the topic is not told.
    """
    if rule_id is not None and not _ID.match(rule_id):
        raise Refused(f"{rule_id} is no id of a rule: write NPU, a digit of the topic (1 to 7, or 9) and two more")
    if topic is not None and topic not in FAMILIES:
        raise Refused(f"{topic} is no topic: say TOPIC=, one of: {', '.join(FAMILIES)}")
    if topic is None and (rule_id is None or rule_id[3] == "9"):
        raise Refused(f"say TOPIC=, one of: {', '.join(FAMILIES)}")
    if topic is None and rule_id is not None:
        topic = next(name for name, family in FAMILIES.items() if family == rule_id[3])
    taken = {rule.id for rule in all_rules()}
    rule_id = rule_id or next_id(FAMILIES[str(topic)], taken)
    if rule_id in taken:
        raise Refused(f"{rule_id} is in use; {next_id(rule_id[3], taken)} is free")
    if rule_id[3] not in ("9", FAMILIES[str(topic)]):
        raise Refused(f"{rule_id} does not belong to {topic}: its ids are NPU{FAMILIES[str(topic)]}xx, or NPU9xx for reports")
    return str(topic), rule_id


def next_id(family: str, taken: set[str]) -> str:
    """The id behind the last one of a family.

    Raises: Refused where the family is full.
    """
    last = max((int(rule_id[3:]) for rule_id in taken if rule_id.startswith(f"NPU{family}")), default=int(family) * 100)
    if (last + 1) // 100 != int(family):
        raise Refused(f"no id is free behind NPU{last}: choose one with ID=")
    return f"NPU{last + 1}"


def written(name: str, topic: str, rule_id: str, api: str, folder: Path) -> Path:
    """The file of the rule, which is written here.

    Raises: Refused for a name that cannot be one of a function, an API that is no dotted name, or a file that is there.
    """
    if not name:
        raise Refused("say NAME=, the name of the file and the function, as in NAME=fractional_pooling")
    if not _NAME.match(name):
        raise Refused(f"{name!r} is no name of a rule: write it like fractional_pooling")
    if not _API.match(api):
        raise Refused(f"{api!r} is no qualified name: write it like tensorflow.nn.lrn or tensorflow.data.Dataset().map")
    path = folder / topic / f"{name}.py"
    if path.exists():
        raise Refused(f"{path} is there already")
    short = api.replace("tensorflow.", "tf.", 1)
    title = name.replace("_", " ").capitalize()
    path.write_text(SKELETON.format(id=rule_id, title=title, api=api, short=short, last=api.rpartition(".")[2], name=name))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the file of a new rule.")
    parser.add_argument("name", nargs="?", default="", help="name of the file and the function, such as fractional_pooling")
    parser.add_argument("--id", help="such as NPU512; without it the next free one of the topic")
    parser.add_argument("--topic", help=f"folder of the rule, of {', '.join(FAMILIES)}; told by the id, but for NPU9xx")
    parser.add_argument("--match", default="", help="qualified name that it looks for (default: tensorflow.NAME)")
    parser.add_argument("--folder", type=Path, default=RULES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    try:
        topic, rule_id = topic_and_id(asked.topic, asked.id)
        path = written(asked.name, topic, rule_id, asked.match or f"tensorflow.{asked.name}", asked.folder)
    except Refused as refused:
        sys.exit(f"new_rule: {refused}")
    print(NEXT.format(path=path, id=rule_id, name=asked.name), end="")


if __name__ == "__main__":
    main()
