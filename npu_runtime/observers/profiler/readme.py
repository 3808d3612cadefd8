"""The text beside the exported files that says what each is."""

from __future__ import annotations

README = """\
Files of one profiled run of a simulated Ascend device. Times are microseconds of the simulated clock: they come from a model of
the device, not from a measurement. Points in time are counted from 1970 in tables, from the begin of the collection in timelines.

Timelines (open them in Perfetto, MindStudio or chrome://tracing)
  msprof_*.json      calls of the host, tasks by stream, iterations, collectives, and how computing and communication overlap
  step_trace_*.json  the iterations alone

Tables
  step_trace_*.csv   where the time of each iteration went
      Iteration Time          end of the iteration before to the end of this one; of the first, from its forward pass
      Data Aug Bound          end of the iteration before to the forward pass: waiting for data
      FP to BP Time           forward and backward pass
      Iteration Refresh       end of the backward pass to the end of the iteration: aggregation and update
      Reduce Start, Duration  each all-reduce, where there are several devices
  op_summary_*.csv   every execution of an operator, with its tensors and the counters of its cores
  op_statistic_*.csv operators by type, those that take most time first
  task_time_*.csv    every task of the device, by start
  api_statistic_*.csv      calls of the host, by name
  aicpu_*.csv              operators on the AI CPU
  communication_statistic_*.csv  collectives by type
  fusion_op_*.csv          operators that several nodes of the graph were fused into
  static_op_mem_*.csv      memory of each operator's results; TOTAL is the most that is taken at one time

host/ and device_*/ hold the raw records, from which the vendor's msprof makes the same tables.
"""
"""Description of the folder for its readers. Sentences are ours; the meanings are those of the vendor's documents."""
