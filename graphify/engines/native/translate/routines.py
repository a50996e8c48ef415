"""Routines: functions of scalars that call themselves, and the calls of them.

    i32 @routine.0(ptr args, ptr results, ptr words)    # 0, or the status that `run` gives

Arguments and results lie in memory, sixteen bytes each; `words` is for the values of a failure.
"""

from __future__ import annotations

from graphify.engines.native.elements.memory import load, store
from graphify.engines.native.llvm import I8, I32, PTR, Function, V
from graphify.engines.native.loops.program import Call, Routine
from graphify.engines.native.translate.calls import ELEMENT, function
from graphify.engines.native.translate.cells import Cell
from graphify.engines.native.translate.scalars import scalar
from graphify.engines.native.translate.statements import in_line
from graphify.engines.native.translate.writer import NULL, Domain, Home, Unit, Writer

PARAMS = [(PTR, "args"), (PTR, "results"), (PTR, "words")]


def _name(number: int) -> str:
    return f"routine.{number}"


def write_routines(unit: Unit) -> None:
    """The functions of all routines of the program; before anything that calls one of them."""
    routines = unit.program.routines
    functions = [
        unit.module.function(_name(number), I32, PARAMS, "internal")
        for number in range(len(routines))
    ]
    for f, routine in zip(functions, routines, strict=True):
        _write(unit, f, routine)


def _write(unit: Unit, f: Function, routine: Routine) -> None:
    status = f.alloca(I32, align=4)
    f.store(V(I32, "0"), status)
    home = Home(Domain(), NULL, NULL, f.args["words"], NULL, status, f.label("exit"))
    w = Writer(unit, f, home)
    for position, var in enumerate(routine.params):
        place = f.at(f.args["args"], I8, position * ELEMENT)
        w.define(var, load(f, var.dtype, place, 1))
    w.poll()
    in_line(w, routine.body)
    for position, var in enumerate(routine.results):
        cell = w.values[var]
        assert isinstance(cell, Cell)
        store(f, cell.read(f), f.at(f.args["results"], I8, position * ELEMENT))
    f.br(home.exit)
    f.start(home.exit)
    f.ret(f.load(I32, status))


@function("routine")
def _call(w: Writer, stmt: Call) -> None:
    f = w.f
    args = f.alloca(I8, len(stmt.scalars) * ELEMENT, ELEMENT)
    results = f.alloca(I8, max(1, len(stmt.variables)) * ELEMENT, ELEMENT)
    for position, expr in enumerate(stmt.scalars):
        store(f, scalar(w, expr), f.at(args, I8, position * ELEMENT))
    status = f.call(_name(stmt.attrs["number"]), I32, [args, results, w.home.words])
    w.leave_if(f.icmp("ne", status, V(I32, "0")), status)
    for position, var in enumerate(stmt.variables):
        cell = w.values[var]
        assert isinstance(cell, Cell)
        cell.write(f, load(f, var.dtype, f.at(results, I8, position * ELEMENT), 1))
