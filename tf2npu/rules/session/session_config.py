"""Configs of sessions, which get the NpuOptimizer entry."""

from __future__ import annotations

import libcst as cst

from tf2npu.config import Config, Target
from tf2npu.frameworks.tensorflow1.adapter_names import NPU_INIT
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.sessions.session_config_2021 import guide_session, has_entry, written_out
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.rules.facts.written_code import mixed_computing
from tf2npu.scanner.sites import Call, Site

_POSITION = {
    "tensorflow.Session": 2,
    "tensorflow.InteractiveSession": 2,
    "tensorflow.train.MonitoredTrainingSession": 9,
    "tensorflow.train.Supervisor().managed_session": 1,
    "tensorflow.train.Supervisor().prepare_or_wait_for_session": 1,
    "tensorflow.train.Supervisor().PrepareSession": 1,
    "tensorflow.train.SessionManager().prepare_session": 7,
    "tensorflow.train.SessionManager().recover_session": 6,
    "tensorflow.train.SessionManager().wait_for_session": 1,
    "tensorflow.train.ChiefSessionCreator": 2,
    "tensorflow.train.WorkerSessionCreator": 2,
    "tensorflow.train.SingularMonitoredSession": 3,
    "tensorflow.contrib.slim.learning.train": None,
    "tensorflow.contrib.slim.evaluation.evaluate_once": None,
    "tensorflow.contrib.slim.evaluation.evaluation_loop": None,
    "tensorflow.contrib.training.train": None,
    "tensorflow.contrib.training.evaluate_once": None,
    "tensorflow.contrib.training.evaluate_repeatedly": None,
    "tensorflow.contrib.predictor.from_saved_model": 7,
    "tensorflow.contrib.predictor.from_estimator": 4,
    "tensorflow.contrib.predictor.from_contrib_estimator": 4,
}
_PARTIAL = "functools.partial"
_MIXED = "mix_compile_mode"
_KEYWORD = {name: "session_config" for name in _POSITION if name.startswith("tensorflow.contrib.slim.")}


@rule(
    id="NPU101",
    title="Session config",
    matches=tuple(_POSITION),
    why="A session runs on the NPU only when its config names the NpuOptimizer; without it the graph stays on the host CPU.",
    done_when="The summary of `tf2npu run` names no session on TensorFlow that was made at this line.",
    source="npu_bridge.npu_init.npu_config_proto; positions from the signatures of TensorFlow 1.15",
    examples=(
        Example("s = tf.Session()", "s = tf.Session(config=npu_config_proto())"),
        Example("s = tf.Session('', g, cfg)", "s = tf.Session('', g, npu_config_proto(cfg))"),
        Example(
            "s = tf.train.MonitoredTrainingSession(checkpoint_dir='d', config=cfg)",
            "s = tf.train.MonitoredTrainingSession(checkpoint_dir='d', config=npu_config_proto(cfg))",
        ),
        Example(
            "def f(c):\n    kw = {'config': c, 'graph': g}\n    return tf.Session(**kw)",
            "def f(c):\n    kw = {'config': npu_config_proto(c), 'graph': g}\n    return tf.Session(**kw)",
        ),
        Example(
            "p = tf.contrib.predictor.from_saved_model('d')",
            "p = tf.contrib.predictor.from_saved_model('d', config=npu_config_proto())",
        ),
        Example.same("s = tf.Session(**kw)", note="the config may be inside kw", level="info"),
        Example(
            "s = tf.Session()",
            "npu_config = tf.ConfigProto()\n"
            "npu_optimizer = npu_config.graph_options.rewrite_options.custom_optimizers.add()\n"
            'npu_optimizer.name = "NpuOptimizer"\n'
            "npu_config.graph_options.rewrite_options.remapping = RewriterConfig.OFF\n"
            "npu_config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF\n"
            "s = tf.Session(config=npu_config)",
            config=Config(target=Target(adapter="2021")),
        ),
        Example.same("s = tf.Session(config=npu_config_proto(c))", note="done already"),
        Example.same("import requests\ns = requests.Session()", note="another library's Session"),
    ),
)
def session_config(call: Call) -> None:
    """Passes `npu_config_proto(config)` as the config of a session."""
    keyword = _KEYWORD.get(call.name, "config")
    if call.script.config.target.adapter == "2021":
        return guide_session(call, keyword, _POSITION[call.name], tuple(_POSITION))
    if call.has_unknown_args:
        return _not_seen(call, keyword)
    if call.script.path in tensorflow_in(call.script.project).mixed_sessions and _mixes(call, keyword, _POSITION[call.name]):
        return None
    _put_on_npu(call, keyword, call.arg(keyword, _POSITION[call.name]) or call.spread_arg(keyword))


