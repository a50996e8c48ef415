"""Random expressions of plain NumPy over the names in scope.

Text is put together from templates and then tried on the samples (see kinds.py): what raises an
error there is thrown away and another text is tried. So a template need not know which operands
fit together.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.fuzz.kinds import Kind, Rejected, Samples

LITERALS = ["1", "2", "3", "-1", "0.5", "2.0", "-1.5"]

# {n}: any numeric expression, {a}: an array by name, {c}: a condition, {m}: a mask, {s}: a scalar,
# {i}: an integer; {A} and {B}: two expressions of one kind, since which one it is shows at run time
NUMERIC = [
    "({n} + {n})", "({n} - {n})", "({n} * {n})", "({n} + {n})", "({n} * 2)", "({n} + 1)",
    "({n} / {n})", "({n} // {n})", "({n} % {n})", "({n} // 2)", "({n} % 3)", "({n} ** 2)",
    "-{n}", "abs({n})", "np.minimum({n}, {n})", "np.maximum({n}, {n})",
    "np.where({m}, {n}, {n})", "np.where({m}, {a}, {n})", "np.clip({n}, -2, 3)",
    "np.sqrt(np.abs({n}))", "np.tanh({n})", "np.floor({n})", "np.sign({n})", "np.square({n})",
    "({A} if {c} else {B})", "min({A}, {B})", "max({A}, {B})", "round({s})",
]  # fmt: skip
REDUCTIONS = [
    "{a}.sum()", "{a}.max()", "{a}.mean()", "np.sum({a}, axis=0)", "{a}.sum(axis=-1)",
    "{a}.min(axis=0)", "{a}.sum(axis=1, keepdims=True)", "np.max({a}, axis=-1)", "np.cumsum({a})",
    "np.argmax({a})", "{a}.argmin(axis=0)", "np.prod({a})", "({m}).sum()", "{a} @ {a}",
    "np.dot({a}, {a})", "sum({a})", "np.mean({a}, axis=0)", "{a}.std()", "np.count_nonzero({a})",
    "np.diff({a})", "({m}).any()", "({m}).all()", "np.cumsum({a}, axis=0)",
]  # fmt: skip
INDEXING = [
    "{a}[0]", "{a}[-1]", "{a}[{i}]", "{a}[{i}]", "{a}[1:]", "{a}[:-1]", "{a}[::-1]", "{a}[::2]",
    "{a}[:{i}]", "{a}[{i}:]", "{a}[{i}:{i} + 2]", "{a}[{m}]", "{a}[np.argsort({a}, kind='stable')]",
    "{a}[[0, 1]]", "{a}[:, 0]", "{a}[1:, :2]", "{a}[..., 0]", "{a}[None, :]", "{a}[:, None]",
    "{a}[:, {i}]", "{a}[{i}, 1]", "{a}[{i} % len({a})]", "{a}[-{i}:]", "{a}[0, {i}:]",
    "{a}[::-1, 1]", "{a}[np.array([0, -1, 0])]", "{a}[{i}][0]", "{a}[:, [1, 0]]",
    "{a}[..., [0, -1]]", "{a}[:, {a}[0] > 0]", "{a}[[1, 0], :1]",
]  # fmt: skip
SHAPES = [
    "{a}.T", "{a}.reshape(-1)", "{a}.reshape({a}.shape[::-1])", "np.concatenate([{a}, {a}])",
    "np.stack([{a}, {a}])", "{a}.ravel()", "{a}.copy()", "{a}.astype(np.float32)",
    "{a}.astype(np.int64)", "np.sort({a})", "np.zeros_like({a})", "np.ones(len({a}))",
    "np.arange(len({a}))", "np.full(3, {s})", "np.zeros((2, 3))", "np.arange(5)", "np.array({s})",
    "np.zeros({a}.shape)", "np.array([{s}, {s}])", "np.flip({a})", "np.roll({a}, 1)",
    "np.repeat({a}, 2)", "np.tile({a}, 2)", "np.expand_dims({a}, 0)", "np.squeeze({a})",
    "np.outer({a}, {a})", "np.swapaxes({a}, 0, 1)", "{a}[:, None] * {a}", "np.full_like({a}, 2)",
]  # fmt: skip
SCALARS = [
    "len({a})", "{a}.shape[0]", "{a}.size", "int({s})", "float({s})", "bool({s})", "{a}.ndim",
    "{a}.shape[-1]", "({s} + {s})", "({s} * {s})", "({s} - 1)", "({s} // 2)", "({s} % 3)",
    "{a}[0]", "{a}[{i}]", "{a}.sum()", "{a}.max()", "np.float32({s})", "np.int64({i})",
    "np.int8({i})", "np.uint16({i})", "np.uint64({i})", "np.int32({i})",
]  # fmt: skip
CONDITIONS = [
    "{s} > {s}", "{s} < 2", "{s} >= 0", "{s} % 2 == 0", "{c} and {c}", "{c} or {c}", "not {c}",
    "0 < {s} <= 3", "{s} < {s} < {s}", "{a}[0] > {a}[-1]", "({m}).any()", "({m}).all()",
    "{i} in (1, 2)", "len({a}) > 3", "{a}.sum() > {s}", "{s} != {s}", "{a}.mean() < 1",
    "{a}.shape[0] % 2 == 0", "{s} == {s}", "({s} > 0) == ({s} < 2)", "{s}",
]  # fmt: skip
MASKS = ["{a} > {s}", "{a} > 0", "{a} < {a}", "({a} > 0) & ({a} < 2)", "~({a} > 0)", "{a} != 1",
         "{a} % 2 == 0", "np.isfinite({a})", "{a} == {a}", "({a} < 0) | ({a} > 1)"]  # fmt: skip


class Expressions:
    """Writes expressions over `samples`; `rng` decides."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.takes: dict[str, Kind] = {}  # of each function of the program, its argument's kind
        self.tables: dict[str, Callable[[Samples, int], str]] = {
            "n": self.numeric, "a": self.array, "c": self.condition,
            "i": self.integer, "s": self.scalar, "m": self.mask,
        }  # fmt: skip

    def some(self, samples: Samples, wanted: Callable[[Kind], bool] | None = None) -> str:
        """An expression that runs on the samples and gives a wanted kind.

        Raises:
            Rejected: none was found.
        """
        for _ in range(30):
            try:
                text = self.numeric(samples, self.rng.choice([0, 1, 1, 2, 3]))
                kind = samples.evaluate(text)[1]
            except Rejected:
                continue
            if wanted is None or wanted(kind):
                return text
        raise Rejected("no expression of this kind")

    def of_kind(self, samples: Samples, kind: Kind) -> str:
        """An expression of exactly this kind, often made from names that have it."""
        alike = [name for name in samples.names() if samples.kind(name) == kind]
        if alike and self.rng.random() < 0.6:
            wide = ["{0} + {1}", "{0} - {1}", "{0} * 2", "np.where({0} > {1}, {0}, {1})", "{0}",
                    "np.minimum({0}, {1})", "({0} if {c} else {1})", "{0} + 1", "{0} // 2",
                    "{0}.copy()", "{0}[::-1]", "-{0}", "{0} % 3", "{1}"]  # fmt: skip
            for _ in range(10):
                template = self.rng.choice(wide).replace("{c}", self.condition(samples, 1))
                text = template.format(self.rng.choice(alike), self.rng.choice(alike))
                try:
                    if samples.evaluate(text)[1] == kind:
                        return text
                except Rejected:
                    continue
        return self.some(samples, lambda found: found == kind)

    def checked_condition(self, samples: Samples) -> str:
        """A condition that runs on the samples and has one truth value."""
        for _ in range(30):
            text = self.condition(samples, 2)
            try:
                samples.evaluate(f"bool({text})")
            except Rejected:
                continue
            return text
        raise Rejected("no condition")

    # --- the templates ---

    def fill(self, template: str, samples: Samples, depth: int) -> str:
        parts = []
        if "{A}" in template:
            first, second = self.alike(samples)
            template = template.replace("{A}", first).replace("{B}", second)
        while template:
            head, brace, rest = template.partition("{")
            parts.append(head)
            if brace:
                parts.append(self.tables[rest[0]](samples, depth - 1))
                rest = rest[2:]
            template = rest
        return "".join(parts)

    def alike(self, samples: Samples) -> tuple[str, str]:
        first = self.atom(samples)
        kind = samples.evaluate(first)[1]
        for _ in range(8):
            second = self.numeric(samples, self.rng.choice([0, 0, 1]))
            if second != first and samples.evaluate(second)[1] == kind:
                return first, second
        return first, f"({first} + {first})"

    def numeric(self, samples: Samples, depth: int) -> str:
        if depth <= 0:
            return self.atom(samples)
        table = self.rng.choice([NUMERIC, NUMERIC, INDEXING, REDUCTIONS, SHAPES, SCALARS])
        helpers = samples.functions()
        if helpers and self.rng.random() < 0.15:
            name = self.rng.choice(helpers)
            alike = [n for n in samples.names() if samples.kind(n) == self.takes[name]]
            if alike:  # every path of a staged function is traced, so each must suit the argument
                return f"{name}({self.rng.choice(alike)})"
        return self.fill(self.rng.choice(table), samples, depth)

    def atom(self, samples: Samples) -> str:
        names = self.named(samples, lambda v: isinstance(v, np.ndarray | np.generic | int | float))
        if not names or self.rng.random() < 0.2:
            return self.rng.choice(LITERALS)
        return self.rng.choice(names)

    def array(self, samples: Samples, depth: int) -> str:
        names = self.named(samples, lambda v: isinstance(v, np.ndarray) and v.ndim > 0)
        if not names:
            raise Rejected("no array in scope")
        name = self.rng.choice(names)
        return f"{name}[1:]" if self.rng.random() < 0.05 else name

    def scalar(self, samples: Samples, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.4:
            return self.fill(self.rng.choice(SCALARS), samples, depth)
        names = self.named(samples, _is_number)
        return self.rng.choice([*names, *names, *LITERALS[:5]])

    def integer(self, samples: Samples, depth: int) -> str:
        names = self.named(samples, lambda v: _is_number(v) and np.asarray(v).dtype.kind in "iu")
        return self.rng.choice([*names, *names, *names, "0", "1", "2"])

    def mask(self, samples: Samples, depth: int) -> str:
        return self.fill(self.rng.choice(MASKS), samples, depth)

    def condition(self, samples: Samples, depth: int) -> str:
        table = CONDITIONS if depth > 0 else CONDITIONS[:4]
        return self.fill(self.rng.choice(table), samples, depth)

    def named(self, samples: Samples, accept: Callable[[Any], bool]) -> list[str]:
        """Names and items of containers whose value is accepted."""
        found = []
        for name in samples.names():
            value = samples.value(name)
            if isinstance(value, list | tuple):
                found += [f"{name}[{i}]" for i, item in enumerate(value) if accept(item)]
            elif isinstance(value, dict):
                found += [f"{name}['{key}']" for key, item in value.items() if accept(item)]
            elif accept(value):
                found.append(name)
        return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.generic | np.ndarray) and np.ndim(value) == 0
