"""Writes the public names of an installed TensorFlow, or of a Horovod source tree, as a table.

`PYTHON tools/api_inventory.py tensorflow > FILE` under a Python that has the TensorFlow to be listed (3.7 with 1.15 for the
table that ships); `PYTHON tools/api_inventory.py horovod SOURCE > FILE` reads the text of a checkout and imports nothing;
`PYTHON tools/api_inventory.py newer TABLE > FILE` lists the names that the installed TensorFlow has and TABLE has not.

Columns, separated by tabs: name (TensorFlow's own first exported one where there is one), kind (module, class, function,
method, property, constant), signature, public bases of a class, "deprecated" or nothing, other names of the object. A name
that begins with a dot is a member of the class above it.
"""

import ast
import importlib
import inspect
import os
import re
import sys
import textwrap
import types

_DATA = "tensorflow.examples.tutorials.mnist.input_data"
_ROOT_MODULES = ("tensorflow", "tensorflow.contrib", "tensorflow.contrib.slim.nets", _DATA)
_OURS = re.compile(r"tensorflow|keras")
# Private modules that old scripts import, below tensorflow.
_PRIVATE_MODULES = """
core.protobuf: config_pb2 rewriter_config_pb2 meta_graph_pb2 saver_pb2 tensorflow_server_pb2 saved_model_pb2
core.framework: graph_pb2 summary_pb2 node_def_pb2 attr_value_pb2 tensor_pb2 types_pb2 tensor_shape_pb2 variable_pb2
core.framework: step_stats_pb2
core.example: example_pb2 feature_pb2
core.util: event_pb2
python.platform: flags gfile app tf_logging resource_loader
python.tools: freeze_graph inspect_checkpoint optimize_for_inference_lib
python.framework: graph_util dtypes ops errors constant_op tensor_shape tensor_util random_seed graph_io importer sparse_tensor
python.client: timeline device_lib session
python.lib.io: file_io tf_record
python.util: nest compat
python.training: moving_averages training_util session_run_hook basic_session_run_hooks optimizer training_ops
python.ops: control_flow_ops array_ops math_ops nn_ops init_ops rnn_cell_impl rnn variables variable_scope state_ops lookup_ops
contrib.layers.python.layers: utils layers initializers regularizers
"""
_SLIM_MODULE = re.compile(r"tensorflow\.contrib\.slim\.(nets(\.[a-z_0-9]+)?|utils|layers|initializers|regularizers)$")
_NO_API = ("python", "absolute_import", "division", "print_function", "sys", "core", "tf")
_HANDED_ON = ("unittest.mock", "mock")  # modules of Python's that TensorFlow exports under a name of its own
_MESSAGE = "google.protobuf.message.Message"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def main(arguments):
    if arguments[0] == "newer":
        print("\n".join(_newer(arguments[1])))
        return
    rows = _tensorflow() if arguments[0] == "tensorflow" else _horovod(arguments[1])
    owner = ""
    for row in sorted(set(rows)):
        if row[1] == "class":
            owner = row[0] + "."
        name = row[0][len(owner) - 1 :] if owner and row[0].startswith(owner) else row[0]
        print("\t".join((name, *row[1:])).rstrip("\t"))


def _newer(table):
    """Names of modules, functions, classes and constants that `table` lacks."""
    known, owner = set(), ""
    with open(table, encoding="utf-8") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            owner = cells[0] if cells[1] == "class" else owner
            known.update([owner + cells[0] if cells[0][0] == "." else cells[0]] + (cells[5].split() if len(cells) > 5 else []))
    seen = set()
    for row in _tensorflow():
        if row[1] not in ("method", "property"):
            seen.update([row[0]] + [name for name in row[5].split() if ".python." not in name])
    dated = {"tensorflow." + name[len("tensorflow.compat.v2.") :] for name in known if name.startswith("tensorflow.compat.v2.")}
    seen = {name.replace("tensorflow.compat.v1.", "tensorflow.") for name in seen}
    return sorted(name for name in seen - known - dated if not name.startswith(("tensorflow.compat", "google.")))


def _tensorflow():
    names = _Names()
    for root in _ROOT_MODULES:
        try:
            names.module(root, importlib.import_module(root))
        except ImportError as error:
            sys.stderr.write(f"{root}: {error}\n")
    if names.modules["tensorflow"].__version__.startswith("2."):
        names.module("tensorflow.compat.v1", importlib.import_module("tensorflow.compat.v1"))
    for line in _PRIVATE_MODULES.split("\n")[1:-1]:
        package, _, modules = line.partition(":")
        for module in modules.split():
            names.private_module(f"tensorflow.{package}.{module}")
    names.defining_modules()
    return names.rows()


