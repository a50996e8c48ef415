"""The innermost loop: a tile of sums in registers, for operands of any strides or packed ones.

    void tile(ptr job, ptr a, ptr b, ptr c, i64 c_row, i64 columns)

adds up, for the rows and columns of one tile,

    c[row, column] = sum over runs s and terms t of
                     a[offsets[s] + row * a_row + t * a_col] * b[s * b_run + t * b_row + column]

A matrix product has one run. A convolution has one for each stretch of its window that lies
contiguous in memory: that is all that makes it one. There is always a run, maybe without terms.
The columns of c lie next to each other: it is scratch memory where they should not, or where sums
are to be added to (see `tiles.py`).
"""

from __future__ import annotations

from graphify.engines.native.elements.element import Element, splat
from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, V
from graphify.engines.native.products.model import Tile
from graphify.engines.native.products.numbers import Numbers, Record, cell

# What the loops need to know of a product. `first_*`, `depth`, ... change from block to block.
JOB = Record(
    *("a", "b", "c", "a_row", "a_col", "b_row", "b_col", "c_row", "c_col"),
    *("rows", "columns", "terms"),  # of the whole product
    *("epilogue", "context", "turned"),  # turned: this is the transpose of what was asked for
    *("runs", "offsets", "b_run", "depth"),  # of the sums
    *("direct", "adding", "last"),  # tiles: written at once; added to what is there; then final
    *("tile_rows", "b_skip"),  # operands where they lie: rows of a tile, from panel to panel of b
    *("a_packed", "b_packed", "first_row", "first_column", "first_term"),  # packed ones
    *("block_rows", "block_columns", "row_panels", "column_panels", "group", "stretch"),
    "stopped",  # by an exception that is pending now
)

ZERO = V(I64, "0")
Tiles = list[list[Element]]


def i64(number: int) -> V:
    return V(I64, str(number))


def smin(f: Function, a: V, b: V) -> V:
    return f.intrinsic("smin", a, b)


def tile_name(tile: Tile, kind: str) -> str:
    return f"{kind}_{tile.rows}x{tile.vectors}"


def write_packed(made: Module, numbers: Numbers, tile: Tile) -> str:
    """The kernel of packed operands: panels [term][row] and [term][column], full tiles."""
    f = _open(made, tile_name(tile, "packed"))
    a, b = f.args["a"], f.args["b"]
    width = tile.vectors * numbers.lanes
    a_cell = b_cell = cell(numbers.working)
    depth = JOB.get(f, f.args["job"], "depth")

    def step(t: V, sums: Tiles) -> Tiles:
        left = f.at(a, a_cell, f.mul(t, i64(tile.rows)))
        right = f.at(b, b_cell, f.mul(t, i64(width)))
        vectors = [
            numbers.load(f, f.at(right, b_cell, v * numbers.lanes), numbers.lanes, packed=True)
            for v in range(tile.vectors)
        ]
        rows = [f.at(left, a_cell, i) for i in range(tile.rows)]
        return _outer(f, numbers, rows, vectors, sums, packed=True)

    start = _zeros(f, numbers, tile)
    with f.folding(ZERO, depth, _flat(start)) as fold:
        fold.values = _flat(step(fold.index, _shaped(numbers, tile, fold.values)))
    sums = _shaped(numbers, tile, fold.results)
    _write(f, numbers, tile, sums, i64(width), None, packed=True)
    f.ret()
    return f.name


def write_strided(made: Module, numbers: Numbers, tile: Tile) -> str:
    """The kernel of operands where they lie."""
    f = _open(made, tile_name(tile, "strided"))
    job, a, b = f.args["job"], f.args["a"], f.args["b"]
    one = cell(numbers.dtype)
    row, term, line = (JOB.get(f, job, name) for name in ("a_row", "a_col", "b_row"))
    depth, offsets = JOB.get(f, job, "depth"), JOB.pointer(f, job, "offsets")
    mask = _last_mask(f, numbers, tile)
    rows = [f.at(a, one, f.mul(row, i64(i))) if i else a for i in range(tile.rows)]

    def vectors(right: V) -> list[Element]:
        places = [f.at(right, one, v * numbers.lanes) for v in range(tile.vectors)]
        full = [numbers.load(f, place, numbers.lanes) for place in places[:-1]]
        return [*full, numbers.load(f, places[-1], numbers.lanes, mask)]

    zeros = _flat(_zeros(f, numbers, tile))
    with f.folding(ZERO, JOB.get(f, job, "runs"), zeros, surely=True) as run:
        start = f.load(I64, f.at(offsets, I64, run.index))
        right = f.at(b, one, f.mul(run.index, JOB.get(f, job, "b_run")))
        with f.folding(ZERO, depth, [*run.values, right, start]) as fold:
            *carried, right, at = fold.values
            numbers_of_rows = [f.at(r, one, at) for r in rows]
            added = _shaped(numbers, tile, carried)
            added = _outer(f, numbers, numbers_of_rows, vectors(right), added, packed=False)
            fold.values = [*_flat(added), f.at(right, one, line), f.add(at, term)]
        run.values = fold.results[:-2]
    sums = _shaped(numbers, tile, run.results)
    _write(f, numbers, tile, sums, f.args["c_row"], mask, packed=False)
    f.ret()
    return f.name


def _open(made: Module, name: str) -> Function:
    params = [(PTR, "job"), (PTR, "a"), (PTR, "b"), (PTR, "c"), (I64, "c_row"), (I64, "columns")]
    return made.function(name, VOID, params, "internal")


def _last_mask(f: Function, numbers: Numbers, tile: Tile) -> V | None:
    """The lanes of the last vector that are columns of the tile."""
    if not numbers.masked:
        return None
    rest = f.sub(f.args["columns"], i64((tile.vectors - 1) * numbers.lanes))
    return numbers.first(f, rest, numbers.lanes)


def _outer(
    f: Function, numbers: Numbers, rows: list[V], vectors: list[Element], sums: Tiles, packed: bool
) -> Tiles:
    """One term for every sum of the tile."""
    added = []
    for row, line in zip(rows, sums, strict=True):
        number = splat(f, numbers.load(f, row, 1, packed=packed), numbers.lanes)
        added.append(
            [numbers.multiply_add(f, number, v, c) for v, c in zip(vectors, line, strict=True)]
        )
    return added


def _write(
    f: Function, numbers: Numbers, tile: Tile, sums: Tiles, step: V, mask: V | None, packed: bool
) -> None:
    """The tile to memory; `packed`: as working numbers."""
    one = cell(numbers.working if packed else numbers.dtype)
    line = f.args["c"]
    for i, row in enumerate(sums):
        line = f.at(line, one, step) if i else line
        for v, x in enumerate(row):
            last = v == tile.vectors - 1
            place = f.at(line, one, v * numbers.lanes)
            numbers.store(f, x, place, mask if last else None, packed=packed)


# --- sums as one flat list of registers, and back -------------------------------------------------


def _zeros(f: Function, numbers: Numbers, tile: Tile) -> Tiles:
    zero = numbers.zero(f, numbers.lanes)
    return [[zero] * tile.vectors for _ in range(tile.rows)]


def _flat(sums: Tiles) -> list[V]:
    return [part for row in sums for x in row for part in x.parts]


def _shaped(numbers: Numbers, tile: Tile, registers: list[V]) -> Tiles:
    parts = numbers.parts
    one = [
        Element(numbers.working, tuple(registers[k : k + parts]))
        for k in range(0, len(registers), parts)
    ]
    return [one[k : k + tile.vectors] for k in range(0, len(one), tile.vectors)]
