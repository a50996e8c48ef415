"""The library functions of matrix products, one module for a dtype.

    i32 graphify_matmul_<dtype>(ptr A, i64 a_row, i64 a_col, ptr B, i64 b_row, i64 b_col,
                                ptr C, i64 c_row, i64 c_col, i64 m, i64 n, i64 k,
                                ptr epilogue, ptr context)

C = A @ B for A of m rows and k columns and B of k rows and n columns. Strides count elements and
may be anything, zero and negative included, except that no two elements of C may be one. C must not
overlap A or B. k = 0 gives zeros. The result is 0, or -1 if an exception has come up meanwhile
(Ctrl-C), which is pending, and C is not finished.

    void epilogue(ptr context, ptr tile, i64 c_row, i64 c_col,
                  i64 first_row, i64 first_col, i64 rows, i64 cols)

is called (unless it is null) once for each finished tile of C, from whichever thread made it.

    i32 graphify_batched_matmul_<dtype>(i64 batch, i64 a_batch, i64 b_batch, i64 c_batch, ...)

does `batch` products, A, B and C of each so many elements after those of the one before; the other
arguments are as above. Its epilogue sees the products as one: `first_row` counts from the first
row of the first product.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graphify.engines.native.llvm import I32, I64, PTR, VOID, Function, Module, Parameter, V
from graphify.engines.native.products import blocking, packing, tiles, vectors
from graphify.engines.native.products.blocking import run_packed, run_strided
from graphify.engines.native.products.interface import matmul_names
from graphify.engines.native.products.microkernel import JOB, ZERO, i64, smin, write_packed
from graphify.engines.native.products.model import Plan, plan
from graphify.engines.native.products.numbers import Numbers, Record, cell

_OPERANDS: list[Parameter] = [
    *((PTR, "a"), (I64, "a_row"), (I64, "a_col"), (PTR, "b"), (I64, "b_row"), (I64, "b_col")),
    *((PTR, "c"), (I64, "c_row"), (I64, "c_col"), (I64, "m"), (I64, "n"), (I64, "k")),
    *((PTR, "epilogue"), (PTR, "context")),
]
_BATCH = Record(
    *("batch", "a_batch", "b_batch", "c_batch"), *(str(p[1]) for p in _OPERANDS), "stopped"
)
_SHIFT = Record("epilogue", "context", "rows")

_DONE = V(I32, "0")

_NEAR = 640 << 10  # bytes of operands below which packing does not pay: they stay in a cache
_THIN = 48  # rows, columns or terms below which it does not either: packed numbers are used seldom
_SMALL = 96**3  # terms of all sums that are left to one thread if there are other products
_SHORT = 512  # numbers of the matrix, up to which a product with a vector is like any other
_STACK = 4096  # bytes of an operand that is copied on the stack
_MANY = 8  # products that are shared among the threads whole


def module(numbers: Numbers) -> Module:
    """The products of a dtype."""
    made = Module(f"matmul_{numbers.dtype}", numbers.target)
    tiling = plan(numbers)
    write_parts(made, numbers, tiling)
    single, batched = matmul_names(str(numbers.dtype))
    _write_matmul(made, numbers, tiling, single)
    _write_batched(made, numbers, single, batched)
    return made


def write_parts(made: Module, numbers: Numbers, tiling: Plan) -> None:
    """What all products are made of."""
    made.variable("nowhere", I64)  # the offset of the only run of a matrix product
    tiles.write_finished(made)
    for packed in (False, True):
        tiles.write_take(made, numbers, packed=packed)
    tiles.write_tile_at(made, numbers, tiling.strided)
    blocking.write_strided_tiles(made, numbers, tiling)
    width = tiling.packed.vectors * numbers.lanes
    packing.write_transpose(made, numbers)
    left, right = (packing.write_pack(made, numbers, w) for w in (tiling.packed.rows, width))
    packing.write_copy(made, numbers)
    kernel = write_packed(made, numbers, tiling.packed)
    blocking.write_pack_panels(made, numbers, tiling, (left, right))
    blocking.write_multiply(made, numbers, tiling, kernel)
    vectors.write_dots(made, numbers)
    vectors.write_sums(made, numbers)


# --- one product ----------------------------------------------------------------------------------


def _write_matmul(made: Module, numbers: Numbers, tiling: Plan, name: str) -> None:
    f = made.function(name, I32, _OPERANDS)
    with f.when(f.icmp("sle", smin(f, f.args["m"], f.args["n"]), ZERO)):
        f.ret(_DONE)
    job = JOB.make(f)
    _fill_job(f, job)
    m, n, k = (JOB.get(f, job, name) for name in ("rows", "columns", "terms"))
    with f.when(f.icmp("sle", k, ZERO)):
        _write_zeros(f, numbers, job)
        f.ret(_DONE)
    along = f.icmp("eq", JOB.get(f, job, "b_col"), i64(1))
    down = f.icmp("eq", JOB.get(f, job, "b_row"), i64(1))
    with f.when(f.icmp("eq", m, i64(1))):
        with f.when(down):
            _run_dots(f, numbers, job)
            f.ret(_DONE)
        with f.when(f.and_(along, f.icmp("sgt", f.mul(n, k), i64(_SHORT)))):
            vectors.run_sums(f, numbers, job)
            f.ret(_DONE)
    if numbers.masked:
        with f.when(_is_small(f, numbers, m, n, k, along)):
            _run_strided(f, numbers, tiling, job, along)
            f.ret(_DONE)
    run_packed(f, numbers, tiling, job)
    f.ret(f.convert("trunc", JOB.get(f, job, "stopped"), I32))


def _is_small(f: Function, numbers: Numbers, m: V, n: V, k: V, along: V) -> V:
    """Whether to leave the operands where they lie."""
    size = f.mul(f.mul(k, f.add(m, n)), i64(numbers.dtype.itemsize))
    # A right operand that has to be copied first is as good as packed.
    near = f.icmp("sle", size, f.select(along, i64(_NEAR), i64(_NEAR // 8)))
    thin = f.and_(along, f.icmp("sle", smin(f, smin(f, m, n), k), i64(_THIN)))
    return f.or_(near, thin)


def _fill_job(f: Function, job: V) -> None:
    """The job, turned to its transpose where only the columns of C are contiguous.

    A product with one column is turned too, so that only products with one row need code.
    """
    args, one = f.args, i64(1)
    upright = f.and_(f.icmp("eq", args["c_row"], one), f.icmp("ne", args["c_col"], one))
    turned = f.or_(upright, f.icmp("eq", args["n"], one))
    turned = f.and_(turned, f.icmp("ne", args["m"], one))
    pairs = {  # of the job: from these arguments, or, turned, from those
        "a": ("a", "b"),
        "a_row": ("a_row", "b_col"),
        "a_col": ("a_col", "b_row"),
        "b": ("b", "a"),
        "b_row": ("b_row", "a_col"),
        "b_col": ("b_col", "a_row"),
        "c_row": ("c_row", "c_col"),
        "c_col": ("c_col", "c_row"),
        "rows": ("m", "n"),
        "columns": ("n", "m"),
    }
    for name, (plain, other) in pairs.items():
        JOB.set(f, job, **{name: f.select(turned, args[other], args[plain])})
    JOB.set(f, job, c=args["c"], terms=args["k"], depth=args["k"])
    JOB.set(f, job, epilogue=args["epilogue"], context=args["context"])
    direct = f.icmp("eq", JOB.get(f, job, "c_col"), one)
    JOB.set(f, job, turned=f.convert("zext", turned, I64), direct=f.convert("zext", direct, I64))
    JOB.set(f, job, runs=one, offsets=V(PTR, "@nowhere"), b_run=ZERO, adding=ZERO, last=one)


def _write_zeros(f: Function, numbers: Numbers, job: V) -> None:
    """Sums without terms."""
    m, n = JOB.get(f, job, "rows"), JOB.get(f, job, "columns")
    down, along, c = JOB.get(f, job, "c_row"), JOB.get(f, job, "c_col"), JOB.pointer(f, job, "c")
    with f.counting(ZERO, m) as i, f.counting(ZERO, n) as j:
        place = f.at(c, cell(numbers.dtype), f.add(f.mul(i, down), f.mul(j, along)))
        numbers.store(f, numbers.zero(f, 1), place)
    wanted = f.icmp("ne", JOB.get(f, job, "epilogue"), ZERO)
    with f.when(wanted):
        f.call("finished", VOID, [job, c, ZERO, ZERO, m, n])


def _run_dots(f: Function, numbers: Numbers, job: V) -> None:
    """Scalar products, after the vector's numbers have been brought together."""
    apart = f.icmp("ne", JOB.get(f, job, "a_col"), i64(1))
    with _copied(f, numbers, job, "a", "a_col", apart):
        vectors.run_dots(f, numbers, job)


