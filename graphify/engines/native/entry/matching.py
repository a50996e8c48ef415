"""Native code that finds out whether a call is one of those a table describes.

    i1 quiet()                                       nothing is being traced or differentiated,
                                                     and no error of floats is to be raised
    i64 match(entry, args, count, names, scratch)    bytes of the inputs; -1: another kind of call

`scratch` is memory for one call, see rows.py.
"""

from __future__ import annotations

from graphify.engines.native.entry import capi, opening, table
from graphify.engines.native.entry.rows import (
    ARRAYS,
    INLINE,
    NULL,
    NUMBER_WORDS,
    NUMBERS,
    OBJECTS,
    SIZES,
    at_byte,
    get,
    number,
    number_at,
    require,
)
from graphify.engines.native.llvm import BIT, I32, I64, PTR, VOID, Function, Module, V

CONTEXT = ("builder", "tapes", "settings")  # context variables that must have their usual values


def write(made: Module, tensor_fields: dict[str, int]) -> None:
    """The functions above.

    Args:
        tensor_fields: where a Tensor keeps each slot.
    """
    _write_quiet(made)
    _write_find(made)
    _write_array_of(made, tensor_fields)
    _write_take(made)
    _write_take_number(made)
    opening.write(made)
    _write_match(made)


def _write_quiet(made: Module) -> None:
    f = made.function("quiet", BIT, [], *INLINE)
    place = f.alloca(PTR)
    no = f.label("no")
    for name in CONTEXT:
        usual = made.external(f"graphify_usual_{name}")
        variable = made.external(f"graphify_context_{name}")
        f.call("PyContextVar_Get", I32, [variable, usual, place])
        value = f.load(PTR, place)
        f.call("Py_DecRef", VOID, [value])  # somebody else holds it, too
        require(f, f.icmp("eq", value, usual), no)
    f.call("PyContextVar_Get", I32, [made.external("numpy_float_errors"), NULL, place])
    errors = f.load(PTR, place)
    f.call("Py_DecRef", VOID, [errors])
    harmless = f.load(PTR, made.external("graphify_harmless_float_errors"))
    require(f, f.icmp("eq", errors, harmless), no)
    f.ret(V(BIT, "true"))
    f.start(no)
    f.ret(V(BIT, "false"))


def _write_find(made: Module) -> None:
    """ptr find(row, args): the object that a read finds (borrowed), or null."""
    f = made.function("find", PTR, [(PTR, "row"), (PTR, "args")], *INLINE)
    row = f.args["row"]
    labels = {name: f.label(name) for name in table.KINDS}
    cases = " ".join(f"i64 {n}, label %{labels[name]}" for name, n in table.KINDS.items())
    f.line(f"switch {get(f, row, table.READ_WORDS, 'kind')}, label %{labels['fixed']} [{cases}]")
    f.closed = True
    f.start(labels["element"])
    f.br(labels["argument"])
    f.start(labels["argument"])
    position = get(f, row, table.READ_WORDS, "key")
    f.ret(f.load(PTR, f.at(f.args["args"], PTR, position)))
    f.start(labels["fixed"])
    f.ret(get(f, row, table.READ_WORDS, "holder"))
    f.start(labels["item"])
    key = f.convert("inttoptr", get(f, row, table.READ_WORDS, "key"), PTR)
    holder = get(f, row, table.READ_WORDS, "holder")
    found = f.call("PyDict_GetItemWithError", PTR, [holder, key])
    with f.when(f.icmp("eq", found, NULL)):
        f.call("PyErr_Clear", VOID, [])
    f.ret(found)
    f.start(labels["word"])
    where = f.convert("inttoptr", get(f, row, table.READ_WORDS, "key"), PTR)
    f.ret(f.load(PTR, where))


def _write_array_of(made: Module, fields: dict[str, int]) -> None:
    """ptr array_of(thing, type): the array that an ndarray, or a tensor of a type, is; or null."""
    f = made.function("array_of", PTR, [(PTR, "thing"), (PTR, "type")], *INLINE)
    thing, no, tensor, unwrap = f.args["thing"], f.label("no"), f.label("tensor"), f.label("unwrap")
    require(f, f.icmp("ne", thing, NULL), no)
    ndarray = made.external("numpy_ndarray")
    kind = f.load(PTR, at_byte(f, thing, capi.OBJECT_TYPE))
    with f.when(f.icmp("eq", kind, ndarray)):
        f.ret(thing)
    f.br_if(f.icmp("eq", kind, f.args["type"]), tensor, no)
    f.start(tensor)
    # One that stands for a Python number or a NumPy scalar follows other rules.
    false = made.external("graphify_false")
    for name in ("_weak", "_scalar"):
        require(f, f.icmp("eq", f.load(PTR, at_byte(f, thing, fields[name])), false), no)
    value = f.load(PTR, at_byte(f, thing, fields["_value"]))
    f.br_if(f.icmp("ne", value, NULL), unwrap, no)
    f.start(unwrap)
    is_array = f.icmp("eq", f.load(PTR, at_byte(f, value, capi.OBJECT_TYPE)), ndarray)
    f.ret(f.select(is_array, value, NULL))
    f.start(no)
    f.ret(NULL)


