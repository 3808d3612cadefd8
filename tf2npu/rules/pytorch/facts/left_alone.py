"""Code that knows the NPU already, and stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.rules.pytorch.facts.device_positions import BACKEND, DEVICE
from tf2npu.rules.pytorch.facts.gpu_questions import asks_about_gpu
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_NPU = re.compile(r"(?<!i)npu|ascend(?!ing)", re.IGNORECASE)
"""A word about the NPU, which "input" is not."""
_CUDA_TEXT = re.compile(r"""['"]cuda(?::\d+)?['"]""")
_BUILDING = re.compile(r"\bCUDAExtension\b|\bnvcc_args\b")
"""Words of a file that compiles kernels: PyTorch's class for them, and the arguments of CUDA's compiler."""
_RELEASE = re.compile(r"\btorch\.version\.cuda\s*\.")
"""A method of the text with CUDA's release: beside an NPU there is no such text."""
_WORD_OF_CUDA = re.compile(r"\w*cuda\w*")
_TRANSFER = "torch_npu.contrib.transfer_to_npu"


@fact
def is_transferred(script: Script) -> bool:
    """Whether a file switches the names of CUDA over by the vendor's module, when it runs."""
    return any(_TRANSFER in imported_modules(node) for node, _ in script.walked.imports)


@fact
def npu_twin(script: Script) -> str | None:
    """The file of the project that does for the NPU what a file does for CUDA: `npu_device.py` beside `cuda_device.py`."""
    path = script.path
    found = {path.replace("cuda", word) for word in ("npu", "ascend")} - {path}
    return min(found & script.project.files.keys(), default=None)


@fact
def builds_kernels(script: Script) -> bool:
    """Whether a file compiles kernels for CUDA, as a setup script does: what it asks of CUDA is about the compiler."""
    return _BUILDING.search(script.text) is not None


@fact
def _own_names(script: Script) -> frozenset[str]:
    """The names that a file defines or imports."""
    facts = script.project.files.get(script.path)
    return frozenset() if facts is None else frozenset((*facts.definitions, *facts.exports))


def _has_twin(script: Script, text: str) -> bool:
    """Whether a text has a name for CUDA of which the file has one for the NPU: `is_cuda_available` and `is_npu_available`."""
    words = {word for word in _WORD_OF_CUDA.findall(text) if word != "cuda"}
    return any(word.replace("cuda", "npu") in _own_names(script) for word in words)


def _is_own_for_cuda(script: Script, node: cst.CSTNode) -> bool:
    """Whether a place is in a function that has such a twin, or in a branch that takes the release of CUDA apart."""
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, cst.FunctionDef) and _has_twin(script, ancestor.name.value):
            return True
        if isinstance(ancestor, cst.If) and _asks_release(script) and _is_about_release(script, ancestor):
            return True
    return False


@fact
def _asks_release(script: Script) -> bool:
    return _RELEASE.search(script.text) is not None


def _is_about_release(script: Script, choice: cst.If) -> bool:
    """Whether a choice asks for CUDA, and takes the release of CUDA apart where there is one."""
    return "cuda" in script.tree.source(choice.test) and _RELEASE.search(script.tree.source(choice.body)) is not None


def names_npu(text: str) -> bool:
    """Whether the source of an expression says something of the NPU."""
    return _NPU.search(text) is not None


@fact
def named_for_npu(script: Script) -> frozenset[str]:
    """The kinds of values that a file names by the NPU's own texts, before anything is converted."""
    texts = [text for node in script.walked.strings if (text := literal_text(node)) is not None]
    kinds = ((DEVICE, re.compile(r"npu(:\d+)?$")), (BACKEND, re.compile(r".*\bhccl$")))
    return frozenset(kind for kind, named in kinds if any(map(named.match, texts)))


def asks_for_npu(script: Script, node: cst.CSTNode) -> bool:
    """Whether a place is in a choice that asks for the NPU, in any of its branches, in a file that switches names over, or
    in one that a file for the NPU stands beside, or where a question is about CUDA's compiler, its release or a GPU.
    """
    if builds_kernels(script) or asks_about_gpu(script, node):
        return True
    return chooses_npu(script, node) or _is_own_for_cuda(script, node)


def chooses_npu(script: Script, node: cst.CSTNode) -> bool:
    """The same for what compiles kernels itself: whether something else of the project does it for the NPU."""
    if is_transferred(script) or npu_twin(script) is not None:
        return True
    return any(names_npu(text) or _has_twin(script, text) for text in _tests_around(script, node))


def knows_npu(script: Script, node: cst.CSTNode) -> bool:
    """The same, or a place in the statement of a text of CUDA that stays, as the file names the NPU in another text."""
    return asks_for_npu(script, node) or (DEVICE in named_for_npu(script) and _is_beside_text(script, node))


def _is_beside_text(script: Script, node: cst.CSTNode) -> bool:
    """Whether a text of CUDA is in the same statement, or in a choice that the place is the condition of."""
    inner: cst.CSTNode = node
    for ancestor in script.walked.ancestors(node):
        is_condition = isinstance(ancestor, cst.If) and ancestor.test is inner
        if is_condition or isinstance(ancestor, cst.BaseSmallStatement):
            return _CUDA_TEXT.search(script.tree.source(ancestor)) is not None
        inner = ancestor
    return False


def _tests_around(script: Script, node: cst.CSTNode) -> Iterator[str]:
    """The source of all conditions of the choices that a node is in, with those of their other branches."""
    for ancestor in script.walked.ancestors(node):
        if isinstance(ancestor, (cst.If, cst.IfExp)):
            yield from _chain(script, ancestor)


def _chain(script: Script, choice: cst.If | cst.IfExp) -> Iterator[str]:
    """The conditions of a choice from there down; those above it are ancestors themselves."""
    found: cst.CSTNode | None = choice
    while isinstance(found, (cst.If, cst.IfExp)):
        yield script.tree.source(found.test)
        found = found.orelse
