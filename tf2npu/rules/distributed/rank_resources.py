"""Resources that all ranks of distributed training share: started by the entry script and released in the end."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.start.npu_start import bracket_entry, wants_keras_session, wants_resources
from tf2npu.scanner.sites import Site

_TF = Config(distributed="tf")


@rule(
    id="NPU419",
    title="Resources of all ranks",
    on="module",
    why="Ranks find each other when the NPU's resources are started, which has to be before anything asks for a rank.",
    source="npu_bridge.npu_init.init_resource, shutdown_resource, close_session",
    examples=(
        Example(
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\nif __name__ == '__main__':\n"
            "    e.train(input_fn, hooks=npu_hooks_append())",
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\nif __name__ == '__main__':\n"
            "    npu_sess, npu_shutdown = init_resource()\n    try:\n"
            "        e.train(input_fn, hooks=npu_hooks_append())\n    finally:\n"
            "        shutdown_resource(npu_sess, npu_shutdown)\n        close_session(npu_sess)",
            config=Config(distributed="tf", select=frozenset({"NPU419"})),
        ),
        Example.same("if __name__ == '__main__':\n    print(tf.__version__)", note="does not train", config=_TF),
        Example.same("def train(e):\n    e.train(input_fn)", note="one device"),
    ),
)
def resources_of_all_ranks(site: Site) -> None:
    """Starts the NPU's resources in the entry script of distributed training and releases them whatever happens."""
    if site.script.config.distributed == "tf" and wants_resources(site.script):
        bracket_entry(site, True, wants_keras_session(site.script))
        if not site.fix.changes:
            return
        site.fixed("The NPU's resources are started here and released when the run is over.")
