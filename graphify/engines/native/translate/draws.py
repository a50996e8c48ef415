"""Draws from NumPy's generators, and the lock around them.

    Call("lock", (), (), (), (rng,), {"number": 3})     # host function 3 says where generators are
    Call("draw", (), (), (loc, scale, rng), (x,), {"recipe": ..., "parameters": 2})
    Call("unlock", (), ())

What gives the lock back is kept where the way out of the whole run finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.engines.native.elements.cast import cast
from graphify.engines.native.elements.element import Element
from graphify.engines.native.elements.memory import load, memory_type
from graphify.engines.native.generators import FLOAT64, Recipe
from graphify.engines.native.legacy_draws import next_double
from graphify.engines.native.llvm import I32, I64, PTR, VOID, V
from graphify.engines.native.loops.program import INDEX, Call, Expr
from graphify.engines.native.translate import addresses
from graphify.engines.native.translate.calls import function
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.scalars import scalar
from graphify.engines.native.translate.writer import NULL, PENDING, Home, Writer, number
from graphify.ir.types import DType

Fill = Callable[[V, V], None]  # so many numbers to a place


@function("lock")
def _lock(w: Writer, stmt: Call) -> None:
    f, count = w.f, len(stmt.variables)
    words = f.alloca(I64, count + 1)
    table = f.module.external("graphify_hosts")
    site = f.load(I64, f.at(table, I64, stmt.attrs["number"]))
    status = f.call("graphify_host", I32, [site, words])
    w.leave_if(f.icmp("ne", status, V(I32, "0")), V(I32, str(PENDING)))
    f.store(f.load(PTR, f.at(words, I64, count)), w.home.unlock)
    for position, var in enumerate(stmt.variables):
        cell = w.values[var]
        assert isinstance(cell, Cell)
        cell.write(f, Element(INDEX, (f.load(I64, f.at(words, I64, position)),)))


@function("unlock")
def _unlock(w: Writer, stmt: Call) -> None:
    unlock(w, w.home)


def unlock(w: Writer, home: Home) -> None:
    """Give back what is locked."""
    f = w.f
    held = f.load(PTR, home.unlock)
    with f.when(f.icmp("ne", held, NULL)):
        f.store(NULL, home.unlock)
        f.call("graphify_unlock", VOID, [held])


@function("draw")
def _draw(w: Writer, stmt: Call) -> None:
    f = w.f
    rng = f.convert("inttoptr", addresses.value(w, stmt.scalars[-1]), PTR)
    if stmt.attrs["source"].is_made:
        w.leave_if(f.icmp("eq", rng, NULL), V(I32, str(PENDING)))
    for buffer in stmt.outputs:
        length = number(1)
        for dim in buffer.shape:
            length = f.mul(length, addresses.value(w, dim))
        _filling(w, stmt, rng, buffer.dtype)(addresses.base(w, buffer), length)
    for var in stmt.variables:
        dtype = stmt.attrs["dtype"]
        place = f.alloca(memory_type(dtype))
        _filling(w, stmt, rng, dtype)(place, number(1))
        cell = w.values[var]
        assert isinstance(cell, Cell)
        cell.write(f, cast(f, load(f, dtype, place, 1), var.dtype))


def _filling(w: Writer, stmt: Call, rng: V, dtype: DType) -> Fill:
    recipe: Recipe = stmt.attrs["recipe"]
    if recipe.integers:
        return _integers(w, stmt, rng, dtype)
    parameters = [cast(w.f, scalar(w, p), FLOAT64).value for p in _parameters(stmt)]
    if recipe.width:
        parameters[1] = w.f.fsub(parameters[1], parameters[0])
    return _one_by_one(w, recipe, [rng, *parameters], dtype)


def _parameters(stmt: Call) -> Sequence[Expr]:
    return stmt.scalars[: stmt.attrs["parameters"]]


def _one_by_one(w: Writer, recipe: Recipe, arguments: list[V], dtype: DType) -> Fill:
    """One call for each number."""
    f, type = w.f, memory_type(dtype)

    def one() -> V:
        if recipe.symbol:
            return f.call(recipe.symbol, type, arguments)
        return next_double(f, arguments[0])

    def fill(place: V, length: V) -> None:
        if length.text == "1":
            f.store(one(), place)
            return
        with f.counting(number(0), length) as index:
            f.store(one(), f.at(place, type, index))

    return fill


def _integers(w: Writer, stmt: Call, rng: V, dtype: DType) -> Fill:
    """One call for all: void (rng, first, last - first, count, masked, place)."""
    f, recipe = w.f, stmt.attrs["recipe"]
    *start, last = (cast(f, scalar(w, p), INDEX).value for p in _parameters(stmt))
    first = start[0] if start else number(0)
    width = f.sub(last, first)
    if not recipe.closed:
        width = f.sub(width, number(1))
    words = [_unsigned(w, word, dtype) for word in (first, width)]
    masked = V(I32, str(int(recipe.integers == "masked")))

    def fill(place: V, length: V) -> None:
        f.call(recipe.symbol, VOID, [rng, *words, length, masked, place])

    return fill


def _unsigned(w: Writer, word: V, dtype: DType) -> V:
    """An argument of an unsigned C type; what is shorter than an int is passed as one."""
    f = w.f
    if dtype.itemsize == 8:
        return word
    if dtype.itemsize < 4:
        word = f.and_(word, number((1 << 8 * dtype.itemsize) - 1))
    return f.convert("trunc", word, I32)
