"""The support of each TensorFlow and Horovod API on the NPU: the table, look-up by any spelling, and uses in a script.

The table is data (`data/apis.csv`), written by `tools/build_api_table.py` and read here without any knowledge of the rules.
"""

from tf2npu.api_support.table import Api, ApiTable, table

__all__ = ["Api", "ApiTable", "table"]
