"""Options of some calls, under the vendor's path."""

from npu_device._options.option_tree import class_of as _class_of

run_context_options = _class_of("NpuRunContextOptions")
"""Options for `npu_run_context`."""

__all__ = ["run_context_options"]
