"""Records of made-up checks: the ways in which runs differ, hostile names, and by hypothesis anything that a record can hold."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from npu_formats.documents.check_record import Record, read_record

HOSTILE = "</script><script>window.hit=1</script><img src=x onerror='window.hit=1'>&amp;\u202e\x1b[31m"
SAME = [2.3026, 1.9871, 1.7714]
FIRST = {
    "node": "encoder/scores", "op": "BatchMatMulV2", "dtype": "float16", "file": "model.py", "line": 88, "step": 1,
    "error": 0.31, "own_error": 0.31, "input_error": 2e-7, "what": "overflow", "largest": 91000, "limit": 65504,
    "cosine": 0.9999986,
}  # fmt: skip
CHANGE = {
    "kind": "nodes", "names": ["encoder/scores"], "loss": [2.3026, 1.9872, 1.7716], "loss_error": 1e-4, "is_proven": True,
    "n_tried": 14, "files": {"customize_dtypes.cfg": "OpName::encoder/scores::InputDtype:float32\n"},
}  # fmt: skip
WHAT = ["overflow", "nan", "absorbed", "underflow", "own", "amplifies", "data"]
MIX = "allow_mix_precision"


def agreeing(run: str, mode: str = "", **other: Any) -> dict[str, Any]:
    return {
        "run": run, "mode": mode, "loss": list(SAME), "agrees": True, "tolerance": 1e-4, "loss_error": 2e-7,
        "update_error": 3e-7, "update_tolerance": 1e-3, "compared": 210, "agreeing": 210, **other,
    }  # fmt: skip


def differing(run: str, mode: str, cause: str, **other: Any) -> dict[str, Any]:
    return agreeing(
        run, mode, loss=[2.3026, 2.2417, 2.1090], agrees=False, tolerance=0.01, loss_error=0.19, update_error=0.5,
        update_tolerance=0.5,
        agreeing=150, first=dict(FIRST), cause=cause, least_change=copy.deepcopy(CHANGE), **other,
    )  # fmt: skip


ORIGINAL = {"run": "A", "mode": "", "loss": SAME, "agrees": True}
AGAIN = {**ORIGINAL, "run": "A'"}
CLEAN = [ORIGINAL, AGAIN, *map(agreeing, "BCD"), agreeing("E", MIX), agreeing("F", MIX)]
UP_TO_D = CLEAN[:5]
OVERFLOWING = [*UP_TO_D, differing("E", MIX, "precision")]
RANDOM = {"node": "random_uniform", "op": "RandomUniform", "file": "model.py", "line": 12, "why": "it is not seeded"}
FAILURE = {
    "type": "InvalidArgumentError",
    "text": "In[0] and In[1] differ",
    "node": "dense/MatMul",
    "file": "model.py",
    "line": 7,
}


def nodes(labels: list[str], count: int = 12) -> list[dict[str, Any]]:
    """Nodes in the order of execution; from the sixth on runs in 16 bits are off."""

    def errors(n: int, label: str) -> dict[str, float]:
        return {"error": 0.1 + n / 1e6 if label[0] == "E" and n >= 5 else 1e-7 * n, "own_error": 1e-8 * n}

    names = ["encoder/scores:0" if n == 5 else f"layer{n}/MatMul:0" for n in range(count)]
    return [
        {"name": name, "op": "MatMul", "file": "model.py", "line": n + 1, "runs": {label: errors(n, label) for label in labels}}
        for n, name in enumerate(names)
    ]


def document(runs: list[dict[str, Any]], n_nodes: int = 12, **other: Any) -> dict[str, Any]:
    labels = [f"{run['run']} {run.get('mode', '')}".strip() for run in runs if run["run"] not in ("A", "A'")]
    return {
        "format": 1, "script": "train.py", "migrated": "out/train.py", "steps": 3, "soc": "Ascend910A", "loss": "loss:0",
        "self_distance": 4e-6, "randomness": [], "is_complete": True, "stopped": "", "runs": copy.deepcopy(runs),
        "nodes": nodes(labels, n_nodes), "unmatched": 0, **other,
    }  # fmt: skip


def record(runs: list[dict[str, Any]], **other: Any) -> Record:
    return read_record(document(runs, **other))


def _conversion() -> Record:
    first = {**FIRST, "what": "own", "dtype": "float32", "own_error": 0.002, "cosine": None}
    names = ["NPU105", "NPU203", "NPU101"]
    change = {"kind": "rules", "names": names, "loss": SAME, "loss_error": 0, "is_proven": True}
    return record([ORIGINAL, AGAIN, differing("B", "", "conversion") | {"first": first, "least_change": change}, agreeing("C")])


def _fusion() -> Record:
    first = {**FIRST, "what": "amplifies", "input_error": 2e-4}
    change = {"kind": "passes", "names": ["BatchNormFusion"], "files": {"fusion_switch.cfg": "{}"}}
    differs = differing("D", "", "fusion") | {"first": first, "least_change": change}
    return record([*CLEAN[:4], differs], is_complete=False, stopped="budget")


def _nan() -> Record:
    loss = {"loss": [2.3026, "NaN", "NaN"], "loss_error": "NaN"}
    differs = differing("E", MIX, "precision") | {**loss, "first": {**FIRST, "what": "nan"}, "least_change": None}
    return record([*UP_TO_D, differs], is_complete=False, stopped="interrupted")


def _random() -> Record:
    again = {**AGAIN, "agrees": False, "loss": [2.3, 2.0, 1.8], "loss_error": 0.02}
    return record([ORIGINAL, again, differing("B", "", "kernel")], randomness=[RANDOM] * 5)


def _no_loss() -> Record:
    no_loss = {"loss": [], "loss_error": None}
    first = {**FIRST, "what": "underflow", "input_error": 0.002}
    differs = differing("C", "", "kernel") | {**no_loss, "first": first, "least_change": None}
    return record([ORIGINAL | {"loss": []}, agreeing("B") | no_loss, differs], loss="")


def _two_modes() -> Record:
    others = [differing("F", MIX, "overflow"), differing("E", "force_fp16", "precision"), agreeing("E", "force_fp32")]
    return record([*OVERFLOWING, *others])


def _many_steps() -> Record:
    loss = [1e9 / (n + 1) for n in range(40)]
    return record([{**ORIGINAL, "loss": loss}, *(agreeing(run) | {"loss": loss} for run in "BCD")])


SAMPLES: dict[str, Record] = {
    "clean": record(CLEAN),
    "precision": record(OVERFLOWING),
    "two_modes": _two_modes(),
    "conversion": _conversion(),
    "fusion": _fusion(),
    "nan": _nan(),
    "failed": record([*CLEAN[:3], {"run": "C", "failure": FAILURE}, agreeing("D")]),
    "random": _random(),
    "no_loss": _no_loss(),
    "stopped": record([ORIGINAL, AGAIN], nodes=[], is_complete=False, stopped="budget"),
    "many_steps": _many_steps(),
}
"""A record for each way in which a check comes out."""


def hostile() -> Record:
    """A record in which every text is hostile that the script can choose."""
    first = {**FIRST, "node": HOSTILE, "op": HOSTILE, "dtype": HOSTILE, "file": HOSTILE}
    change = {**CHANGE, "names": [HOSTILE] * 3, "files": {"modify_mixlist.json": HOSTILE}}
    failure = {**dict.fromkeys(("type", "text", "node", "file"), HOSTILE), "line": 1}
    differs = differing("E", MIX, "precision") | {"first": first, "least_change": change}
    made = document([*UP_TO_D, differs, {"run": "F", "mode": MIX, "failure": failure}])
    texts_of_all = dict.fromkeys(("script", "soc", "loss", "stopped"), HOSTILE)
    named = [{**node, "name": HOSTILE, "op": HOSTILE, "file": HOSTILE} for node in made["nodes"]]
    return read_record({**made, **texts_of_all, "is_complete": False, "nodes": named})


def hostile_and_random() -> Record:
    """Hostile sources of randomness."""
    return record(OVERFLOWING, randomness=[dict.fromkeys(("node", "op", "file", "why"), HOSTILE)])


# Any character, lone surrogates and controls included, with the ones that break renderers more often than by chance.
texts = st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'`{}\\/\r\n\t\x00\x1b\u202e\ud800中")), max_size=60)
numbers = st.one_of(
    st.none(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["NaN", "Infinity", "-Infinity", 0])
)
counts = st.integers(0, 2**31 - 1)
losses = st.lists(numbers, max_size=8)
places = {"node": texts, "file": texts, "line": counts}
firsts = st.fixed_dictionaries(
    {
        "op": texts, "dtype": texts, "what": st.sampled_from(WHAT), **places,
        **dict.fromkeys(("error", "own_error", "input_error", "largest", "limit", "cosine"), numbers),
    }
)  # fmt: skip
names_of_files = st.sampled_from(["modify_mixlist.json", "customize_dtypes.cfg", "fusion_switch.cfg"])
changes = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["nodes", "types", "passes", "rules"]), "names": st.lists(texts, max_size=4), "loss": losses,
        "loss_error": numbers, "is_proven": st.booleans(), "files": st.dictionaries(names_of_files, texts, max_size=3),
    }
)  # fmt: skip
failures = st.fixed_dictionaries({"type": texts, "text": texts, **places})
causes = st.sampled_from(["", "conversion", "kernel", "folding", "fusion", "precision", "overflow", "randomness"])
runs_of_letter = {
    "loss": losses, "agrees": st.booleans(), "cause": causes, "compared": counts, "agreeing": counts,
    **dict.fromkeys(("tolerance", "loss_error", "update_error", "update_tolerance"), numbers),
    "first": st.none() | firsts, "least_change": st.none() | changes, "failure": st.none() | failures,
}  # fmt: skip
letters = st.lists(
    st.tuples(st.sampled_from(["A'", *"BCDEF"]), st.sampled_from(["", MIX, "force_fp16"])), max_size=8, unique=True
)


@st.composite
def documents(draw) -> dict[str, Any]:
    """Any record, as its JSON document."""
    chosen = [("A", ""), *draw(letters)]
    runs = [{"run": run, "mode": mode, **draw(st.fixed_dictionaries(runs_of_letter))} for run, mode in chosen]
    labels = st.sampled_from([f"{run} {mode}".strip() for run, mode in chosen])
    errors = st.dictionaries(labels, st.fixed_dictionaries({"error": numbers, "own_error": numbers}), max_size=3)
    node = st.fixed_dictionaries({"name": texts, "op": texts, "file": texts, "line": counts, "runs": errors})
    random = st.fixed_dictionaries({"op": texts, "why": texts, **places})
    return {
        "format": 1, "script": draw(texts), "soc": draw(texts), "loss": draw(texts), "steps": draw(counts),
        "self_distance": draw(numbers), "stopped": draw(texts), "is_complete": draw(st.booleans()), "runs": runs,
        "nodes": draw(st.lists(node, max_size=3)), "randomness": draw(st.lists(random, max_size=4)),
    }  # fmt: skip


records = documents().map(read_record)
