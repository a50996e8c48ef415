"""Which tiles and blocks a product is cut into: a small model of registers and caches.

The innermost loop adds the outer product of `rows` numbers and `vectors` vectors to a tile of sums
in registers. Larger tiles load less per multiplication, up to where the registers end.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphify.engines.native.products.numbers import Numbers

_L1 = 48 << 10  # of the right operand; a larger part comes from the second cache in time
_L2 = 512 << 10
_SHARED = 3 << 20  # of a cache that all cores see

_STRIDED_ROWS = 8  # rows of a tile whose rows lie apart: as many pointers as there are registers
_VECTORS = 2


@dataclass(frozen=True, slots=True)
class Tile:
    """The sums that stay in registers: so many rows of so many vectors."""

    rows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How products of a dtype are cut on a target.

    Attributes:
        packed: the tile of packed operands.
        strided: the largest tile of operands where they lie.
        depth: terms of the sums that are added in one go ("KC" in the literature).
        group: row panels that stay in the second cache ("MC", in panels).
        columns: of the right operand that are packed at a time ("NC").
        rows: of the left operand that are packed at a time.
    """

    packed: Tile
    strided: Tile
    depth: int
    group: int
    columns: int
    rows: int


def plan(numbers: Numbers) -> Plan:
    """The plan for a dtype on its target."""
    registers = 32 if numbers.target.vector_bytes == 64 or _is_arm(numbers) else 16
    parts = numbers.parts
    # What is left beside the vectors of the right operand and one number of the left one.
    rows = max(1, (registers - (_VECTORS + 1) * parts) // (_VECTORS * parts))
    size = numbers.working.itemsize
    width = _VECTORS * numbers.lanes
    depth = max(64, _L1 // (width * size) // 32 * 32)
    group = max(2, _L2 // 2 // (depth * rows * size))
    columns = max(width, _SHARED // (depth * size) // width * width)
    return Plan(
        packed=Tile(rows, _VECTORS),
        strided=Tile(min(rows, _STRIDED_ROWS), _VECTORS),
        depth=depth,
        group=group,
        columns=columns,
        rows=max(rows, _SHARED // (depth * size) // rows * rows),
    )


def _is_arm(numbers: Numbers) -> bool:
    return numbers.target.triple.startswith(("aarch64", "arm64"))
