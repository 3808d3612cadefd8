"""The groups of options and the examples in the help of each command."""

from __future__ import annotations

OTHERS = "Further options"
"""Heading of the options that no group names."""
_REPORT = "Report"

OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "convert": {
        "What is converted": ("main", "exclude", "no_gitignore", "python2", "data", "select", "ignore"),
        "How": ("distributed", "unsafe_fixes", "decisions", "in_place", "force"),
        "Instead of writing": ("diff", "dry_run", "check"),
        _REPORT: ("report_folder", "formats", "language", "baseline", "write_baseline", "volume", "opens"),
        "Speed": ("jobs", "no_cache"),
    },
    "scan": {
        "What is looked at": ("main", "exclude", "no_gitignore", "python2", "select", "ignore", "distributed", "decisions"),
        _REPORT: ("report_folder", "formats", "language", "baseline", "write_baseline", "volume", "opens", "force"),
        "Speed": ("jobs", "no_cache"),
    },
    "report": {
        "Render": ("formats", "target", "prefix", "language", "run_files", "single_file", "opens"),
        "Compare": ("compared", "fail_on"),
    },
    "run": {
        "What is run": ("module", "pairs", "all_sessions", "strict"),
        "Devices": ("devices", "hosts", "rank_table", "engine", "launcher_exec", "soc"),
        _REPORT: ("report_folder", "profile_folder"),
    },
    "predict": {
        "What is predicted": ("soc", "steps", "devices", "iterations_per_loop", "precision", "batch", "shapes_only"),
        _REPORT: ("json_file", "folder", "language"),
    },
    "profile": {"What is shown": ("compared",), _REPORT: ("json_file", "folder", "language")},
    "tune": {"What is tuned": ("soc", "mode", "steps", "devices"), _REPORT: ("json_file",)},
    "check": {
        "What is checked": ("modes", "pairs", "steps", "migrated", "is_free", "soc", "budget"),
        _REPORT: ("out", "report", "language"),
    },
    "compare": {
        "What is compared": ("graph", "step", "thresholds"),
        _REPORT: ("out", "header", "output", "language"),
    },
}
"""For each command: heading -> names of the parameters below it. A command with few options has one list, without headings."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "convert": ("tf2npu convert src out", "tf2npu convert src --in-place --distributed auto"),
    "undo": ("tf2npu undo src", "tf2npu undo src/train.py --force"),
    "scan": ("tf2npu scan src", "tf2npu scan src --report /path/to/report --format html,md"),
    "rules": ("tf2npu rules NPU101", "tf2npu rules NPU1 --lang zh"),
    "api": ("tf2npu api tf.nn.relu", "tf2npu api 'tf.contrib.*' --format json"),
    "report": (
        "tf2npu report out/tf2npu-report/report.json --format md",
        "tf2npu report --compare old.json new.json --fail-on new",
    ),
    "run": ("tf2npu run out/train.py --epochs 1", "tf2npu run --devices 2 --report out/tf2npu-report out/train.py"),
    "predict": ("tf2npu predict train.py", "tf2npu predict --soc Ascend910B1 --batch 32 64 --report step train.py"),
    "profile": ("tf2npu profile PROF_1", "tf2npu profile --compare PROF_1 PROF_2"),
    "tune": ("tf2npu tune out/train.py", "tf2npu tune --mode RL --steps 1 out/train.py"),
    "bank show": ("tf2npu bank show", "tf2npu bank show bank.json --json -"),
    "bank merge": ("tf2npu bank merge other_bank.json", "tf2npu bank merge bank_1 bank_2"),
    "bank export": ("tf2npu bank export bank.json", "tf2npu bank export shared/bank.json"),
    "dump reference": (
        "tf2npu dump reference --out reference train.py",
        "tf2npu dump reference --out reference --steps 0,5-9 train.py --epochs 1",
    ),
    "dump graph": ("tf2npu dump graph ge_proto_1_Build.txt graph.json", "tf2npu dump graph graph.txt graph.json"),
    "dump npy": ("tf2npu dump npy dump/20250101000000/0 arrays", "tf2npu dump npy dump/MatMul.x.1.2.3 arrays"),
    "dump show": ("tf2npu dump show dump/MatMul.x.1.2.3", "tf2npu dump show arrays/loss.npy"),
    "compare": ("tf2npu compare dump reference", "tf2npu compare dump reference --step 0 --out comparison"),
    "check": ("tf2npu check train.py", "tf2npu check --mode allow_mix_precision --steps 5 train.py --epochs 1"),
    "doctor": ("tf2npu doctor", "tf2npu doctor --script out/train.py"),
    "devices": ("tf2npu devices", "tf2npu run --soc Ascend910B1 out/train.py"),
}
"""Two or more for each command, by its words behind `tf2npu`; each can be typed as it stands."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "Migrate": ("convert", "scan", "undo", "report", "rules", "api"),
    "Run and tune": ("run", "predict", "profile", "tune", "bank"),
    "Compare numbers": ("check", "dump", "compare"),
    "This machine": ("doctor", "devices"),
}
"""The groups of commands that `tf2npu --help` shows."""

SUMMARIES: dict[str, str] = {
    "convert": "Convert a project, a script or a notebook, and report on it.",
    "scan": "Report on a project without converting it.",
    "undo": "Put back what a conversion in place has replaced.",
    "report": "Render a report again, or compare two.",
    "rules": "List the rules, or explain one.",
    "api": "Say what becomes of an API on the NPU, and what to write.",
    "run": "Run a migrated script on the simulated device.",
    "predict": "Predict the time of a training step on a chip.",
    "profile": "Show where the time of a step went.",
    "tune": "Tune the operators of a script for a chip.",
    "bank": "Show, merge or export tuned operators.",
    "check": "Find out why a migrated script's loss differs.",
    "dump": "Write tensors of a run into files, and read them.",
    "compare": "Compare the tensors of two runs, operator by operator.",
    "doctor": "Say what can run on this machine, and why.",
    "devices": "List the simulated devices.",
    "dump reference": "Write the tensors of the original script on TensorFlow.",
    "dump graph": "Write a graph file as JSON.",
    "dump npy": "Write the tensors of a dump as npy files.",
    "dump show": "Show what a file holds.",
    "bank show": "Show a bank of tuned operators.",
    "bank merge": "Put other banks into yours.",
    "bank export": "Put your bank into one file.",
}
"""One line for each command, by its words behind `tf2npu`, in the list of the group that it belongs to."""