def _run_strided(f: Function, numbers: Numbers, tiling: Plan, job: V, along: V) -> None:
    """The tiles, after the right operand's rows have been made contiguous."""
    with _copied(f, numbers, job, "b", "b_col", f.not_(along)):
        width = tiling.strided.vectors * numbers.lanes
        JOB.set(f, job, b_skip=i64(width))
        run_strided(f, numbers, tiling, job)


@contextmanager
def _copied(
    f: Function, numbers: Numbers, job: V, operand: str, step: str, condition: V
) -> Iterator[None]:
    """What is written inside finds an operand C-ordered: a copy, if the condition holds.

    Small copies are made on the stack.
    """
    JOB.set(f, job, b_packed=V(PTR, "null"))
    with f.when(condition):
        columns = JOB.get(f, job, "columns" if operand == "b" else "terms")
        rows = JOB.get(f, job, "terms") if operand == "b" else i64(1)
        stack = f.alloca(I64, _STACK // 8)
        size = f.mul(f.mul(rows, columns), i64(numbers.dtype.itemsize))
        JOB.set(f, job, a_packed=stack)
        with f.when(f.icmp("sgt", size, i64(_STACK))):
            block = blocking.allocate(f, size)
            JOB.set(f, job, a_packed=block, b_packed=block)
        target = JOB.pointer(f, job, "a_packed")
        across, along = JOB.get(f, job, f"{operand}_row"), JOB.get(f, job, f"{operand}_col")
        source = JOB.pointer(f, job, operand)
        f.call("copy", VOID, [source, across, along, rows, columns, target])
        JOB.set(f, job, **{operand: target, f"{operand}_row": columns, step: i64(1)})
    yield
    block = JOB.pointer(f, job, "b_packed")
    with f.when(f.icmp("ne", block, V(PTR, "null"))):
        f.call("graphify_free", VOID, [block])


# --- many products --------------------------------------------------------------------------------


def _write_batched(made: Module, numbers: Numbers, single: str, name: str) -> None:
    _write_shifted(made)
    _write_each(made, numbers, single)
    params: list[Parameter] = [(I64, word) for word in _BATCH.names[:4]]
    f = made.function(name, I32, [*params, *_OPERANDS])
    batch, m, n, k = (f.args[name] for name in ("batch", "m", "n", "k"))
    with f.when(f.icmp("sle", batch, ZERO)):
        f.ret(_DONE)
    one = f.and_(f.icmp("eq", f.args["b_batch"], ZERO), _follow(f, "a"))
    with f.when(f.or_(f.and_(one, _follow(f, "c")), f.icmp("eq", batch, i64(1)))):
        words = {str(p[1]): f.args[str(p[1])] for p in _OPERANDS}
        f.ret(f.call(single, I32, list({**words, "m": f.mul(m, batch)}.values())))
    block = _BATCH.make(f)
    _BATCH.set(f, block, **f.args, stopped=ZERO)
    volume = f.add(f.mul(f.mul(m, n), k), i64(8 * numbers.lanes))
    large = f.icmp("sgt", volume, i64(_SMALL))
    with f.when(f.and_(large, f.icmp("slt", batch, i64(_MANY)))):
        f.call("each", VOID, [block, ZERO, batch])  # the threads share each product
        f.ret(f.convert("trunc", _BATCH.get(f, block, "stopped"), I32))
    blocking.parallel(f, "each", block, batch, volume, blocking.enough(numbers))
    f.ret(f.convert("trunc", _BATCH.get(f, block, "stopped"), I32))


def _follow(f: Function, operand: str) -> V:
    """Whether the rows of each product continue those of the one before."""
    rows = f.mul(f.args["m"], f.args[f"{operand}_row"])
    return f.icmp("eq", f.args[f"{operand}_batch"], rows)


def _write_each(made: Module, numbers: Numbers, single: str) -> None:
    """each(block, begin, end): some products of a batch."""
    params = [(PTR, "block"), (I64, "begin"), (I64, "end")]
    f = made.function("each", VOID, params, "internal", "noinline nounwind")
    block, one = f.args["block"], cell(numbers.dtype)
    words = {str(p[1]): _BATCH.get(f, block, str(p[1]), p[0]) for p in _OPERANDS}
    none = f.icmp("eq", words["epilogue"], V(PTR, "null"))
    epilogue = f.select(none, words["epilogue"], V(PTR, "@shifted"))
    shift = _SHIFT.make(f)
    _SHIFT.set(f, shift, epilogue=words["epilogue"], context=words["context"])
    with f.counting(f.args["begin"], f.args["end"]) as index:
        places = {
            name: f.at(words[name], one, f.mul(index, _BATCH.get(f, block, f"{name}_batch")))
            for name in ("a", "b", "c")
        }
        _SHIFT.set(f, shift, rows=f.mul(index, words["m"]))
        final = {**words, **places, "epilogue": epilogue, "context": shift}
        with f.when(f.icmp("eq", _BATCH.get(f, block, "stopped"), ZERO)):
            status = f.call(single, I32, list(final.values()))
            with f.when(f.icmp("ne", status, _DONE)):
                _BATCH.set(f, block, stopped=i64(-1))
    f.ret()


def _write_shifted(made: Module) -> None:
    """The epilogue of one product of a batch: counts rows from the first product on."""
    words = ["c_row", "c_col", "first_row", "first_col", "rows", "cols"]
    params: list[Parameter] = [(PTR, "shift"), (PTR, "tile"), *((I64, word) for word in words)]
    f = made.function("shifted", VOID, params, "internal")
    shift = f.args["shift"]
    moved = f.add(f.args["first_row"], _SHIFT.get(f, shift, "rows"))
    final = [moved if word == "first_row" else f.args[word] for word in words]
    context = _SHIFT.pointer(f, shift, "context")
    f.call_pointer(_SHIFT.pointer(f, shift, "epilogue"), VOID, [context, f.args["tile"], *final])
    f.ret()