class _Names:
    """Every name that leads to an object, module by module."""

    def __init__(self):
        self.modules = {}
        self.found = {}  # id -> (object, public names)
        self.private = {}  # id -> names in the modules that TensorFlow is written in
        self.constants = {}

    def module(self, name, module):
        if name in self.modules:
            return
        self.modules[name] = module
        for attr in sorted(dir(module)):
            if attr.startswith("_") or attr in _NO_API or (attr == "compat" and name != "tensorflow"):
                continue
            if name in ("tensorflow.compat", "tensorflow.contrib.compat") and attr == "v1":
                continue  # the same names again
            try:
                value = getattr(module, attr)
            except (AttributeError, ImportError):
                continue
            self._entry(f"{name}.{attr}", value)

    def private_module(self, name):
        """Record the definitions of a private module to which no public name leads."""
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            sys.stderr.write(f"{name}: {error}\n")
            return
        for attr, value in sorted(vars(module).items()):
            if attr.startswith("_") or inspect.ismodule(value):
                continue
            home = re.sub(r"^tensorflow_core\b", "tensorflow", getattr(type(value), "__module__", "") or "")
            if inspect.isclass(value) or inspect.isroutine(value):
                home = re.sub(r"^tensorflow_core\b", "tensorflow", value.__module__ or "")
            if id(value) in self.found:
                self.private.setdefault(id(value), []).append(f"{name}.{attr}")
            elif home == name and callable(value):
                self.found[id(value)] = (value, [f"{name}.{attr}"])
            elif not callable(value) and not attr.isupper() and name.endswith(".dtypes"):
                self.constants[f"{name}.{attr}"] = value

    def _entry(self, name, value):
        if isinstance(value, types.ModuleType):
            if _OURS.match(getattr(value, "__name__", "")) and not _is_inner(name, value):
                self.module(name, value)
            elif getattr(value, "__name__", "") in _HANDED_ON and ".contrib." not in name:
                self.constants[name] = value
        elif inspect.isclass(value) or inspect.isroutine(value) or (callable(value) and _OURS.match(type(value).__module__)):
            home = getattr(value, "__module__", None) or "tensorflow"
            is_foreign = not _OURS.match(home) and name.startswith(("tensorflow.contrib.", "tensorflow.examples."))
            if not (is_foreign or name.startswith("tensorflow.pywrap") or (".examples." in name and "mnist" not in home)):
                self.found.setdefault(id(value), (value, []))[1].append(name)
        elif type(value).__name__ != "_Feature":
            self.constants[name] = value

    def defining_modules(self):
        """Names of public objects in the modules below tensorflow.python, where old code imports them from."""
        for module_name, module in sorted(sys.modules.items()):
            parts = re.sub(r"^tensorflow_core\b", "tensorflow", module_name)
            is_private = re.match(r"tensorflow(_estimator)?\.python\.|tensorflow\.contrib\..*\.python\.", parts)
            if not isinstance(module, types.ModuleType) or not is_private or "._api." in parts or ".api." in parts:
                continue
            for attr, value in sorted(vars(module).items()):
                if attr.startswith("_") or id(value) not in self.found or not hasattr(value, "__module__"):
                    continue
                home = re.sub(r"^tensorflow_core\b", "tensorflow", value.__module__ or "")
                if home == parts or parts.endswith((".ops", ".nn", ".training", ".session", ".math_ops", ".init_ops", ".layers")):
                    self.private.setdefault(id(value), []).append(f"{parts}.{attr}")

    def rows(self):
        for name, _module in self.modules.items():
            yield name, "module", "", "", "", ""
        for name, value in self.constants.items():
            yield name, "constant", type(value).__name__, "", "", ""
        from google.protobuf import message

        yield from self._object(message.Message, [_MESSAGE], [])
        for key, (value, names) in self.found.items():
            yield from self._object(value, names, self.private.get(key, []))

    def _object(self, value, names, private):
        names = sorted(names, key=lambda n: (_rank(n), n))
        canonical = _canonical(value, names)
        others = " ".join([n for n in names if n != canonical] + sorted(set(private)))
        deprecated = "deprecated" if "IS DEPRECATED" in (inspect.getdoc(value) or "") else ""
        if not inspect.isclass(value):
            yield canonical, "function", _signature(value), "", deprecated, others
            return
        bases = [self._public(base) for base in value.__mro__[1:]]
        text = " ".join(base for base in bases if base)
        yield canonical, "class", _signature(value.__init__), text, deprecated, others
        for base in reversed(value.__mro__):
            if base is value or (base is not object and not self._public(base)):
                yield from _members(canonical, base)

    def _public(self, base):
        if base.__module__ == "google.protobuf.message":
            return _MESSAGE
        entry = self.found.get(id(base))
        return _canonical(base, sorted(entry[1], key=lambda n: (_rank(n), n))) if entry else ""


def _is_inner(name, module):
    """Whether a contrib module is the file that a package is written in, or somebody else's."""
    if ".contrib." not in name or name.endswith(".nest") or _SLIM_MODULE.match(name):
        return False
    home = module.__name__.replace("tensorflow_core", "tensorflow")
    return not home.startswith(name.rpartition(".")[0])


def _rank(name):
    private = ("tensorflow.python.", "tensorflow.core.")
    order = (*private, "tensorflow.compat.v2.", "tensorflow.compat.v1.", "tensorflow.contrib.", "tensorflow.raw_ops.")
    return (sum((i + 1) for i, prefix in enumerate(reversed(order)) if name.startswith(prefix)), name.count("."))


