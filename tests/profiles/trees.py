"""Trees as profilers of several releases leave them. The headers are those that the vendor's exporter and guides have."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

NEW = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,"
    "mte1_time(us),mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound,"
    "cube_utilization(%)"
)
"""Of msprof's current exporter, for the training chip."""
OLD = (
    "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),"
    "Task Wait Time(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
    "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,mte1_time(us),"
    "mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound"
)
"""Of releases around 6.3: no device, no unit at the start, another word for blocks."""
SPLIT = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,"
    "aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"
    "aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,"
    "aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,"
    "aiv_icache_miss_rate,cube_utilization(%)"
)
"""Of chips with cube and vector cores apart."""
STEP_TRACE = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),"
    "Data Aug Bound(us),Model ID"
)
TASK_TIME = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"
EPOCH = 1_701_234_567_890_000
"""Microseconds since 1970 of the first step."""


def row(header: str, **cells: object) -> str:
    """A line with these columns filled, named without their unit and with _ for what is no letter; the others N/A."""
    names = [name.partition("(")[0].replace(" ", "_").lower() for name in header.split(",")]
    assert set(cells) <= set(names), set(cells) - set(names)
    return ",".join(quoted(str(cells.get(name, "N/A"))) for name in names)


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\n') else cell


STEP = (
    {"task_id": 1, "op_name": "conv/Conv2D", "op_type": "Conv2D", "task_type": "AI_CORE", "at": 0.125, "task_duration": 200,
     "mac_ratio": 0.8, "vec_ratio": 0.1, "mte2_ratio": 0.5, "total_cycles": 6000},
    {"task_id": 2, "op_name": "conv/Relu", "op_type": "Relu", "task_type": "AI_CORE", "at": 210.5, "task_duration": 50,
     "mac_ratio": 0, "vec_ratio": 0.2, "mte2_ratio": 0.7, "total_cycles": 1500},
    {"task_id": 3, "op_name": "Unique", "op_type": "Unique", "task_type": "AI_CPU", "at": 300, "task_duration": 100},
)  # fmt: skip


def tasks_of(header: str, steps: int = 4, period: float = 500.0, **further: object) -> list[str]:
    """The lines of some steps of the same three tasks; later steps take longer."""
    lines = []
    for number in range(steps):
        for task in STEP:
            cells = {**task, "model_id": 1, "stream_id": 5, "input_shapes": '"32,14,4,112,16;16"', "input_formats": "NC1HWC0;ND",
                     "input_data_types": "FLOAT16;FLOAT", "output_shapes": '""', **further}  # fmt: skip
            start = Decimal(EPOCH) + Decimal(number * period) + Decimal(cells.pop("at"))
            cells["task_start_time"] = f"{start:.3f}\t"
            known = {name.partition("(")[0].replace(" ", "_").lower() for name in header.split(",")}
            lines.append(row(header, **{name: cell for name, cell in cells.items() if name in known}))
    return lines


def put(path: Path, header: str, lines: list[str], encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *lines, ""]), encoding=encoding)


def step_trace(steps: int = 4, period: float = 500.0) -> list[str]:
    """Steps that take 450, 451, 452, ... microseconds."""
    return [
        row(STEP_TRACE, device_id=0, iteration_id=n + 1, model_id=1, iteration_time=450 + n,
            iteration_end=f"{EPOCH + n * period + 450 + n:.3f}\t")
        for n in range(steps)
    ]  # fmt: skip


def new_tree(folder: Path, name: str = "PROF_000001_20240101120000000_ABCDEFGHIJKLMNOP") -> Path:
    """A tree of the current release."""
    out = folder / name / "mindstudio_profiler_output"
    put(out / "op_summary_20240101120000.csv", NEW, tasks_of(NEW, device_id=0, block_num=32))
    put(out / "step_trace_20240101120000.csv", STEP_TRACE, step_trace())
    info = folder / name / "device_0" / "info.json.0"
    info.parent.mkdir()
    info.write_text('{"DeviceInfo": [{"ai_core_num": 32, "aic_frequency": "1000"}]}')
    return folder / name


def old_tree(folder: Path) -> Path:
    """A tree of a release around 6.3, a file an iteration."""
    summary = folder / "PROF_1" / "device_0" / "summary"
    for number in range(4):
        lines = tasks_of(OLD)[3 * number : 3 * number + 3]
        put(summary / f"op_summary_0_1_{number + 1}.csv", OLD, lines)
    return folder / "PROF_1"
