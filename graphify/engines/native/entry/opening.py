"""Native code that takes the arguments of a call apart: keywords, and containers of arrays.

    ptr things(entry, args, names, scratch)

Gives the positional arguments, those by keyword and then the elements of all containers that a
table knows, in one row; null if keywords or containers are others. Everything is borrowed.
"""

from __future__ import annotations

from graphify.engines.native.entry import capi, table
from graphify.engines.native.entry.rows import NULL, PASSED, THINGS, at_byte, get, number, require
from graphify.engines.native.llvm import BIT, I32, I64, PTR, Function, Module, V

_FIRST_OF_VARIABLE = 16  # where objects of variable size keep their length
_OPEN_PARAMS = [(PTR, "thing"), (PTR, "row"), (PTR, "out")]


def write(made: Module) -> None:
    """The function above."""
    _write_same_text(made)
    _write_sequence(made, "PyTuple")
    _write_sequence(made, "PyList")
    _write_dict(made)
    _write_open(made)
    _write_things(made)


def count_names(f: Function, names: V) -> V:
    """How many keyword arguments a call has."""
    found = f.alloca(I64)
    f.store(number(0), found)
    with f.when(f.icmp("ne", names, NULL)):
        f.store(f.load(I64, at_byte(f, names, _FIRST_OF_VARIABLE)), found)
    return f.load(I64, found)


def _write_same_text(made: Module) -> None:
    """i1 same_text(a, b): whether `a` is a str equal to the str `b`."""
    f = made.function("same_text", BIT, [(PTR, "a"), (PTR, "b")], "internal", "nounwind")
    with f.when(f.icmp("eq", f.args["a"], f.args["b"])):  # nearly always: names are unique objects
        f.ret(V(BIT, "true"))
    kind = f.load(PTR, at_byte(f, f.args["a"], capi.OBJECT_TYPE))
    with f.when(f.icmp("ne", kind, made.external("python_str"))):
        f.ret(V(BIT, "false"))
    order = f.call("PyUnicode_Compare", I32, [f.args["a"], f.args["b"]])
    f.ret(f.icmp("eq", order, V(I32, "0")))


def _opener(made: Module, name: str) -> tuple[Function, str, V]:
    """A function that stores the elements of a container of a class and length; the label where it
    goes if the container is another; its length."""
    f = made.function(f"open_{name}", BIT, _OPEN_PARAMS, "internal", "nounwind")
    no = f.label("no")
    count = get(f, f.args["row"], table.OPENED_WORDS, "count")
    size = f.call(f"{name}_Size", I64, [f.args["thing"]])
    require(f, f.icmp("eq", size, count), no)
    return f, no, count


def _end(f: Function, no: str) -> None:
    f.ret(V(BIT, "true"))
    f.start(no)
    f.ret(V(BIT, "false"))


def _write_sequence(made: Module, name: str) -> None:
    f, no, count = _opener(made, name)
    with f.counting(number(0), count) as index:
        element = f.call(f"{name}_GetItem", PTR, [f.args["thing"], index])
        f.store(element, f.at(f.args["out"], PTR, index))
    _end(f, no)


def _write_dict(made: Module) -> None:
    f, no, count = _opener(made, "PyDict")
    keys = get(f, f.args["row"], table.OPENED_WORDS, "key_rows")
    where, key, value = f.alloca(I64), f.alloca(PTR), f.alloca(PTR)
    f.store(number(0), where)
    with f.counting(number(0), count) as index:
        more = f.call("PyDict_Next", I32, [f.args["thing"], where, key, value])
        require(f, f.icmp("ne", more, V(I32, "0")), no)
        expected = f.load(PTR, f.at(keys, PTR, index))
        require(f, f.call("same_text", BIT, [f.load(PTR, key), expected]), no)
        f.store(f.load(PTR, value), f.at(f.args["out"], PTR, index))
    _end(f, no)


def _write_open(made: Module) -> None:
    """i1 open_any(thing, row, out): stores the elements of a container, if it is like the row's."""
    f = made.function("open_any", BIT, _OPEN_PARAMS, "internal", "nounwind")
    thing, row, no = f.args["thing"], f.args["row"], f.label("no")
    require(f, f.icmp("ne", thing, NULL), no)
    kind = f.load(PTR, at_byte(f, thing, capi.OBJECT_TYPE))
    require(f, f.icmp("eq", kind, get(f, row, table.OPENED_WORDS, "type")), no)
    sort = get(f, row, table.OPENED_WORDS, "sort")
    for index, name in enumerate(("PyTuple", "PyList", "PyDict")):
        with f.when(f.icmp("eq", sort, number(index))):
            f.ret(f.call(f"open_{name}", BIT, [thing, row, f.args["out"]]))
    f.br(no)
    f.start(no)
    f.ret(V(BIT, "false"))


def _write_things(made: Module) -> None:
    params = [(PTR, "trace"), (PTR, "args"), (PTR, "names"), (PTR, "scratch")]
    f = made.function("things", PTR, params, "internal", "alwaysinline nounwind")
    entry, args, names, no = f.args["trace"], f.args["args"], f.args["names"], f.label("no")
    f.store(args, f.at(f.args["scratch"], PTR, PASSED))
    given = count_names(f, names)
    require(f, f.icmp("eq", given, get(f, entry, table.ENTRY_WORDS, "names")), no)
    expected = get(f, entry, table.ENTRY_WORDS, "name_rows")
    with f.counting(number(0), given) as index:
        name = f.call("PyTuple_GetItem", PTR, [names, index])
        wanted = f.load(PTR, f.at(expected, PTR, index))
        require(f, f.call("same_text", BIT, [name, wanted]), no)
    opened = get(f, entry, table.ENTRY_WORDS, "opened")
    with f.when(f.icmp("eq", opened, number(0))):
        f.ret(args)
    things, taken = f.at(f.args["scratch"], PTR, THINGS), f.alloca(I64)
    count = f.add(get(f, entry, table.ENTRY_WORDS, "count"), given)
    with f.counting(number(0), count) as index:
        f.store(f.load(PTR, f.at(args, PTR, index)), f.at(things, PTR, index))
    f.store(count, taken)
    rows = get(f, entry, table.ENTRY_WORDS, "opened_rows")
    with f.counting(number(0), opened) as index:
        row = f.at(rows, I64, f.mul(index, number(len(table.OPENED_WORDS))))
        container, first = f.call("find", PTR, [row, things]), f.load(I64, taken)
        require(f, f.call("open_any", BIT, [container, row, f.at(things, PTR, first)]), no)
        f.store(f.add(first, get(f, row, table.OPENED_WORDS, "count")), taken)
    f.ret(things)
    f.start(no)
    f.ret(NULL)
