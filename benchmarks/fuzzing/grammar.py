"""Random TensorFlow 1 programs: every form of call, import, scope and layout that Python allows, from one seeded generator."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from benchmarks.fuzzing import apis, layout

# How TensorFlow is imported, and the name it then has; "" where names are imported one by one.
IMPORTS = (
    ("import tensorflow as tf", "tf"),
    ("import tensorflow", "tensorflow"),
    ("import tensorflow.compat.v1 as tf", "tf"),
    ("import os, tensorflow as tf, sys", "tf"),
    ("from tensorflow.compat import v1 as tf", "tf"),
    ("import tensorflow as q", "q.compat.v1"),
    ("try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf", "tf"),
    ("try: import tensorflow as tf\nexcept ImportError: tf = None", "tf"),
    ("import tensorflow as _tf; tf = _tf", "tf"),
    ("if True:\n    import tensorflow as tf  # here", "tf"),
    ("from os import (\n  path,  # p\n)\nimport tensorflow as T", "T"),
    ("import tensorflow as tf\ntf.disable_v2_behavior()", "tf"),
    ("import tensorflow_core as tf", "tf"),
    ("import tensorflow as \\\n    tf", "tf"),
    ("from npu_bridge.npu_init import *\nimport tensorflow as tf", "tf"),
    ("import tensorflow as tf; from npu_bridge.npu_init import npu_config_proto", "tf"),
    ("import tensorflow as tf\nfrom npu_bridge.npu_init import (NPURunConfig,  # a\n  )", "tf"),
)
HOROVOD_IMPORTS = (
    "import horovod.tensorflow as hvd",
    "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None",
    "import horovod.tensorflow.keras as hvd",
    "from horovod import tensorflow as hvd",
    "hvd = None\nif D:\n    import horovod.tensorflow as hvd",
    "import horovod.keras as hvd  # ranks",
    "import horovod.tensorflow as hvd; hvd.init()",
)
HEADS = (
    "",
    "'''Doc.'''\n",
    '#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n"""Doc\nover two."""\n',
    "# coding: latin-1\n# \xe9t\xe9\n",
    "from __future__ import absolute_import, division\n",
    "# Copyright\n\n'''D''' # doc\nfrom __future__ import (\n    print_function,\n)\n",
    "\n\n\x0c\n",
)
OTHER_IMPORTS = (
    "import numpy as np\n",
    "from absl import flags, app\n",
    "import keras\n",
    "import functools # f\n",
    "from tensorflow.keras.layers import *\n",
)
GUARDS = (
    "if __name__ == '__main__':",
    'if "__main__" == __name__ :',
    "if __name__=='__main__' and True:",
    "if (__name__ == '__main__'):  # go",
    "if __name__ == \\\n   '__main__':",
)
NAMES = ("x", "y", "cfg", "self.z", "a.b.c", "FLAGS.d", "npu_config_proto", "tf_x", "os", "hvd", "\xe9")
ATOMS = (
    *NAMES,
    "0",
    "1.5",
    "-1",
    "2**15",
    "'text'",
    "b'y'",
    "None",
    "...",
    "[]",
    "{}",
    "(1,)",
    "r'\\d'",
    "'a' 'b'",
    "'''two\nlines # no'''",
    "'# no comment'",
    "x[1:, ::2]",
    "not y",
    "lambda: 0",
    "-x.y",
    "1_000",
    "{'k': v, **w}",
    "{1, 2}",
    "f'{x!r:>{w}}'",
    "f''",
    "x if y else z",
)


class Grammar:
    """Writes one program; the same random numbers give the same text."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.tf = "tf"
        self.in_function = self.in_async = self.in_loop = False

    def program(self) -> str:
        """Text of a program, with line feeds and four blanks, as `layout` wants it."""
        head = self.rng.choice(HEADS) if self.rng.random() < 0.4 else ""
        statement, self.tf = self.rng.choice(IMPORTS)
        parts = [head, statement + "\n"]
        if self.rng.random() < 0.35:
            parts.append(self.rng.choice(HOROVOD_IMPORTS) + "\n")
        parts += [self.rng.choice(OTHER_IMPORTS) for _ in range(self.rng.choice((0, 0, 1, 2)))]
        parts += [self.from_import() for _ in range(self.rng.choice((0, 0, 1)))]
        parts += [self.statement(3) for _ in range(self.rng.randint(1, 7))]
        if self.rng.random() < 0.4:
            parts.append(self.guard())
        return "".join(parts)

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def choice(self, texts: tuple[str, ...]) -> str:
        return self.rng.choice(texts)

    def filled(self, texts: tuple[str, ...]) -> str:
        return (
            self.choice(texts).replace("{tf}", self.tf).replace("{c}", self.choice(("cfg", "config", "session_config", "self.c")))
        )

    def from_import(self) -> str:
        path = self.choice(tuple(name for name in apis.APIS if "." in name))
        module, _, name = path.rpartition(".")
        form = self.choice(
            ("from tensorflow.{m} import {n}\n", "from tensorflow.{m} import {n} as N\n", "from tensorflow import {t}\n")
        )
        return form.format(m=module, n=name, t=module.split(".")[0])

    # Expressions.

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.maybe(0.25):
            return self.choice(ATOMS)
        return self.rng.choice(self.compounds)(self, depth - 1)

    def api_call(self, depth: int) -> str:
        if self.maybe(0.15):
            name = self.choice(tuple(apis.HOROVOD))
            return self.call(f"hvd.{name}", apis.HOROVOD[name], depth)
        name = self.choice(tuple(apis.APIS))
        spelled = (
            f"{self.tf}.{name}" if self.maybe(0.9) else self.choice((name.split(".")[-1], f"N.{name}", f"({self.tf}.{name})"))
        )
        return self.call(spelled, apis.APIS[name], depth)

    def call(self, callee: str, parameters: tuple[str, ...], depth: int) -> str:
        """A call with the first few arguments by position, others by keyword, now and then stars or too many."""
        n_positional = self.rng.randint(0, min(4, len(parameters)))
        arguments = [self.value(name, depth) for name in parameters[:n_positional]]
        if self.maybe(0.05):
            arguments.append("*" + self.choice(("args", "[1]", "(a or b)")))
        rest = list(parameters[n_positional:])
        self.rng.shuffle(rest)
        equals = self.choice(("=", "=", "=", " = ", "= "))
        arguments += [f"{name}{equals}{self.value(name, depth)}" for name in rest[: self.rng.randint(0, 3)]]
        if self.maybe(0.06):
            arguments.append("**" + self.choice(("kw", "dict(a=1)", "{'config': cfg}", "(k or {})")))
        if len(arguments) == 1 and "=" not in arguments[0] and self.maybe(0.05):
            arguments = [f"{self.choice(ATOMS)} for i in {arguments[0]}"]
        return layout.call(self.rng, callee, arguments)

    def value(self, parameter: str, depth: int) -> str:
        if parameter in apis.VALUES and self.maybe(0.7):
            text = self.filled(apis.VALUES[parameter])
        else:
            text = self.expression(depth)
        return layout.around(self.rng, text)

    def dataset(self, depth: int) -> str:
        links = [self.filled(apis.DATASET_METHODS) for _ in range(self.rng.randint(1, 4))]
        return layout.chain(self.rng, self.filled(apis.DATASETS), links)

    def use(self, depth: int) -> str:
        return self.filled(apis.USES)

    def combined(self, depth: int) -> str:
        form = self.choice(
            (
                "(<> if <> else <>)",
                "(<> or <>)",
                "<>.foo(<>)",
                "[<>, <>]",
                "(<>, # c\n <>)",
                "{'k': <>, 'l': {}}",
                "(<>)[<>]",
                "g(<>, k=<>)",
                "(not <>) + -(<>)",
                "(<>\n * <>)",
                "{<>: {}}",
                "((<>))",
                "x[<>]",
                "g(*<>, **<>)",
            )
        )
        return self._fill(form, depth)

    def scoped(self, depth: int) -> str:
        form = self.choice(
            (
                "(lambda v: <>)",
                "(lambda v=<>: v)",
                "[i for i in <> if <>]",
                "{k: <> for k in {}}",
                "(w := <>)",
                "[<> for tf in y]",
                "(lambda *a, tf=1, **k: <>)",
                "any(<> for _ in z)",
            )
        )
        return self._fill(form, depth)

    def formatted(self, depth: int) -> str:
        inner = self.expression(min(depth, 1)).replace("\n", " ")
        quote = next((q for q in ('"', "'", '"""', "'''") if q not in inner), None)
        if quote is None or "#" in inner or "\\" in inner:
            return self.choice(ATOMS)
        return f"f{quote}a{{({inner})}}b{quote}"

    def awaited(self, depth: int) -> str:
        text = self.expression(depth)
        return f"(await {text})" if self.in_async else f"(yield {text})" if self.in_function else f"({text})"

    def _fill(self, form: str, depth: int) -> str:
        return re.sub("<>", lambda _: self.expression(depth), form)

    compounds: tuple[Callable[[Grammar, int], str], ...] = (
        api_call,
        api_call,
        api_call,
        api_call,
        dataset,
        use,
        use,
        combined,
        combined,
        scoped,
        formatted,
        awaited,
    )

    # Statements; each ends with a newline.

    def statement(self, depth: int) -> str:
        if depth <= 0 or self.maybe(0.5):
            return self.simple_line()
        return self.rng.choice(self.blocks)(self, depth - 1)

    def simple_line(self) -> str:
        parts = [self.simple() for _ in range(2 if self.maybe(0.1) else 1)]
        end = self.choice(("", "", "", "", "  # why", " # tf2npu: ignore", ";", " ;# end", "   "))
        return layout.between(self.rng) + "; ".join(parts) + end + "\n"

    def simple(self) -> str:
        form = self.choice(
            (
                "v = <>",
                "v = w = <>",
                "a, b = <>, <>",
                "v: int = <>",
                "v += <>",
                "<>",
                "<>",
                "<>",
                "del v",
                "assert <>, <>",
                "pass",
                "self.v = <>",
                "v[0] = <>",
                "global G",
                "import tensorflow as tf",
                "print(<>)",
                "tf = <>",
                "raise E(<>)",
                "*a, b = <>",
                "OBJECT",
                "OBJECT",
                "OPTION",
                "return <>",
                "break",
                "yield <>",
            )
        )
        if form == "OBJECT":
            return self.filled(apis.OBJECTS)
        if form == "OPTION":
            return self.filled(apis.OPTION_LINES)
        is_misplaced = (form.startswith(("return", "yield")) and not self.in_function) or (form == "break" and not self.in_loop)
        return self._fill("<>" if is_misplaced else form, 3)

    def suite(self, depth: int, head: str) -> str:
        """A header with its block, on one line, or below in the usual way."""
        if self.maybe(0.1):
            return f"{head} {self.simple()}\n"
        comment = self.choice(("", "", "", "  # block"))
        lines = [self.statement(depth) for _ in range(self.rng.randint(1, 3))]
        return f"{head}{comment}\n" + layout.indented("".join(lines), self.choice(("    ", "    ", "  ", "\t", "        ")))

    def with_(self, depth: int) -> str:
        items = [self.expression(2) + self.choice(("", " as sess", " as s.t")) for _ in range(self.rng.choice((1, 1, 2)))]
        keyword = "async with" if self.in_async and self.maybe(0.3) else "with"
        return self.suite(depth, f"{keyword} {', '.join(items)}:")

    def branch(self, depth: int) -> str:
        text = self.suite(depth, f"if {self.expression(2)}:")
        text += self.suite(depth, f"elif {self.expression(2)}:") if self.maybe(0.3) else ""
        return text + (self.suite(depth, "else:") if self.maybe(0.4) else "")

    def loop(self, depth: int) -> str:
        self.in_loop, before = True, self.in_loop
        head = self.choice(("for i in <>:", "while <>:", "for tf in <>:", "for a, (b, *c) in <>:"))
        text = self.suite(depth, self._fill(head, 2))
        self.in_loop = before
        return text + (self.suite(depth, "else:") if self.maybe(0.2) else "")

    def attempt(self, depth: int) -> str:
        text = self.suite(depth, "try:") + self.suite(
            depth, self.choice(("except E as e:", "except (A, B):", "except Exception:"))
        )
        return text + (self.suite(depth, "finally:") if self.maybe(0.3) else "")

    def function(self, depth: int) -> str:
        before = self.in_function, self.in_async, self.in_loop
        self.in_function, self.in_async, self.in_loop = True, self.maybe(0.15), False
        decorator = (
            f"@{self.choice(('d', 'tf.function', 'd(1)', 'd(tf.device(0))', 'property'))}  # d\n" if self.maybe(0.2) else ""
        )
        parameters = self.choice(
            (
                "",
                "self",
                "x, rate=0.5",
                "tf",
                "*args, **kw",
                "a, /, b, *, c={}",
                "features, labels, mode, params",
                "x: 'T' = {}, \n  y=1",
            )
        )
        self.in_function, (was_function, was_async, was_loop) = self.in_function, before
        name = self.choice(("f", "gelu", "main", "model_fn", "input_fn", "__init__", "train"))
        parameters = parameters.replace("{}", self.choice(ATOMS))
        head = f"{'async ' if self.in_async else ''}def {name}({parameters}){self.choice(('', '', ' -> int'))}:"
        text = decorator + self.suite(depth, head)
        self.in_function, self.in_async, self.in_loop = was_function, was_async, was_loop
        return text

    def class_(self, depth: int) -> str:
        before = self.in_function, self.in_async, self.in_loop
        self.in_function = self.in_async = self.in_loop = False
        base = self.choice(
            ("", "(object)", "({tf}.estimator.Estimator)", "({tf}.keras.Model, B)", "({tf}.train.Optimizer, metaclass=M)")
        )
        body = self.suite(depth, f"class C{base.format(tf=self.tf)}:")
        if self.maybe(0.4):
            first = self.choice(("config=cfg", "fn, 'd', None", "", "model_fn=fn, params=p, config=run_config", "*a, **k"))
            parent = self.choice(("super().__init__", "super(C, self).__init__"))
            body += (
                layout.indented(f"def __init__(self, *a, **k):\n    {parent}({first})\n", "    ") if body.count("\n    ") else ""
            )
        self.in_function, self.in_async, self.in_loop = before
        return body

    def match(self, depth: int) -> str:
        cases = [
            self.suite(depth, f"case {p}:")
            for p in self.rng.sample(("1", "[a, *b]", "{'k': v}", "C(x=1)", "tf.A | None", "str() as s if s"), 2)
        ]
        return f"match {self.expression(2)}:\n" + "".join(layout.indented(case, "    ") for case in cases)

    def gelu(self, depth: int) -> str:
        body = self.choice(
            (
                "cdf = 0.5 * (1.0 + tf.tanh(\n    (np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))\nreturn x * cdf\n",
                "cdf = 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))  # erf\nreturn x * cdf\n",
                "'''D.'''\nreturn tf.nn.gelu(x)\n",
            )
        )
        return f"def gelu({self.choice(('x', 'x, y=1', 'input_tensor'))}):\n" + layout.indented(body, "  ")

    def guard(self) -> str:
        return self.suite(2, self.choice(GUARDS))

    blocks: tuple[Callable[[Grammar, int], str], ...] = (
        with_,
        with_,
        branch,
        loop,
        attempt,
        function,
        function,
        function,
        class_,
        match,
        gelu,
    )


def program(rng: random.Random) -> bytes:
    """One program as bytes, in a random layout."""
    return layout.laid_out(rng, Grammar(rng).program())
