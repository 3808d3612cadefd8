"""Variables by which MPI and Horovod tell a process its rank."""

from __future__ import annotations

import re

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.old_libraries import takes_part
from tf2npu.scanner.sites import Site

_VARIABLE = re.compile(
    r"""(?<=['"])(?:OMPI_COMM_WORLD|MV2_COMM_WORLD|PMI|HOROVOD)_(?P<what>LOCAL_RANK|LOCAL_SIZE|RANK|SIZE)(?=['"])"""
)
_INSTEAD = {
    "RANK": "RANK_ID in the environment, or get_rank_id() of npu_bridge",
    "SIZE": "RANK_SIZE in the environment, or get_rank_size() of npu_bridge",
    "LOCAL_RANK": "get_local_rank_id() of npu_bridge",
    "LOCAL_SIZE": "get_local_rank_size() of npu_bridge",
}
_HVD = Config(distributed="horovod", select=frozenset({"NPU422"}))


@rule(
    id="NPU422",
    title="Ranks by the launcher's variables",
    once=True,
    on="module",
    matches=(),
    why="Ranks on NPUs are started without MPI and Horovod: a script that looks for them there trains each rank alone.",
    done_when="Both ranks of `tf2npu run --devices 2` print 2 as the number of ranks.",
    source="RANK_ID and RANK_SIZE of the TensorFlow adapter; mpirun of Open MPI and MVAPICH, horovodrun of Horovod 0.19",
    examples=(
        Example.same(
            "import os\nimport tensorflow as tf\nimport horovod.tensorflow as hvd\nmany = 'OMPI_COMM_WORLD_SIZE' in os.environ",
            level="manual",
            write="import os\nimport tensorflow as tf\nmany = int(os.getenv('RANK_SIZE', '1')) > 1",
            config=_HVD,
        ),
        Example.same(
            "import os\nimport horovod.tensorflow as hvd\nmany = 'OMPI_COMM_WORLD_SIZE' in os.environ",
            note="Horovod stays",
        ),
    ),
)
def launcher_environment(site: Site) -> None:
    """Reports variables that only the launchers of MPI and Horovod set."""
    script = site.script
    if script.config.distributed != "horovod" or "horovod" not in script.project.distribution_kinds or not takes_part(site):
        return
    for found in _VARIABLE.finditer(script.text):
        site.fix.site = found.span()
        site.manual(
            f"Only the launcher of MPI or Horovod sets {found.group()}; ranks on NPUs are started without it, so each would "
            f"take itself for the only one. Ask for {_INSTEAD[found['what']]}."
        )
