"""What the entry point's native code is written with: the words of a table's rows, scratch memory.

`scratch` is memory for one call: the words of the inputs, the arrays, the size variables, and the
parts that are named below.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphify.engines.native.entry import table
from graphify.engines.native.llvm import I64, PTR, Function, V

INLINE = ("internal", "alwaysinline nounwind")
NULL = V(PTR, "null")
# Parts of `scratch`, in words.
INPUTS, ARRAYS, SIZES = 0, table.MOST_WORDS, table.MOST_WORDS + table.MOST_VALUES
OBJECTS = SIZES + table.MOST_VALUES  # the arguments the arrays came from
NUMBERS = OBJECTS + table.MOST_VALUES  # the values of numbers
NUMBER_WORDS = 2
RESULTS = NUMBERS + NUMBER_WORDS * table.MOST_VALUES  # and of those that are results
THINGS = RESULTS + NUMBER_WORDS * table.MOST_VALUES  # arguments, elements of containers
PASSED = THINGS + table.MOST_THINGS  # where the arguments are that were passed
SCRATCH_WORDS = PASSED + 1


def number(value: int) -> V:
    return V(I64, str(value))


def get(f: Function, base: V, words: Sequence[str], name: str) -> V:
    """A word of a row, by name; addresses as pointers."""
    pointers = (
        "holder",
        "type",
        "dtype",
        "dims",
        "expected",
        "run",
        "shapes",
        "finish",
        "failure",
        "ask",
    )
    kind = PTR if name in pointers or name.endswith(("_rows", "_start")) else I64
    return f.load(kind, f.at(base, I64, words.index(name)))


def at_byte(f: Function, base: V, offset: V | int) -> V:
    where = number(offset) if isinstance(offset, int) else offset
    return f.op(PTR, f"getelementptr i8, {base}, {where}")


def number_at(f: Function, scratch: V, first: int, index: V) -> V:
    """Where in the scratch memory a number is."""
    return f.at(scratch, I64, f.add(f.mul(index, number(NUMBER_WORDS)), number(first)))


def require(f: Function, condition: V, otherwise: str) -> None:
    """Go on only if `condition` holds."""
    on = f.label("on")
    f.br_if(condition, on, otherwise)
    f.start(on)