def _mixes(call: Call, keyword: str, position: int | None) -> bool:
    """Leave ops of the graph to the host, and whether that is all there is to do here."""
    is_on_npu = has_entry(call, keyword, position)
    if not is_on_npu and written_out(call, keyword, position, tuple(_POSITION), (_MIXED,)):
        call.fixed(
            "The session got a config that runs its graph on the NPU. Python functions, tables, readers and sparse ops stay on "
            "the host (mix_compile_mode=True). Nothing is left to do."
        )
        return True
    if _MIXED not in call.script.text:
        call.manual(
            "This session's graph has Python functions, tables, readers or sparse ops. An NPU leaves them to the host with "
            "mix_compile_mode=True alone. Set that option in the session's config.",
            mixed_computing(call),
        )
    return is_on_npu


def _not_seen(call: Call, keyword: str) -> None:
    call.need_adapter(NPU_INIT)
    call.info(
        f"The config may come out of *args or **kwargs: pass {keyword}=npu_config_proto(...) by hand. "
        "Importing npu_bridge.npu_init covers this session as well."
    )


def _put_on_npu(call: Call, keyword: str, config: cst.Arg | None) -> None:
    """Pass `npu_config_proto(config)`."""
    if config is None:
        wrapper = call.need("npu_config_proto")
        call.add_keyword(f"{keyword}={wrapper}()")
        return call.fixed(
            "The session got the config npu_config_proto(), by which it runs its graph on the NPU. Nothing is left to do."
        )
    if is_npu_config(call, config.value):
        return None
    wrapper = call.need("npu_config_proto")
    if call.resolve(config.value) == "None":
        call.replace(config.value, f"{wrapper}()")
    else:
        call.wrap_in_call(config.value, wrapper)
    return call.fixed(
        "The session's config now comes from npu_config_proto(), which keeps your other settings: the session runs its graph "
        "on the NPU. Nothing is left to do."
    )


@part_of(
    session_config,
    matches=("tensorflow.train.MonitoredSession",),
    why="Without a session creator its config is made inside, where the adapter of 2021 does not reach it.",
    source="tf.train.MonitoredSession of TensorFlow 1.15: ChiefSessionCreator by default",
    examples=(
        Example.same("s = tf.train.MonitoredSession()", note="the import covers it"),
        Example.same("s = tf.train.MonitoredSession()", level="manual", config=Config(target=Target(adapter="2021"))),
    ),
)
def monitored_session(call: Call) -> None:
    """Reports a monitored session that makes its config itself, for the adapter that does not patch sessions."""
    creator = call.value("session_creator", 0)
    if call.script.config.target.adapter == "2021" and (creator is None or call.resolve(creator) == "None"):
        call.manual("It makes its config itself: pass session_creator=tf.train.ChiefSessionCreator(config=npu_config_proto()).")


_CLASSES = tuple(
    name
    for name in _POSITION
    if name.rpartition(".")[2][0].isupper() and "()" not in name and not name.endswith("TrainingSession")
)
_PASSED_ON = "The session class is passed on, chosen or extended here: pass config=npu_config_proto(...) where it is called."
_AND_COVERED = (
    "The session class is passed on, chosen or extended here: pass config=npu_config_proto(...) where it is called. Importing "
    "npu_bridge.npu_init covers its sessions as well."
)


@part_of(
    session_config,
    matches=tuple(f"{name}.__init__" for name in _CLASSES),
    why="The base class makes the session; the config it gets must put it on the NPU.",
    source="npu_bridge.npu_init.npu_config_proto",
    examples=(
        Example(
            "class My(tf.Session):\n    def __init__(self, c):\n        super().__init__(config=c)",
            "class My(tf.Session):\n    def __init__(self, c):\n        super().__init__(config=npu_config_proto(c))",
        ),
        Example(
            "class A(tf.Session):\n    def __init__(self):\n        tf.Session.__init__(self, 'm')",
            "class A(tf.Session):\n    def __init__(self):\n        tf.Session.__init__(self, 'm', config=npu_config_proto())",
        ),
        Example.same(
            "class My(tf.Session):\n    def __init__(self, *args):\n        super().__init__(*args)",
            note="the config may be in args",
            level="info",
        ),
        Example.same("class My(Base):\n    def __init__(self, c):\n        super().__init__(config=c)", note="not TensorFlow's"),
    ),
)
def session_subclass(call: Call) -> None:
    """Wraps the config that a class of one's own hands to the session class it extends."""
    is_explicit = not isinstance(call.node.func, cst.Attribute) or not isinstance(call.node.func.value, cst.Call)
    position = (_POSITION[call.name.removesuffix(".__init__")] or 0) + is_explicit
    if call.script.config.target.adapter == "2021":
        return guide_session(call, "config", position, tuple(f"{name}.__init__" for name in _CLASSES))
    if call.has_unknown_args:
        return _not_seen(call, "config")
    return _put_on_npu(call, "config", call.arg("config", position) or call.spread_arg("config"))


