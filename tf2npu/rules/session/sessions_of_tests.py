"""Sessions of test cases."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU916",
    title="Test session",
    matches=("tensorflow.test.TestCase().test_session", "tensorflow.test.TestCase().session"),
    why="A test case makes its sessions itself; they run on the NPU once npu_bridge.npu_init is imported.",
    source="npu_bridge.npu_init: replaces Session.__init__ on import",
    examples=(
        Example.same(
            "class T(tf.test.TestCase):\n    def test(self):\n        with self.test_session() as s:\n            s.run(a)",
            level="info",
            write="import npu_bridge.npu_init\nimport tensorflow as tf\nclass T(tf.test.TestCase):\n"
            "    def test(self):\n        with self.test_session() as s:\n            s.run(a)",
        ),
        Example.same("class T(object):\n    def test(self):\n        self.test_session()", note="no TensorFlow test case"),
    ),
)
def test_session(call: Call) -> None:
    """Reports sessions of test cases in files that do not import npu_bridge."""
    is_imported = call.script.is_entry and call.script.config.is_enabled("NPU100")
    if "npu_bridge" not in call.script.text and not is_imported:
        call.info("This session runs on the NPU when npu_bridge.npu_init is imported before it is made.")
