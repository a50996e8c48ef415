"""Random programs that do little but give arrays new names and update them.

    program = aliasing_program(7)

Vectors get second names, views and copies, on some paths and in loops; everything is updated in
place. What a name holds is then known to the run alone, nearly always.
"""

import itertools

import numpy as np

from tests.fuzz.generator import Argument, Program, Writer, indented
from tests.fuzz.kinds import Rejected, Samples

VALUES = ["{1}", "{1}", "{1}", "{1}[::-1]", "{1} * 2", "{1}.copy()", "{1} if k > 1 else {0}",
          "{1} if {1}[0] > 0 else {2}"]  # fmt: skip
UPDATES = ["{0}[0] += 1.5", "{0}[-1] -= 2", "{0} += 1", "{0}[k % 2] = 3.0", "{0}[1:] *= 2",
           "{0} *= -1", "{0}[0], {0}[1] = {0}[1], {0}[0]"]  # fmt: skip
FIRST = ["{0}", "{0} * 2", "{0}[1:]", "{0}.copy()", "{0} + 1", "{0}[::-1]"]
TESTS = ["{0}[0] > 0", "{0}.sum() > 1", "k > 1", "k == 0", "{0}[-1] < {0}[0]"]
LOOPS = ["range(k)", "range(k + 1)", "range(9)", "range(3)", "range(k, 3)"]


def aliasing_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    for attempt in itertools.count():
        try:
            return AliasingWriter(seed, attempt).program()
        except Rejected:
            continue
    raise AssertionError


class AliasingWriter(Writer):
    """Writes such a program."""

    MAX_STATEMENTS = 12

    def __init__(self, seed: int, attempt: int = 0) -> None:
        super().__init__(seed, attempt)
        self.expressions.checked_condition = self.condition  # type: ignore[method-assign]

    def parameters(self) -> list[Argument]:
        vectors = [Argument(name, "vector", "float64") for name in "xy"]
        return [*vectors, Argument("k", "integer", "int64")]

    def outer_function(self, samples: Samples) -> list[str]:
        return []

    def condition(self, samples: Samples) -> str:
        return self.rng.choice(TESTS).format(self.vector(samples))

    def vector(self, samples: Samples) -> str:
        return self.variable(samples, lambda v: isinstance(v, np.ndarray) and v.ndim == 1)

    def new_variable(self, samples: Samples) -> tuple[str, str]:
        text = self.rng.choice(FIRST).format(self.vector(samples))
        name = self.fresh()
        samples.bind(name, samples.evaluate(text)[0])
        return f"{name} = {text}", name

    def rename(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        name = self.vector(samples)
        alike = [
            other for other in samples.names()
            if other != name and samples.kind(other) == samples.kind(name)
        ]  # fmt: skip
        if not alike:
            raise Rejected(name)
        value = self.rng.choice(VALUES)
        return [f"{name} = " + value.format(name, self.rng.choice(alike), self.rng.choice(alike))]

    def write(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        name = self.vector(samples)
        return self.keeping(samples, self.rng.choice(UPDATES).format(name), name)

    def counted(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        index, inside = self.fresh("i"), samples.child()
        inside.bind(index, [0, 0])
        body = indented(self.block(inside, depth - 1, True))
        return [f"for {index} in {self.rng.choice(LOOPS)}:", *body]

    def statement(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        forms = [self.rename] * 5 + [self.alias] * 2 + [self.write] * 6 + [self.swap] * 2
        forms += [self.jump] * loop
        if depth > 0 and self.statements < self.MAX_STATEMENTS:
            forms += [self.if_] * 4 + [self.for_] * 2 + [self.while_] + [self.counted] * 2
        for _ in range(5):
            try:
                lines = self.rng.choice(forms)(samples, depth, loop)
            except Rejected:
                continue
            self.statements += 1
            return lines
        return []