def _canonical(value, names):
    """TensorFlow's own first exported name where it is among the public ones, else the shortest of these."""
    from tensorflow.python.util import tf_export

    try:
        exported = list(tf_export.get_v1_names(value))
    except Exception as error:  # an object that refuses attributes has no exported names
        sys.stderr.write(f"{names[0]}: {error}\n")
        exported = []
    listed = ["tensorflow." + name for name in exported if "tensorflow." + name in names]
    return listed[0] if listed else names[0]


def _signature(value):
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"
    return _ADDRESS.sub("", re.sub(r"\s+", " ", text))


def _members(canonical, base):
    if base.__module__.startswith("google.") and canonical != _MESSAGE:
        return  # every message has the same methods
    if hasattr(base, "DESCRIPTOR") and base.__module__.endswith("_pb2"):
        for name in _fields(base) + sorted(base.DESCRIPTOR.enum_types_by_name) + sorted(base.DESCRIPTOR.enum_values_by_name):
            yield f"{canonical}.{name}", "property", "", "", "", ""
        for nested in base.DESCRIPTOR.nested_types_by_name:
            inner = f"{canonical}.{nested}"
            yield inner, "class", "(self, /, *args, **kwargs)", _MESSAGE, "", ""
            if hasattr(base, nested):
                yield from _members(inner, getattr(base, nested))
        return
    for name in getattr(base, "__members__", {}):
        yield f"{canonical}.{name}", "constant", "", "", "", ""
    for name, value in sorted(vars(base).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if inspect.isfunction(value) or (callable(value) and hasattr(value, "__name__") and not inspect.isclass(value)):
            yield f"{canonical}.{name}", "method", _signature(value), "", "", ""
        else:
            kind = "property" if isinstance(value, property) or inspect.isdatadescriptor(value) else "constant"
            yield f"{canonical}.{name}", kind, "", "", "", ""
    for name in _fields(base):
        yield f"{canonical}.{name}", "property", "", "", "", ""


def _fields(base):
    """Public attributes that methods assign to self, and fields of a protocol buffer."""
    descriptor = getattr(base, "DESCRIPTOR", None)
    if descriptor is not None and hasattr(descriptor, "fields"):
        return [field.name for field in descriptor.fields]
    if not _OURS.match(base.__module__ or ""):
        return []
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
    except (OSError, TypeError, SyntaxError):
        return []
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    names = {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"}
    return sorted(name for name in names - set(vars(base)) if not name.startswith("_"))


_HOROVOD = ("horovod.tensorflow", "horovod.tensorflow.keras", "horovod.keras")
_HOROVOD_PARTS = ("callbacks", "elastic", "compression")
_BASICS = ("horovod/common/basics.py", "HorovodBasics")


def _horovod(source):
    for module in _HOROVOD:
        yield module, "module", "", "", "", ""
        for name, node in _defined(source, module.replace(".", "/") + "/__init__.py").items():
            if name not in _HOROVOD_PARTS:
                yield from _python_row(f"{module}.{name}", node)
        for part in _HOROVOD_PARTS:
            if os.path.exists(os.path.join(source, module.replace(".", "/"), part + ".py")):
                yield f"{module}.{part}", "module", "", "", "", ""
                for name, node in _defined(source, module.replace(".", "/") + f"/{part}.py", own=True).items():
                    yield from _python_row(f"{module}.{part}.{name}", node)


def _python_row(name, node):
    kind = "class" if isinstance(node, ast.ClassDef) else "function"
    if isinstance(node, str):
        kind = "constant"
    yield name, kind, _arguments(node), "", "", ""
    for member in getattr(node, "body", []) if kind == "class" else []:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            yield name + "." + member.name, "method", _arguments(member), "", "", ""
        elif isinstance(member, ast.Assign):
            for target in member.targets:
                yield name + "." + target.id, "constant", "", "", "", ""


def _arguments(node):
    if isinstance(node, ast.ClassDef):
        made = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"]
        return _arguments(made[0]) if made else "()"
    return f"({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef) else ""


def _defined(source, path, own=False):
    """Public definitions of a module by name, through the imports from its own package."""
    with open(os.path.join(source, path), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("horovod.") and not own:
            for alias in node.names:
                value = _look_up(source, node.module, alias.name)
                if value is not None:
                    found[alias.asname or alias.name] = value
    blocks = [tree]
    for block in blocks:
        for node in ast.iter_child_nodes(block):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = node
            elif isinstance(node, (ast.If, ast.Try)):
                blocks.append(node)
    return {name: node for name, node in found.items() if not name.startswith("_")}


def _look_up(source, module, name):
    """Definition of `name` in a module of Horovod; what is bound there without a definition is a text."""
    path = os.path.join(source, module.replace(".", "/"))
    path = path + ".py" if os.path.exists(path + ".py") else os.path.join(path, "__init__.py")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
    return _basic(source, name) or (name if name[:1].islower() or name[:1].isupper() else None)


def _basic(source, name):
    path, class_name = _BASICS
    with open(os.path.join(source, path), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == class_name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == name:
                    return member
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