def _write_take(made: Module) -> None:
    """i64 take(row, array, scratch, at): checks an array, writes its words from word `at` on.

    Gives the array's bytes, or -1 if it is none of those the row describes.
    """
    params = [(PTR, "row"), (PTR, "array"), (PTR, "scratch"), (I64, "at")]
    f = made.function("take", I64, params, *INLINE)
    row, array, no = f.args["row"], f.args["array"], f.label("no")
    words = table.INPUT_WORDS
    descr = f.load(PTR, at_byte(f, array, capi.ARRAY_DESCR))
    require(f, f.icmp("eq", descr, get(f, row, words, "dtype")), no)
    ndim = f.convert("sext", f.load(I32, at_byte(f, array, capi.ARRAY_NDIM)), I64)
    require(f, f.icmp("eq", ndim, get(f, row, words, "ndim")), no)
    flags = f.convert("zext", f.load(I32, at_byte(f, array, capi.ARRAY_FLAGS)), I64)
    wanted = get(f, row, words, "flags")
    require(f, f.icmp("eq", f.and_(flags, wanted), wanted), no)
    out = f.at(f.args["scratch"], I64, f.args["at"])
    f.store(f.load(I64, at_byte(f, array, capi.ARRAY_DATA)), out)
    shift = get(f, row, words, "shift")
    size = f.shl(number(1), shift)
    dims = f.load(PTR, at_byte(f, array, capi.ARRAY_DIMS))
    strides = f.load(PTR, at_byte(f, array, capi.ARRAY_STRIDES))
    rows = get(f, row, words, "dims")
    total = f.alloca(I64)
    f.store(size, total)
    with f.counting(number(0), ndim) as axis:
        dim = f.load(I64, f.at(dims, I64, axis))
        _check_dim(f, f.load(I64, f.at(rows, I64, axis)), dim, no)
        f.store(dim, f.at(out, I64, f.add(axis, number(1))))
        f.store(f.mul(f.load(I64, total), dim), total)
        stride = f.load(I64, f.at(strides, I64, axis))
        odd = f.and_(stride, f.sub(size, number(1)))
        require(f, f.icmp("eq", odd, number(0)), no)
        place = f.add(f.add(ndim, axis), number(1))
        f.store(f.ashr(stride, shift), f.at(out, I64, place))
    f.ret(f.load(I64, total))
    f.start(no)
    f.ret(number(-1))


def _write_take_number(made: Module) -> None:
    """i64 take_number(row, thing, value): puts a Python number where an array's element would be.

    The row is that of an input or of a check.

    Gives its bytes, or -1 if it is no number of the row's kind, or an int of more than 64 bits.
    """
    params = [(PTR, "row"), (PTR, "thing"), (PTR, "value")]
    f = made.function("take_number", I64, params, "internal", "nounwind")
    row, thing, no = f.args["row"], f.args["thing"], f.label("no")
    require(f, f.icmp("ne", thing, NULL), no)
    kind = f.load(PTR, at_byte(f, thing, capi.OBJECT_TYPE))
    require(f, f.icmp("eq", kind, get(f, row, table.INPUT_WORDS, "type")), no)
    is_float = number(table.NUMBERS[float])
    with f.when(f.icmp("eq", get(f, row, table.INPUT_WORDS, "number"), is_float)):
        f.store(f.load(I64, at_byte(f, thing, capi.FLOAT_VALUE)), f.args["value"])
        f.ret(number(8))
    is_complex = number(table.NUMBERS[complex])
    with f.when(f.icmp("eq", get(f, row, table.INPUT_WORDS, "number"), is_complex)):
        for part in range(2):
            half = f.load(I64, at_byte(f, thing, capi.COMPLEX_VALUE + 8 * part))
            f.store(half, f.at(f.args["value"], I64, part))
        f.ret(number(16))
    overflow = f.alloca(I32)
    value = f.call("PyLong_AsLongLongAndOverflow", I64, [thing, overflow])
    require(f, f.icmp("eq", f.load(I32, overflow), V(I32, "0")), no)
    f.store(value, f.args["value"])
    f.ret(number(8))
    f.start(no)
    f.ret(number(-1))


def _check_dim(f: Function, wanted: V, dim: V, no: str) -> None:
    """A dim must be `wanted`, or what the size variable -1 - wanted is in this call."""
    fixed, sized, first, done = (f.label(n) for n in ("fixed", "sized", "first", "done"))
    f.br_if(f.icmp("sge", wanted, number(0)), fixed, sized)
    f.start(sized)
    index = f.sub(number(SIZES - 1), wanted)
    place = f.at(f.args["scratch"], I64, index)
    known = f.load(I64, place)
    require(f, f.or_(f.icmp("eq", known, dim), f.icmp("eq", known, number(-1))), no)
    f.br(first)
    f.start(first)
    f.store(dim, place)
    f.br(done)
    f.start(fixed)
    f.br_if(f.icmp("eq", wanted, dim), done, no)
    f.start(done)


