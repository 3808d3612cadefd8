"""Libraries and paths of the vendor's cloud, which a machine of one's own does not have."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.rules import hooks
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import imported_names, is_guarded, takes_part
from tf2npu.rules.facts.tree_search import nodes_in
from tf2npu.scanner.sites import Site

_LIBRARIES = {
    "moxing": "tf.gfile or shutil in the place of mox.file, which copies and opens files",
    "modelarts": "the steps by hand: it manages jobs and data there",
    "naie": "the files themselves: it names data sets there",
}
_HINT = re.compile(rb"\b(?:" + "|".join(_LIBRARIES).encode() + rb")\b|['\"](?:obs|s3)://")
_PATH = re.compile(r"obs://[^\s{}%]", re.IGNORECASE)


@hooks.before_file
def mentions_cloud(data: bytes) -> bool:
    """Whether a file that a TensorFlow script reaches could use one of them; a quick look at its bytes."""
    return _HINT.search(data) is not None


@rule(
    id="NPU984",
    title="Of the vendor's cloud",
    on="import",
    why=(
        "The cloud's images have it and no package index does, so the import, or the first look at the path, "
        "ends a run elsewhere."
    ),
    done_when="`tf2npu run` passes this line on a machine outside of the cloud.",
    source="documentation of the vendor's cloud: MoXing, a part of its images; scripts of its model zoo that copy from obs://",
    examples=(
        Example.same(
            "import moxing as mox\nimport tensorflow as tf\nmox.file.copy_parallel(a, b)",
            level="manual",
            write="import shutil\nimport tensorflow as tf\nshutil.copytree(a, b)",
        ),
        Example.same("import tensorflow as tf\nfrom modelarts.session import Session", level="manual"),
        Example.same(
            "import tensorflow as tf\ntry:\n    import moxing\nexcept ImportError:\n    moxing = None", note="does without"
        ),
        Example.same("import tensorflow as tf\nif tf.flags.FLAGS.on_cloud:\n    import moxing", note="asked for", level="info"),
        Example.same("import tensorflow as tf\nfrom .moxing import copy", note="the project's own module"),
        Example.same("import moxing", note="nothing to do with TensorFlow"),
    ),
)
def cloud_library(site: Site) -> None:
    """Reports imports of libraries that only the vendor's cloud has."""
    project, path = site.script.project, site.script.path
    for name in imported_names(site):
        library = name.partition(".")[0]
        if library not in _LIBRARIES or project.defines(path, 0, library) or not takes_part(site) or is_guarded(site):
            continue
        if any(isinstance(a, (cst.If, cst.FunctionDef)) for a in site.script.walked.ancestors(site.node)):
            return site.info(f"Only images of the vendor's cloud have {library}: see that no run elsewhere comes to this line.")
        return site.manual(
            f"A run outside of the vendor's cloud ends here, as only its images have {library}: put the import and what uses it "
            f"into a try statement, or write {_LIBRARIES[library]}."
        )


@part_of(
    cloud_library,
    on="module",
    examples=(
        Example.same("d = tf.data.TFRecordDataset('obs://bucket/a.tfrecord')", level="info"),
        Example.same("d = tf.data.TFRecordDataset('/data/a.tfrecord')", note="a path of this machine"),
        Example.same("'''Data: obs://bucket/a.tfrecord'''\nd = tf.data.TFRecordDataset(f)", note="only said"),
    ),
)
def cloud_path(site: Site) -> None:
    """Says of paths in the cloud's store that a run elsewhere does not find them."""
    script = site.script
    if "obs://" not in script.text or not takes_part(site):
        return
    for node in nodes_in(script.tree.module, cst.SimpleString):
        value = node.evaluated_value
        if not isinstance(value, str) or not _PATH.match(value) or script.is_switched_off(site.fix.rule, node):
            continue
        site.fix.site = script.tree.span(node)
        site.info(f"{value} is a path of the vendor's cloud: outside of it, give the path of a local copy.")
