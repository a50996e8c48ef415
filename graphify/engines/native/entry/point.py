"""Writes the entry point (vectorcall.py), which finds the entry for a call, and runs its graph."""

from __future__ import annotations

from graphify.engines.native.entry import matching, opening, room, rows, running
from graphify.engines.native.entry.rows import NULL, number
from graphify.engines.native.llvm import BIT, I32, I64, PTR, Module, V

_OFFSET_BIT = 63  # of the argument count: whether the word before the arguments may be used


def module(name: str, tensor_fields: dict[str, int]) -> Module:
    """The entry point, and what it needs.

    Args:
        tensor_fields: where a Tensor keeps each slot.
    """
    made = Module("vectorcall")
    matching.write(made, tensor_fields)
    running.write(made, tensor_fields)
    _write_by_python(made)
    _write_entry(made, name)
    return made


def _write_by_python(made: Module) -> None:
    """ptr by_python(self, args, count, names): calls the Python method."""
    params = [(PTR, "self"), (PTR, "args"), (I64, "count"), (PTR, "names")]
    f = made.function("by_python", PTR, params, "internal", "noinline nounwind")
    count = f.args["count"]
    total = f.add(count, opening.count_names(f, f.args["names"]))
    room_for = f.add(total, number(1))
    arguments = f.op(PTR, f"alloca ptr, {room_for}")
    f.store(f.args["self"], arguments)
    with f.counting(number(0), total) as index:
        given = f.load(PTR, f.at(f.args["args"], PTR, index))
        f.store(given, f.at(arguments, PTR, f.add(index, number(1))))
    words = f.load(PTR, rows.at_byte(f, f.args["self"], room.TABLE))
    method = f.load(PTR, words)
    count = f.add(count, number(1))
    f.ret(f.call("PyObject_Vectorcall", PTR, [method, arguments, count, f.args["names"]]))


def _write_entry(made: Module, name: str) -> None:
    params = [(PTR, "self"), (PTR, "args"), (I64, "flags"), (PTR, "names")]
    f = made.function(name, PTR, params)
    args, names = f.args["args"], f.args["names"]
    slow = f.label("slow")
    scratch, status = f.alloca(I64, rows.SCRATCH_WORDS), f.alloca(I32)
    count = f.and_(f.args["flags"], number((1 << _OFFSET_BIT) - 1))
    rows.require(f, f.call("quiet", BIT, []), slow)
    words = f.load(PTR, rows.at_byte(f, f.args["self"], room.TABLE))
    entries = f.load(I64, f.at(words, I64, 1))
    with f.counting(number(0), entries) as index:
        entry = f.load(PTR, f.at(words, PTR, f.add(index, number(2))))
        size = f.call("match", I64, [entry, args, count, names, scratch])
        with f.when(f.icmp("sge", size, number(0))):
            result = f.call("invoke", PTR, [entry, scratch, size, status])
            with f.when(f.icmp("ne", result, NULL)):
                f.ret(result)
            pending = f.icmp("slt", f.load(I32, status), V(I32, "0"))
            with f.when(pending):
                f.ret(NULL)
            f.br(slow)
    f.start(slow)
    f.ret(f.call("by_python", PTR, [f.args["self"], args, count, names]))
