"""Reading and assigning variables."""

from tests.kernels.harness import Var, arr, case, scalar


def ref(*shape: int, dtype: str = "float32", seed: int = 1) -> Var:
    return Var(arr(*shape, dtype=dtype, seed=seed), "ref")


def res(*shape: int, dtype: str = "float32", seed: int = 1) -> Var:
    return Var(arr(*shape, dtype=dtype, seed=seed))


DTYPES = ("float32", "float16", "bfloat16", "int32", "int64", "uint8")
SHAPES = ((3, 4), (), (0, 2), (7,))
UPDATES = ("AssignAddVariableOp", "AssignSubVariableOp")

CASES = [
    *[case("Assign", ref(*s), arr(*s), validate_shape=v) for s in SHAPES for v in (True, False)],
    *[case("Assign", ref(2, 3, dtype=d), arr(2, 3, dtype=d)) for d in (*DTYPES, "bool")],
    case("Assign", ref(2, 3), arr(5), validate_shape=False, id="new shape"),
    *[case("AssignVariableOp", res(*s), arr(*s), dtype="float32") for s in SHAPES],
    *[case("AssignVariableOp", res(2, 3, dtype=d), arr(2, 3, dtype=d), dtype=d) for d in (*DTYPES, "bool")],
    case("AssignVariableOp", res(2, 3), arr(2, 3), dtype="float32", validate_shape=True),
    *[case(op, ref(*s), arr(*s)) for op in ("AssignAdd", "AssignSub") for s in SHAPES],
    *[case(op, ref(9, dtype=d), arr(9, dtype=d)) for op in ("AssignAdd", "AssignSub") for d in DTYPES],
    *[case(op, res(*s), arr(*s), dtype="float32") for op in UPDATES for s in SHAPES],
    *[case(op, res(9, dtype=d), arr(9, dtype=d), dtype=d) for op in UPDATES for d in DTYPES],
    *[case("ReadVariableOp", res(*s), dtype="float32") for s in SHAPES],
    *[case("ReadVariableOp", res(3, dtype=d), dtype=d) for d in (*DTYPES, "bool")],
    case("IsVariableInitialized", ref(2)),
    case("VarIsInitializedOp", res(2)),
    *[case("VariableShape", res(*s), out_type=t) for s in SHAPES for t in ("int32", "int64")],
    case("DestroyResourceOp", res(2)),
    case("DestroyResourceOp", res(2), ignore_lookup_error=False),
    *[case("CountUpTo", Var(scalar(3, t), "ref"), limit=9) for t in ("int32", "int64")],
    *[case("ResourceCountUpTo", Var(scalar(3, t)), limit=9, T=t) for t in ("int32", "int64")],
    case("DisableCopyOnRead", Var(arr(3))),
]
