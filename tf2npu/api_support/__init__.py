"""The support of each API of a framework on the NPU: its table, look-up by any spelling, and uses in a script.

The table of TensorFlow and Horovod is data (`data/apis.csv`), written by `tools/build_api_table.py` and read here without any
knowledge of the rules. Other frameworks have tables of their own, which are loaded when somebody asks for them.
"""

from tf2npu.api_support.table import Api, ApiTable, table

__all__ = ["Api", "ApiTable", "table"]
