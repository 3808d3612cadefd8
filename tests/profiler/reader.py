"""Reads the files of a profile strictly: the columns that the vendor documents, formulas between cells, events that nest.

Everything is checked against the specification of the files and the run that was written, with arithmetic on decimals.
"""

from __future__ import annotations

import csv
import json
import re
import struct
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

HEAD = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),"
    "Task Wait Time(us)"
)
TENSORS = "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats"
COUNTERS = {
    "PipeUtilization": "aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio,scalar_time(us),scalar_ratio,"
    "mte1_time(us),mte1_ratio,mte2_time(us),mte2_ratio,mte3_time(us),mte3_ratio,icache_miss_rate,memory_bound,cube_utilization(%)",
    "ArithmeticUtilization": "aicore_time(us),total_cycles,mac_fp16_ratio,mac_int8_ratio,vec_fp32_ratio,vec_fp16_ratio,"
    "vec_int32_ratio,vec_misc_ratio,cube_fops,vector_fops",
    "Memory": "aicore_time(us),total_cycles,ub_read_bw(GB/s),ub_write_bw(GB/s),l1_read_bw(GB/s),l1_write_bw(GB/s),"
    "l2_read_bw(GB/s),l2_write_bw(GB/s),main_mem_read_bw(GB/s),main_mem_write_bw(GB/s)",
    "MemoryL0": "aicore_time(us),total_cycles,l0a_read_bw(GB/s),l0a_write_bw(GB/s),l0b_read_bw(GB/s),l0b_write_bw(GB/s),"
    "l0c_read_bw(GB/s),l0c_write_bw(GB/s),l0c_read_bw_cube(GB/s),l0c_write_bw_cube(GB/s)",
    "MemoryUB": "aicore_time(us),total_cycles,ub_read_bw_vector(GB/s),ub_write_bw_vector(GB/s),ub_read_bw_scalar(GB/s),"
    "ub_write_bw_scalar(GB/s)",
    "ResourceConflictRatio": "aicore_time(us),total_cycles,vec_bankgroup_cflt_ratio,vec_bank_cflt_ratio,vec_resc_cflt_ratio",
    "L2Cache": "aicore_time(us),total_cycles,write_cache_hit,write_cache_miss_allocate,r0_read_cache_hit,"
    "r0_read_cache_miss_allocate,r1_read_cache_hit,r1_read_cache_miss_allocate",
}
STEP_TRACE = (
    "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),Iteration Refresh(us),"
    "Data Aug Bound(us),Model ID"
)
OTHERS = {
    "op_statistic": "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
    "task_time": "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)",
    "api_statistic": "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
    "communication_statistic": "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
    "aicpu": "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),"
    "Stream ID,Task ID",
    "fusion_op": "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),Memory Output(KB),Memory Weight(KB),"
    "Memory Workspace(KB),Memory Total(KB)",
    "static_op_mem": "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)",
}
SPLIT_COUNTERS = (
    "aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),"
    "aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,"
    "aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),"
    "aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)"
)
TIME = re.compile(r"\d{16}\.\d{3}\t")


