"""The facts about TensorFlow in all files of a tree together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tf2npu.frameworks.base import Edges, ProjectPart
from tf2npu.frameworks.config_flow import ConfigFlow, Place
from tf2npu.frameworks.tensorflow1.config_pairs import ModuleFinder, paired_calls
from tf2npu.frameworks.tensorflow1.file_facts import HAS_ESTIMATOR, NEEDS_NPU_BRIDGE, RUNS_KERAS, USES_KERAS_NET, dialect
from tf2npu.frameworks.tensorflow1.load_order import files_with_old_names, packages_run_first
from tf2npu.frameworks.tensorflow1.mixed_computing import mixed_files
from tf2npu.frameworks.tensorflow1.names import belong_to_tensorflow
from tf2npu.frameworks.tensorflow1.project_dialects import ToldDialects, told_dialects
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.import_graph import importers_of
from tf2npu.scanner.project_facts import ProjectFacts

NAME = "tensorflow1"


@dataclass
class TensorFlowProject(ProjectPart):
    """Files of a tree by what they do with TensorFlow."""

    of_tensorflow: frozenset[str] = frozenset()  # files with a part in it: they reach it, Horovod's or the NPU's part for it, or
    # are reached by one that imports TensorFlow
    keras_nets: frozenset[str] = frozenset()  # files that use a Keras model, directly or through the project
    dialects: ToldDialects = field(default_factory=ToldDialects)  # files that belong to scripts for TensorFlow 2
    with_old_names: frozenset[str] = frozenset()  # files whose import needs what npu_bridge has back, theirs or one's they import
    run_first: frozenset[str] = frozenset()  # of these, files of packages that are run before an entry script
    mixed_sessions: frozenset[str] = frozenset()  # files that make sessions of graphs with ops for the host
    mixed_graphs: frozenset[str] = frozenset()  # files that make these graphs
    config_pairs: dict[str, frozenset[Place]] = field(default_factory=dict)  # file -> RunConfigs and Estimators that meet

    def begin(self, project: ProjectFacts, edges: Edges) -> None:
        """Find what imports tell."""
        files = project.files
        others = {p for p, f in files.items() if _belongs_to_tensorflow(f)}
        self.of_tensorflow = project.reach[NAME].reached | importers_of(others, edges)
        nets, runs = ({p for p, f in files.items() if flag in f.flags} for flag in (USES_KERAS_NET, RUNS_KERAS))
        inside = importers_of({p for p, f in files.items() if HAS_ESTIMATOR in f.flags}, edges) - importers_of(runs, edges)
        self.keras_nets = importers_of(nets, edges) - inside  # an Estimator runs the models it is made of itself
        self.dialects = told_dialects(files, edges)
        self.mixed_sessions, self.mixed_graphs = mixed_files(files, edges)

    def finish(self, project: ProjectFacts, edges: Edges) -> None:
        """Find what entry scripts run first, and which configs meet their Estimators."""
        self.with_old_names = files_with_old_names(project.files, project.run_by)
        self.run_first = packages_run_first(project.files, project.entries & project.reach[NAME].reaching, self.with_old_names)
        self.config_pairs = self._config_pairs(project, edges)

    def including(self, project: ProjectFacts, facts: FileFacts, targets: frozenset[str]) -> TensorFlowProject:
        """The part of a project with one more file that no other imports."""
        path = facts.path
        is_of_it = _belongs_to_tensorflow(facts) or targets & self.of_tensorflow or project.is_reaching(path, NAME)
        inside = HAS_ESTIMATOR in facts.flags and RUNS_KERAS not in facts.flags
        is_net = (USES_KERAS_NET in facts.flags and not inside) or targets & self.keras_nets
        needs = NEEDS_NPU_BRIDGE in facts.flags or project.run_by(facts) & self.with_old_names
        return replace(
            self,
            of_tensorflow=self.of_tensorflow | {path} if is_of_it else self.of_tensorflow,
            keras_nets=self.keras_nets | {path} if is_net else self.keras_nets,
            with_old_names=self.with_old_names | {path} if needs else self.with_old_names,
        )

    def works(self, path: str | None) -> bool:
        """Whether something that is called in a file may train a Keras model."""
        return path in self.keras_nets

    def takes_in(self, path: str) -> bool:
        """Whether a file is converted though it does not import TensorFlow."""
        return path in self.run_first

    def _config_pairs(self, project: ProjectFacts, edges: Edges) -> dict[str, frozenset[Place]]:
        files = project.files
        flows = {path: f.config_flow for path, f in files.items() if f.config_flow is not None}
        staying = {*self.dialects.of_adapter2, *self.dialects.for_tensorflow2, *self.dialects.on_tensorflow2}
        staying |= {path for path, f in files.items() if f.is_too_deep or dialect(f) == "2"}
        unread = [path for path, f in files.items() if not (flows[path].is_whole if path in flows else f.is_python)]
        opened = frozenset(target for path in unread for target in edges[path])
        finder = ModuleFinder(
            project.find_module,
            lambda path: files[path].exports,
            lambda path: files[path].stars,
            lambda path: files[path].definitions,
        )
        notebooks = {path: _followed_files(project, path, flow) for path, flow in flows.items() if not files[path].imports}
        return paired_calls(flows, {**edges, **notebooks}, frozenset(staying), opened, finder)


def tensorflow_in(project: ProjectFacts) -> TensorFlowProject:
    """The facts about TensorFlow in a project."""
    part = project.parts.get(NAME)
    return part if isinstance(part, TensorFlowProject) else TensorFlowProject()


def _belongs_to_tensorflow(facts: FileFacts) -> bool:
    return belong_to_tensorflow({module for level, module in facts.imports if level == 0})


def _followed_files(project: ProjectFacts, path: str, flow: ConfigFlow) -> frozenset[str]:
    """The files that the config flow of a notebook, whose imports are not gathered, leads to."""
    names = [name.split(":") for name in {*flow.used, *(call.target for call in flow.calls)} if name.startswith("import:")]
    parts = [(int(level), dotted.split(".")) for _, level, dotted in names if int(level) >= 0]
    return project.files_of(path, [(level, ".".join(part[:n])) for level, part in parts for n in range(1, len(part) + 1)])
