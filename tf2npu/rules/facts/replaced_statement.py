"""A small statement in the place of another one, where the line cannot go as a whole."""

from __future__ import annotations

import libcst as cst

from tf2npu.scanner.sites import Site


def write_instead(site: Site, node: cst.CSTNode, new: str, note: str = "") -> None:
    """`new` in the place of a small statement, with its comments; what follows on its line stays, and no comment hides it.

    note: a comment of ours, where there is room for it.
    """
    script = site.script
    start, end = script.tree.span(node)
    comments = script.comments(start, end)
    end = start + len(script.text[start:end].rstrip("; \t"))
    if not script.text[end : script.lines.line_end(end)].strip():
        new = "  ".join([new, *(comments or ([note] if note else []))])
    elif comments:
        head, _, last = new.rpartition(" ")
        lines = "".join(f"  {comment}{script.newline_at(start)}" for comment in comments)
        new = f"{head} ({'None' if last == 'pass' else last}{lines})".lstrip()
    site.replace_range(start, end, new)
