"""RunConfigs wrapped by npu_run_config_init, for Estimators whose class stays."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.sites import Call


def wrap_run_config(call: Call, position: int | None, also: str = "") -> None:
    """Give an Estimator `config=npu_run_config_init(run_config=...)`.  also: what else the finding says is edited."""
    if call.has_unknown_args:
        return call.manual("The config may come out of *args or **kwargs: wrap it with npu_run_config_init by hand.")
    config = call.arg("config", position) or call.spread_arg("config")
    if config is None:
        call.add_keyword(f"config={call.need('npu_run_config_init')}()")
    elif is_wrapped(call, config.value):
        return None
    elif call.resolve(config.value) == "None":
        call.replace(config.value, f"{call.need('npu_run_config_init')}()")
    else:
        call.wrap(config.value, f"{call.need('npu_run_config_init')}(run_config=", ")")
    return call.fixed(
        "The config now comes from npu_run_config_init(), which keeps your settings and runs the Estimator's sessions on the NPU"
        f"{also}. Nothing is left to do."
    )


def number_of_self(call: Call) -> int:
    """1 where a call gives `self` by hand, as in Base.__init__(self, ...), which moves all positions on; else 0."""
    has_receiver = isinstance(call.node.func, cst.Attribute) and isinstance(call.node.func.value, cst.Call)
    return int(call.name.endswith(".__init__") and not has_receiver)


def is_wrapped(call: Call, value: cst.BaseExpression) -> bool:
    """Whether a config comes out of npu_run_config_init; scripts of the first releases carry a copy of that function."""
    if not isinstance(value, cst.Call):
        return False
    is_copy = isinstance(value.func, cst.Name) and value.func.value == "npu_run_config_init"
    return is_copy or call.resolve(value.func) == "npu_bridge.npu_init.npu_run_config_init"
