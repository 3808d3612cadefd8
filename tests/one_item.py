"""Many small cases in one test: pytest and its workers take longer to collect, send and report a test than such a case takes."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Check = Callable[..., None]


def together(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] | Sequence[str] | None = None,
    by: Callable[..., str] | None = None,
) -> Callable[[Check], Check]:
    """Takes what pytest.mark.parametrize takes, and makes one test of all cases, or one for each group of them.

    Every case is checked, whatever becomes of those before it. The failure names each case that failed, and its traceback is that
    of the first. Fixtures are the test's, so that a check which writes into a folder of its own stays parametrized.
    by: the name of a case's group, from its values; `-k NAME` takes the group.
    """
    words = [word.strip() for word in names.split(",")] if isinstance(names, str) else list(names)
    groups: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for name, values in _named(words, cases, ids):
        groups[by(*values.values()) if by else ""][name] = values

    def wrap(check: Check) -> Check:
        def test(group: str = "", **others: Any) -> None:
            check_all(lambda values: check(**values, **others), groups[group])

        asked = [one for one in inspect.signature(check).parameters.values() if one.name not in words]
        group = [inspect.Parameter("group", inspect.Parameter.POSITIONAL_OR_KEYWORD)] if by else []
        test.__dict__["__signature__"] = inspect.Signature(group + asked)  # where pytest looks for what a test asks for
        test.__dict__["pytestmark"] = list(getattr(check, "pytestmark", ()))
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return pytest.mark.parametrize("group", sorted(groups))(test) if by else test

    return wrap


def check_all(check: Callable[[Any], None], cases: Mapping[str, Any]) -> None:
    """Checks every case.  Raises: AssertionError, which names the cases that failed."""
    failed: dict[str, BaseException] = {}
    for name, case in cases.items():
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            failed[name] = error
    if failed:
        raise AssertionError(f"{len(failed)} of {len(cases)} cases: {', '.join(failed)}") from next(iter(failed.values()))


def _named(words: list[str], cases: Iterable[Any], ids: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    """The name and the values of each case; a name that comes again has a number behind it."""
    seen: dict[str, int] = defaultdict(int)
    for place, case in enumerate(cases):
        made = ParameterSet.extract_from(case, force_tuple=len(words) == 1)
        name = str(made.id or (ids(case) if callable(ids) else ids[place] if ids else "-".join(map(str, made.values))))
        seen[name] += 1
        yield (f"{name} {seen[name]}" if seen[name] > 1 else name), dict(zip(words, made.values, strict=True))
