"""What happens to a tile of sums after the innermost loop.

take(job, sums, width, c, rows, columns)      from scratch memory to its place, whatever strides
finished(job, c, row, column, rows, columns)  the epilogue, while the tile is in the cache
tile_at(job, a, b, c, row, column, rows, columns)   the kernel for a tile, then both of these
"""

from __future__ import annotations

from graphify.engines.native.llvm import I64, PTR, VOID, Function, Module, Type, V
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, tile_name, write_strided
from graphify.engines.native.products.model import Tile
from graphify.engines.native.products.numbers import Numbers, cell, spans

_TILE = [(I64, "row"), (I64, "column"), (I64, "rows"), (I64, "columns")]


def write_take(made: Module, numbers: Numbers, *, packed: bool) -> None:
    """take: for working numbers (packed), take_own: for those of the dtype."""
    params = [(PTR, "job"), (PTR, "sums"), (I64, "width"), (PTR, "c")]
    name = "take" if packed else "take_own"
    f = made.function(
        name, VOID, [*params, (I64, "rows"), (I64, "columns")], "internal", "noinline nounwind"
    )
    adding = f.icmp("ne", JOB.get(f, f.args["job"], "adding"), ZERO)
    near = f.icmp("eq", JOB.get(f, f.args["job"], "c_col"), i64(1))
    for add, condition in ((True, adding), (False, f.not_(adding))):
        with f.when(condition):
            with f.when(near):
                _take_rows(f, numbers, packed, add, near=True)
                f.ret()
            _take_rows(f, numbers, packed, add, near=False)
            f.ret()
    f.ret()


def _take_rows(f: Function, numbers: Numbers, packed: bool, add: bool, near: bool) -> None:
    job, columns = f.args["job"], f.args["columns"]
    own, one = cell(numbers.working if packed else numbers.dtype), cell(numbers.dtype)
    step = JOB.get(f, job, "c_col")

    with f.counting(ZERO, f.args["rows"]) as row:
        source = f.at(f.args["sums"], own, f.mul(row, f.args["width"]))
        line = f.at(f.args["c"], one, f.mul(row, JOB.get(f, job, "c_row")))

        def put(at: V, lanes: int, mask: V | None) -> None:
            x = numbers.load(f, f.at(source, own, at), lanes, mask, packed=packed)
            place = f.at(line, one, at if near else f.mul(at, step))
            if add:
                x = numbers.add(f, numbers.load(f, place, lanes, mask), x)
            numbers.store(f, x, place, mask)

        if near:
            spans(f, numbers, columns, put)
        else:
            with f.counting(ZERO, columns) as at:
                put(at, 1, None)


def write_finished(made: Module) -> None:
    f = made.function(
        "finished", VOID, [(PTR, "job"), (PTR, "c"), *_TILE], "internal", "noinline nounwind"
    )
    job = f.args["job"]
    epilogue, context = JOB.pointer(f, job, "epilogue"), JOB.pointer(f, job, "context")
    across = [JOB.get(f, job, "c_row"), f.args["row"], f.args["rows"]]
    along = [JOB.get(f, job, "c_col"), f.args["column"], f.args["columns"]]
    turned = f.icmp("ne", JOB.get(f, job, "turned"), ZERO)
    first = [f.select(turned, y, x) for x, y in zip(across, along, strict=True)]
    second = [f.select(turned, x, y) for x, y in zip(across, along, strict=True)]
    words = [word for pair in zip(first, second, strict=True) for word in pair]
    f.call_pointer(epilogue, VOID, [context, f.args["c"], *words])
    f.ret()


def when_last(f: Function, c: V, row: V, column: V, rows: V, columns: V) -> None:
    """Call the epilogue, if there is one and the tile has all its terms."""
    job = f.args["job"]
    wanted = f.icmp("ne", JOB.get(f, job, "epilogue"), ZERO)
    with f.when(f.and_(wanted, f.icmp("ne", JOB.get(f, job, "last"), ZERO))):
        f.call("finished", VOID, [job, c, row, column, rows, columns])


def write_tile_at(made: Module, numbers: Numbers, largest: Tile) -> None:
    """The kernels of operands where they lie, for every number of rows, and the choice of one."""
    kernels = [
        write_strided(made, numbers, Tile(rows, vectors))
        for rows in range(1, largest.rows + 1)
        for vectors in range(1, largest.vectors + 1)
    ]
    assert kernels[0] == tile_name(Tile(1, 1), "strided")
    table = made.variable(
        "kernels", Type(f"[{len(kernels)} x ptr]"), f"[{', '.join(f'ptr @{k}' for k in kernels)}]"
    )
    params = [(PTR, "job"), (PTR, "a"), (PTR, "b"), (PTR, "c"), *_TILE]
    f = made.function("tile_at", VOID, params, "internal", "alwaysinline nounwind")
    job, a, b, c = (f.args[name] for name in ("job", "a", "b", "c"))
    rows, columns = f.args["rows"], f.args["columns"]
    lanes = i64(numbers.lanes)
    more = f.binary("udiv", f.sub(columns, i64(1)), lanes)  # vectors, less one
    index = f.add(f.mul(f.sub(rows, i64(1)), i64(largest.vectors)), more)
    kernel = f.load(PTR, f.at(table, PTR, index))
    direct, spilled, done = f.label("direct"), f.label("spilled"), f.label("done")
    f.br_if(f.icmp("ne", JOB.get(f, job, "direct"), ZERO), direct, spilled)
    f.start(direct)
    f.call_pointer(kernel, VOID, [job, a, b, c, JOB.get(f, job, "c_row"), columns])
    f.br(done)
    f.start(spilled)
    scratch = f.alloca(cell(numbers.dtype), largest.rows * largest.vectors * numbers.lanes)
    width = f.mul(f.add(more, i64(1)), lanes)
    f.call_pointer(kernel, VOID, [job, a, b, scratch, width, columns])
    f.call("take_own", VOID, [job, scratch, width, c, rows, columns])
    f.start(done)
    when_last(f, c, f.args["row"], f.args["column"], rows, columns)
    f.ret()