class Profile:
    """A folder as its readers find it."""

    def __init__(self, folder: Path) -> None:
        assert re.fullmatch(r"PROF_\d{6}_\d{17}_[A-Z]{16}", folder.name), folder.name
        self.folder = folder
        self.exported = folder / "mindstudio_profiler_output"

    def names(self) -> set[str]:
        """Tables and timelines without their time stamps."""
        found = {re.sub(r"_\d{14}(?=\.)", "", path.name) for path in self.exported.iterdir()}
        assert len(found) == len(list(self.exported.iterdir()))
        return found

    def columns(self, name: str) -> list[str]:
        return self._rows(name)[0]

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table by column; of two columns with one name the last."""
        head, *rows = self._rows(name)
        assert all(len(cells) == len(head) for cells in rows), name
        return [dict(zip(head, cells, strict=True)) for cells in rows]

    def _rows(self, name: str) -> list[list[str]]:
        (path,) = self.exported.glob(f"{name}_[0-9]*.csv")
        assert path.read_bytes().endswith(b"\n") and b"\r" not in path.read_bytes()
        return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))

    def events(self, name: str = "msprof") -> list[dict[str, Any]]:
        (path,) = self.exported.glob(f"{name}_[0-9]*.json")
        return json.loads(path.read_text(encoding="utf-8"))

    def raw(self, pattern: str) -> bytes:
        (path,) = self.folder.glob(pattern)
        return path.read_bytes()


def us(cell: str) -> Decimal:
    """A point in time."""
    assert TIME.fullmatch(cell), cell
    return Decimal(cell[:-1])


def check_tables(profile: Profile) -> None:
    """Columns of all tables but op_summary, times that add up, tasks of a stream that do not overlap."""
    for name, columns in OTHERS.items():
        if f"{name}.csv" in profile.names():
            assert profile.columns(name) == columns.split(","), name
    if "task_time.csv" not in profile.names():
        return
    ends: dict[str, Decimal] = defaultdict(Decimal)
    for row in profile.table("task_time"):
        start, stop = us(row["task_start(us)"]), us(row["task_stop(us)"])
        assert stop - start == Decimal(row["task_time(us)"]), row
        assert start >= ends[row["stream_id"]], f"overlap: {row}"
        ends[row["stream_id"]] = stop


def check_summary(profile: Profile, group: str) -> None:
    """Columns of op_summary, waiting times, and the formulas of counters."""
    assert profile.columns("op_summary") == [*HEAD.split(","), "Block Num", *TENSORS.split(","), *COUNTERS[group].split(",")]
    before: Decimal | None = None
    for row in profile.table("op_summary"):
        start = us(row["Task Start Time(us)"])
        wait = Decimal(0) if before is None else max(start - before, Decimal(0))
        assert Decimal(row["Task Wait Time(us)"]) == wait, row
        before = start + Decimal(row["Task Duration(us)"])
        if group == "PipeUtilization" and row["aicore_time(us)"] != "N/A":
            check_pipes(row)


def check_pipes(row: dict[str, str], *, n_cores: int = 32, mhz: int = 1000) -> None:
    """The documented formulas, to the last decimal that is printed."""
    cell = {name: float(value) for name, value in row.items() if re.fullmatch(r"[\d.]+", value)}
    blocks, cycles = cell["Block Num"], cell["total_cycles"]
    rounds = -(-blocks // n_cores)
    assert abs(cell["aicore_time(us)"] - cycles / mhz / blocks * rounds) <= 0.0051
    for pipe in ("vec", "mac", "scalar", "mte1", "mte2", "mte3"):
        exact = cell["aicore_time(us)"] * cell[f"{pipe}_ratio"]
        assert abs(cell[f"{pipe}_time(us)"] - exact) <= 0.0006 * cell["aicore_time(us)"] + 0.0006
    most = max(cell["mac_ratio"], cell["vec_ratio"])
    assert abs(cell["memory_bound"] - (cell["mte2_ratio"] / most if most else 0)) <= 0.0006
    used = 100 * cycles / (mhz * n_cores * cell["Task Duration(us)"]) if cell["mac_ratio"] else 0
    assert abs(cell["cube_utilization(%)"] - used) <= 0.0006


def check_steps(profile: Profile) -> None:
    """Figure 5-21: iteration time t(N+1)6 - tN6, tail of data t(N+1)1 - tN6, passes tN2 - tN1, tail of update tN6 - tN2."""
    assert profile.columns("step_trace")[:10] == STEP_TRACE.split(",")
    last_of: dict[str, Decimal] = {}
    ends: list[Decimal] = []
    for row in profile.table("step_trace"):
        end, model = us(row["Iteration End(us)"]), row["Model ID"]
        fp, bp = (None if row[name] == "N/A" else us(row[name]) for name in ("FP Start(us)", "BP End(us)"))
        start = last_of.get(model, fp)
        if start is not None:
            assert Decimal(row["Iteration Time(us)"]) == end - start, row
        check_passes(row, fp, bp, end)
        before = [other for other in ends if fp is not None and other <= fp]
        bound = "N/A" if fp is None or not before else fp - before[-1]
        assert row["Data Aug Bound(us)"] == "N/A" if bound == "N/A" else Decimal(row["Data Aug Bound(us)"]) == bound
        last_of[model] = end
        ends.append(end)


def check_passes(row: dict[str, str], fp: Decimal | None, bp: Decimal | None, end: Decimal) -> None:
    through, refresh = row["FP to BP Time(us)"], row["Iteration Refresh(us)"]
    assert through == "N/A" if fp is None or bp is None else Decimal(through) == bp - fp
    assert refresh == "N/A" if bp is None else Decimal(refresh) == end - bp


def check_timeline(events: list[dict[str, Any]]) -> None:
    """Events of a track nest, every track has names, and every flow has one begin and one end, inside of slices."""
    tracks: dict[tuple[int, int], list[tuple[Decimal, Decimal]]] = defaultdict(list)
    flows: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    for event in events:
        if event["ph"] == "X":
            assert isinstance(event["ts"], str) and re.fullmatch(r"\d+\.\d{3}", event["ts"]) and event["dur"] >= 0, event
            start = Decimal(event["ts"])
            tracks[event["pid"], event["tid"]].append((start, start + Decimal(str(event["dur"]))))
        elif event["ph"] in "sf":
            flows[event["cat"], event["id"]].append(event)
        else:
            assert event["ph"] == "M", event
    assert set(tracks) <= named
    for track, spans in tracks.items():
        check_nesting(track, spans)
    assert len({number for _, number in flows}) == len(flows), "a flow's number is used twice"
    for ends in flows.values():
        check_flow(ends, tracks)


def check_nesting(track: tuple[int, int], spans: list[tuple[Decimal, Decimal]]) -> None:
    open_until: list[Decimal] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_until and open_until[-1] <= start:
            open_until.pop()
        assert not open_until or end <= open_until[-1], f"{track}: {start}..{end} overlaps without nesting"
        open_until.append(end)


def check_flow(ends: list[dict[str, Any]], tracks: dict[tuple[int, int], list[tuple[Decimal, Decimal]]]) -> None:
    assert sorted(end["ph"] for end in ends) == ["f", "s"], ends
    begin, finish = sorted(ends, key=lambda end: end["ph"], reverse=True)
    assert begin["name"] == finish["name"] and Decimal(begin["ts"]) <= Decimal(finish["ts"])
    for end in ends:
        at = Decimal(end["ts"])
        assert any(start <= at <= stop for start, stop in tracks[end["pid"], end["tid"]]), end


def check_raw(profile: Profile, device: int) -> None:
    """Records are whole and numbered without a gap, and starts and ends pair."""
    tasks = list(struct.iter_unpack("<BBHHHQ12I", profile.raw(f"device_{device}/data/hwts.data.{device}.slice_0")))
    assert [record[0] >> 4 for record in tasks] == [at % 16 for at in range(len(tasks))]
    running: set[tuple[int, int]] = set()
    for record in tasks:
        key = record[6], record[4]
        assert (key in running) == bool(record[0] & 7), record
        running ^= {key}
    assert not running
    times = [record[5] for record in tasks]
    assert times == sorted(times)
    cores = list(struct.iter_unpack("<BBHHHII10Q8I", profile.raw(f"device_{device}/data/aicore.data.{device}.slice_0")))
    assert [record[0] >> 4 for record in cores] == [at % 16 for at in range(len(cores))]
    calls = profile.raw("host/data/unaging.api_event.data.slice_0")
    assert {record[0] for record in struct.iter_unpack("<HHIIIQQQ", calls)} == {0x5A5A}
