"""Cases of npu_runtime.kernels.linalg.einsum."""

from tests.kernels.harness import Case, arr, case


def product(equation: str, *shapes: tuple[int, ...], dtype: str = "float32") -> Case:
    operands = [arr(*shape, dtype=dtype, seed=index) for index, shape in enumerate(shapes)]
    return case("Einsum", operands, equation=equation, id=f"{equation}-{dtype}-{shapes}".replace(" ", ""))


CASES = [
    product("ij,jk->ik", (3, 4), (4, 5)),
    product("ij,kj->ki", (3, 4), (5, 4)),
    product("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    product("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 6, 3, 5)),
    product("bhqk,bkhd->bqhd", (2, 3, 4, 6), (2, 6, 3, 5)),
    product("abc,cd->abd", (2, 3, 4), (4, 5)),
    product("abc,cde->abde", (2, 3, 4), (4, 5, 2)),
    product("abde,cde->abc", (2, 3, 5, 2), (4, 5, 2)),
    product("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
    product("...ij,...jk->...ik", (7, 1, 3, 4), (2, 4, 5)),
    product("...ij,jk->...ik", (2, 2, 3, 4), (4, 5)),
    product("cdb,ab->acd", (4, 5, 2), (6, 2)),
    product("ab,acd->cdb", (6, 2), (6, 4, 5)),
    product("xc,abc->xba", (6, 2), (5, 4, 2)),
    product("abc,xba->xc", (5, 4, 2), (6, 4, 5)),
    product("abde,abc->cde", (2, 3, 5, 2), (2, 3, 4)),
    product("aecd,abcd->acbe", (2, 6, 3, 2), (2, 4, 3, 2)),
    product("...ba,...ca->...cb", (3, 1, 5, 2), (4, 6, 2)),
    product("i,j->ij", (3,), (4,)),
    product("i,j->ji", (3,), (4,)),
    product("i,i->", (3,), (3,)),
    product("ij,->ij", (3, 4), ()),
    product("ij->ji", (3, 4)),
    product("ij->", (3, 4)),
    product("ij->j", (3, 4)),
    product("ii->i", (4, 4)),
    product("iij->j", (4, 4, 2)),
    product("i->ii", (4,)),
    product("ii->", (4, 4)),
    product("ij,ij->ij", (3, 4), (3, 4)),
    product("ij,ik->i", (3, 4), (3, 5)),
    product("...i->...", (2, 3, 4)),
    product("ij,jk->ik", (0, 4), (4, 5)),
    product("ij,jk->ik", (3, 0), (0, 5)),
    *[product("bij,bjk->bik", (2, 3, 4), (2, 4, 5), dtype=d) for d in ("float16", "bfloat16", "int32", "int64")],
]