@part_of(
    session_config,
    matches=(_PARTIAL,),
    why="What functools.partial makes opens a session with the config that is given here.",
    source="npu_bridge.npu_init.npu_config_proto; functools.partial",
    examples=(
        Example(
            "import functools\nimport tensorflow as tf\nmake = functools.partial(tf.Session, config=c)",
            "import functools\nfrom npu_bridge.npu_init import npu_config_proto\nimport tensorflow as tf\n"
            "make = functools.partial(tf.Session, config=npu_config_proto(c))",
        ),
        Example.same(
            "import functools\nimport tensorflow as tf\nmake = functools.partial(tf.Session, graph=g)",
            note="the config may come with the call",
            level="info",
        ),
        Example.same("import functools\nmake = functools.partial(Session, config=c)", note="not TensorFlow's"),
    ),
)
def session_partial(call: Call) -> None:
    """Wraps the config that functools.partial keeps for a session."""
    made = call.resolve(call.args[0].value) if call.args and not call.args[0].star else None
    if made not in _POSITION:
        return None
    keyword, position = _KEYWORD.get(made, "config"), _POSITION[made]
    position = None if position is None else position + 1
    config = call.arg(keyword, position) or call.spread_arg(keyword)
    if config is None or call.has_unknown_args:
        return _report_class(call)
    if call.script.config.target.adapter == "2021":
        return guide_session(call, keyword, position, (_PARTIAL,))
    return _put_on_npu(call, keyword, config)


@part_of(
    session_config,
    on="reference",
    matches=(*_CLASSES, "tensorflow.train.MonitoredTrainingSession"),
    why="A session class that is passed on, chosen or extended is called somewhere else, with a config that is not seen here.",
    source="npu_bridge.npu_init.npu_config_proto",
    examples=(
        Example.same("make = tf.Session if plain else tf.InteractiveSession", note="one is chosen", level="info"),
        Example.same("class Mine(tf.Session):\n    pass", note="a class of its own", level="info"),
        Example.same("def f(make=tf.Session):\n    return make()", note="a default", level="info"),
        Example.same("ok = isinstance(s, tf.Session)", note="only asked for"),
        Example.same("def train(s: tf.Session):\n    s.run(x)", note="an annotation"),
        Example.same("run = tf.Session.run", note="one of its methods"),
    ),
)
def session_reference(site: Site) -> None:
    """Reports a session class that is not called but passed on, chosen or extended, and imports what covers its sessions."""
    statement = passed_on(site)
    if statement is None or _is_looked_at_elsewhere(site, statement):
        return
    _report_class(site)


def _is_looked_at_elsewhere(site: Site, statement: cst.CSTNode) -> bool:
    """Whether the call that gets the class, or that of its `__init__` in the class that extends it, is looked at by itself."""
    script = site.script
    arg = script.walked.parents.get(id(site.node))
    call = script.walked.parents.get(id(arg)) if isinstance(arg, cst.Arg) else None
    if isinstance(call, cst.Call) and call.args[0] is arg and site.resolve(call.func) == _PARTIAL:
        return True
    inside = script.calls_in(*script.tree.span(statement)) if isinstance(statement, cst.ClassDef) else ()
    return any(script.name_of(node.func, scope) == f"{site.name}.__init__" for node, scope in inside)


def _report_class(site: Site) -> None:
    if site.script.config.target.adapter == "2021":
        return site.manual(_PASSED_ON)
    site.need_adapter(NPU_INIT)
    return site.info(_AND_COVERED)


def is_npu_config(call: Call, value: object) -> bool:
    """Whether a config expression is already made by npu_config_proto."""
    while isinstance(value, cst.Call):
        name = call.resolve(value.func)
        if isinstance(value.func, cst.Name) and value.func.value == "npu_config_proto":
            return True  # imported in a way that is not seen
        if name == "npu_bridge.npu_init.npu_config_proto":
            return True
        value = value.args[0].value if value.args and name is None else None
    return False