def _write_match(made: Module) -> None:
    params = [(PTR, "trace"), (PTR, "args"), (I64, "count"), (PTR, "names"), (PTR, "scratch")]
    f = made.function("match", I64, params, "internal", "nounwind")
    entry, scratch, no = f.args["trace"], f.args["scratch"], f.label("no")
    words = table.ENTRY_WORDS
    require(f, f.icmp("eq", f.args["count"], get(f, entry, words, "count")), no)
    things = f.call("things", PTR, [entry, f.args["args"], f.args["names"], scratch])
    require(f, f.icmp("ne", things, NULL), no)
    with f.counting(number(0), get(f, entry, words, "variables")) as variable:
        f.store(number(-1), f.at(scratch, I64, f.add(variable, number(SIZES))))
    state = [f.alloca(I64) for _ in range(3)]
    for place in state:
        f.store(number(0), place)
    place, total, arguments = state
    rows = get(f, entry, words, "input_rows")
    with f.counting(number(0), get(f, entry, words, "inputs")) as index:
        row = f.at(rows, I64, f.mul(index, number(len(table.INPUT_WORDS))))
        thing = f.call("find", PTR, [row, things])
        kind = get(f, row, table.INPUT_WORDS, "kind")
        with f.when(f.icmp("eq", kind, number(table.KINDS["argument"]))):
            _check_distinct(f, thing, arguments, no)
        is_array, is_number, taken = f.label("array"), f.label("number"), f.label("taken")
        which = get(f, row, table.INPUT_WORDS, "number")
        f.br_if(f.icmp("eq", which, number(0)), is_array, is_number)
        f.start(is_number)
        value = number_at(f, scratch, NUMBERS, index)
        require(f, f.icmp("sge", f.call("take_number", I64, [row, thing, value]), number(0)), no)
        f.store(value, f.at(scratch, PTR, f.load(I64, place)))
        f.store(thing, f.at(scratch, PTR, f.add(index, number(ARRAYS))))
        f.br(taken)
        f.start(is_array)
        array = f.call("array_of", PTR, [thing, get(f, row, table.INPUT_WORDS, "type")])
        require(f, f.icmp("ne", array, NULL), no)
        f.store(array, f.at(scratch, PTR, f.add(index, number(ARRAYS))))
        size = f.call("take", I64, [row, array, scratch, f.load(I64, place)])
        require(f, f.icmp("sge", size, number(0)), no)
        f.store(f.add(f.load(I64, total), size), total)
        f.start(taken)
        ndim = get(f, row, table.INPUT_WORDS, "ndim")
        used = f.add(f.shl(ndim, number(1)), number(1))
        f.store(f.add(f.load(I64, place), used), place)
    rows = get(f, entry, words, "check_rows")
    with f.counting(number(0), get(f, entry, words, "checks")) as index:
        row = f.at(rows, I64, f.mul(index, number(len(table.CHECK_WORDS))))
        found = f.call("find", PTR, [row, things])
        _check_same(f, row, found, no)
    f.ret(f.load(I64, total))
    f.start(no)
    f.ret(number(-1))


def _check_same(f: Function, row: V, found: V, no: str) -> None:
    """The object that a row wants, or a number of that type and value."""
    other, same = f.label("other"), f.label("same")
    f.br_if(f.icmp("eq", found, get(f, row, table.CHECK_WORDS, "expected")), same, other)
    f.start(other)
    require(f, f.icmp("ne", get(f, row, table.CHECK_WORDS, "number"), number(0)), no)
    value, first = f.alloca(I64, NUMBER_WORDS), table.CHECK_WORDS.index("value")
    f.store(number(0), f.at(value, I64, 1))
    require(f, f.icmp("sge", f.call("take_number", I64, [row, found, value]), number(0)), no)
    for word in range(NUMBER_WORDS):
        wanted = f.load(I64, f.at(row, I64, first + word))
        require(f, f.icmp("eq", f.load(I64, f.at(value, I64, word)), wanted), no)
    f.br(same)
    f.start(same)


def _check_distinct(f: Function, thing: V, arguments: V, no: str) -> None:
    """One array in two places is a trace of its own: an update of the one is seen in the other."""
    seen = f.load(I64, arguments)
    objects = f.at(f.args["scratch"], PTR, OBJECTS)
    with f.counting(number(0), seen) as index:
        require(f, f.icmp("ne", f.load(PTR, f.at(objects, PTR, index)), thing), no)
    f.store(thing, f.at(objects, PTR, seen))
    f.store(f.add(seen, number(1)), arguments)
