"""Native code that runs a graph whose inputs are words already, and makes tensors of its results.

    ptr invoke(entry, scratch, i64 bytes, ptr status)

Gives the function's result. Null: `status` tells whether an exception is pending (-1), or the call
is to be made again by way of Python, which raises what is to be raised (1).
"""

from __future__ import annotations

from graphify.engines.native.entry import capi, rows, table
from graphify.engines.native.entry.python_call import RELEASE_BYTES
from graphify.engines.native.entry.rows import (
    INLINE,
    NULL,
    at_byte,
    get,
    number,
    number_at,
    require,
)
from graphify.engines.native.entry.words import LARGE
from graphify.engines.native.llvm import (
    BIT,
    F64,
    I32,
    I64,
    PTR,
    VOID,
    Function,
    Module,
    Type,
    V,
)

AGAIN, PENDING = V(I32, "1"), V(I32, "-1")


def write(made: Module, tensor_fields: dict[str, int]) -> None:
    """The functions above."""
    _write_on_block(made)
    _write_fresh(made)
    _write_tensor(made, tensor_fields)
    _write_container(made)
    _write_copies(made)
    _write_run(made)
    _write_allocate(made)
    _write_finish(made)
    _write_invoke(made)


def _new_array(f: Function, row: V, dims: V, data: V, flags: int) -> V:
    dtype = get(f, row, table.RESULT_WORDS, "dtype")
    f.call("Py_IncRef", VOID, [dtype])  # the array takes a reference over
    ndim = f.convert("trunc", get(f, row, table.RESULT_WORDS, "ndim"), I32)
    ndarray = f.module.external("numpy_ndarray")
    wanted = V(I32, str(flags))
    arguments = [ndarray, dtype, ndim, dims, NULL, data, wanted, NULL]
    return f.call("PyArray_NewFromDescr", PTR, arguments)


def _write_on_block(made: Module) -> None:
    """ptr on_block(row, dims, block): an array that owns a block of memory."""
    params = [(PTR, "row"), (PTR, "dims"), (PTR, "block")]
    f = made.function("on_block", PTR, params, "internal")
    block = f.args["block"]
    release = made.external("graphify_release")
    capsule = f.call("PyCapsule_New", PTR, [block, NULL, release])
    with f.when(f.icmp("eq", capsule, NULL)):
        f.call("graphify_free", VOID, [block])
        f.ret(NULL)
    array = _new_array(f, f.args["row"], f.args["dims"], block, capi.CARRAY)
    with f.when(f.icmp("eq", array, NULL)):
        f.call("Py_DecRef", VOID, [capsule])
        f.ret(NULL)
    f.call("PyArray_SetBaseObject", I32, [array, capsule])
    f.ret(array)


def _write_fresh(made: Module) -> None:
    """ptr fresh(row, dims, bytes): an array to be filled."""
    f = made.function("fresh", PTR, [(PTR, "row"), (PTR, "dims"), (I64, "bytes")], *INLINE)
    row, dims = f.args["row"], f.args["dims"]
    with f.when(f.icmp("sge", f.args["bytes"], number(LARGE))):
        block = f.call("graphify_allocate", PTR, [f.args["bytes"]])
        with f.when(f.icmp("ne", block, NULL)):
            f.ret(f.call("on_block", PTR, [row, dims, block]))
    f.ret(_new_array(f, row, dims, NULL, 0))


def _write_tensor(made: Module, fields: dict[str, int]) -> None:
    """ptr tensor(array): a tensor of it; takes the reference over."""
    f = made.function("tensor", PTR, [(PTR, "array")], *INLINE)
    kind = made.external("graphify_tensor_type")
    made_one = f.call("PyType_GenericAlloc", PTR, [kind, number(0)])
    with f.when(f.icmp("eq", made_one, NULL)):
        f.call("Py_DecRef", VOID, [f.args["array"]])
        f.ret(NULL)
    model = made.external("graphify_tensor_model")
    for name, offset in fields.items():
        if name == "_value":
            f.store(f.args["array"], at_byte(f, made_one, offset))
            continue
        usual = f.load(PTR, at_byte(f, model, offset))
        f.call("Py_IncRef", VOID, [usual])
        f.store(usual, at_byte(f, made_one, offset))
    f.ret(made_one)


def _write_container(made: Module) -> None:
    """ptr container(entry, scratch, objects): the result with these leaves, whose references it
    takes."""
    params = [(PTR, "trace"), (PTR, "scratch"), (PTR, "objects")]
    f = made.function("container", PTR, params, "internal")
    entry = f.args["trace"]
    count = get(f, entry, table.ENTRY_WORDS, "outputs")
    order = get(f, entry, table.ENTRY_WORDS, "output_rows")
    structure = get(f, entry, table.ENTRY_WORDS, "structure")
    for kind, name in ((tuple, "PyTuple"), (list, "PyList")):
        last = table.WITH_INPUTS if kind is list else table.STRUCTURES[kind]
        at_least = f.icmp("sge", structure, number(table.STRUCTURES[kind]))
        with f.when(f.and_(at_least, f.icmp("sle", structure, number(last)))):
            result = f.call(f"{name}_New", PTR, [count])
            with f.when(f.icmp("ne", result, NULL)), f.counting(number(0), count) as index:
                which = f.load(I64, f.at(order, I64, index))
                place = f.at(f.args["objects"], PTR, which)
                f.call(f"{name}_SetItem", I32, [result, index, f.load(PTR, place)])
                f.store(NULL, place)
            if kind is list:
                _finish_list(f, entry, f.args["scratch"], result)
            f.ret(result)
    f.ret(NULL)


def _finish_list(f: Function, entry: V, scratch: V, leaves: V) -> None:
    """Let a Python function make the result of the leaves, if that is wanted."""
    structure = get(f, entry, table.ENTRY_WORDS, "structure")
    made_ = f.icmp("ne", leaves, NULL)
    with f.when(f.and_(made_, f.icmp("sge", structure, number(table.FINISHED)))):
        finish = get(f, entry, table.ENTRY_WORDS, "finish")
        arguments, count = f.alloca(PTR, 2), f.alloca(I64)
        f.store(leaves, arguments)
        f.store(number(1), count)
        f.store(NULL, f.at(arguments, PTR, 1))
        with f.when(f.icmp("eq", structure, number(table.WITH_INPUTS))):
            given = _given(f, entry, scratch)
            with f.when(f.icmp("eq", given, NULL)):
                f.call("Py_DecRef", VOID, [leaves])
                f.ret(NULL)
            f.store(given, f.at(arguments, PTR, 1))
            f.store(number(2), count)
        total = f.load(I64, count)
        result = f.call("PyObject_Vectorcall", PTR, [finish, arguments, total, NULL])
        f.call("Py_DecRef", VOID, [leaves])
        given = f.load(PTR, f.at(arguments, PTR, 1))
        with f.when(f.icmp("ne", given, NULL)):
            f.call("Py_DecRef", VOID, [given])
        again = f.module.external("python_not_implemented")
        with f.when(f.icmp("eq", result, again)):
            f.call("Py_DecRef", VOID, [result])
            f.ret(NULL)  # and no exception is pending
        f.ret(result)


def _given(f: Function, entry: V, scratch: V) -> V:
    """A list of those arguments that are inputs and of all that was passed; null: no memory."""
    inputs = get(f, entry, table.ENTRY_WORDS, "arguments")
    names = get(f, entry, table.ENTRY_WORDS, "names")
    passed = f.add(get(f, entry, table.ENTRY_WORDS, "count"), names)
    result = f.call("PyList_New", PTR, [f.add(inputs, passed)])
    with f.when(f.icmp("ne", result, NULL)):
        objects = f.at(scratch, PTR, rows.OBJECTS)
        arguments = f.load(PTR, f.at(scratch, PTR, rows.PASSED))
        for source, count, first in ((objects, inputs, number(0)), (arguments, passed, inputs)):
            with f.counting(number(0), count) as index:
                thing = f.load(PTR, f.at(source, PTR, index))
                f.call("Py_IncRef", VOID, [thing])
                f.call("PyList_SetItem", I32, [result, f.add(first, index), thing])
    return result


def _write_copies(made: Module) -> None:
    """Reference counts of the inputs, while others may drop them: hold, unhold.

    Threads that run meanwhile, here or in `graphify_poll`, may rebind a tensor or empty a list, and
    so may what Python runs whenever an object is made.
    """
    for name, change in (("hold", "Py_IncRef"), ("unhold", "Py_DecRef")):
        f = made.function(name, VOID, [(PTR, "trace"), (PTR, "scratch")], "internal")
        entry, scratch = f.args["trace"], f.args["scratch"]
        arrays, objects = f.at(scratch, PTR, rows.ARRAYS), f.at(scratch, PTR, rows.OBJECTS)
        with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "inputs")) as index:
            f.call(change, VOID, [f.load(PTR, f.at(arrays, PTR, index))])
        structure = get(f, entry, table.ENTRY_WORDS, "structure")
        with_inputs = f.icmp("eq", structure, number(table.WITH_INPUTS))
        arguments = get(f, entry, table.ENTRY_WORDS, "arguments")
        with f.when(with_inputs), f.counting(number(0), arguments) as index:
            f.call(change, VOID, [f.load(PTR, f.at(objects, PTR, index))])
        f.ret()


def _write_run(made: Module) -> None:
    """i32 run(entry, scratch, outputs, bytes): the graph's status."""
    params = [(PTR, "trace"), (PTR, "scratch"), (PTR, "outputs"), (I64, "bytes")]
    f = made.function("run", I32, params, *INLINE)
    entry, scratch = f.args["trace"], f.args["scratch"]
    graph = get(f, entry, table.ENTRY_WORDS, "run")
    words = [scratch, f.args["outputs"]]
    with f.when(f.icmp("sge", f.args["bytes"], number(RELEASE_BYTES))):
        state = f.call("PyEval_SaveThread", PTR, [])
        status = f.call_pointer(graph, I32, words)
        f.call("PyEval_RestoreThread", VOID, [state])
        f.ret(status)
    f.ret(f.call_pointer(graph, I32, words))


def _result_rows(f: Function, entry: V, index: V) -> tuple[V, V]:
    """The row of a result, and its index among the words of the outputs."""
    rows = get(f, entry, table.ENTRY_WORDS, "result_rows")
    row = f.at(rows, I64, f.mul(index, number(len(table.RESULT_WORDS))))
    return row, get(f, row, table.RESULT_WORDS, "first")


def _write_allocate(made: Module) -> None:
    """i64 allocate(entry, scratch, outputs, objects): memory for the results of known dims.

    Gives their bytes; -1: no memory, an exception is pending.
    """
    params = [(PTR, "trace"), (PTR, "scratch"), (PTR, "outputs"), (PTR, "objects")]
    f = made.function("allocate", I64, params, *INLINE)
    entry, no = f.args["trace"], f.label("no")
    total, size, known = f.alloca(I64), f.alloca(I64), f.alloca(I64)
    f.store(number(0), total)
    with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "results")) as index:
        row, first = _result_rows(f, entry, index)
        place = f.at(f.args["outputs"], I64, first)
        dims = f.at(place, I64, 1)
        f.store(get(f, row, table.RESULT_WORDS, "itemsize"), size)
        f.store(number(0), known)
        with f.counting(number(0), get(f, row, table.RESULT_WORDS, "ndim")) as axis:
            dim = f.load(I64, f.at(dims, I64, axis))
            f.store(_saturating_product(f, f.load(I64, size), dim), size)
            f.store(f.or_(f.load(I64, known), dim), known)  # negative as soon as one of them is
        is_number = f.icmp("ne", get(f, row, table.RESULT_WORDS, "number"), number(0))
        with f.when(is_number):
            value = number_at(f, f.args["scratch"], rows.RESULTS, index)
            f.store(value, place)
            f.store(number(-1), known)  # no array
        with f.when(f.icmp("sge", f.load(I64, known), number(0))):
            bytes_ = f.load(I64, size)
            array = f.call("fresh", PTR, [row, dims, bytes_])
            require(f, f.icmp("ne", array, NULL), no)
            f.store(array, f.at(f.args["objects"], PTR, index))
            f.store(f.load(I64, at_byte(f, array, capi.ARRAY_DATA)), place)
            f.store(f.add(f.load(I64, total), bytes_), total)
    f.ret(f.load(I64, total))
    f.start(no)
    f.ret(number(-1))


def _saturating_product(f: Function, a: V, b: V) -> V:
    """a * b, or bytes that no machine has if 64 bits do not hold it."""
    pair = f.intrinsic("smul.with.overflow", a, b, result=Type("{ i64, i1 }"))
    product, over = f.op(I64, f"extractvalue {pair}, 0"), f.op(BIT, f"extractvalue {pair}, 1")
    return f.select(over, number(1 << 62), product)


def _write_finish(made: Module) -> None:
    """ptr finish(entry, scratch, outputs, objects): arrays for the other results, tensors of all.

    Null: an exception is pending; what is in `objects` is still to be dropped.
    """
    params = [(PTR, "trace"), (PTR, "scratch"), (PTR, "outputs"), (PTR, "objects")]
    f = made.function("finish", PTR, params, *INLINE)
    entry, objects, no = f.args["trace"], f.args["objects"], f.label("no")
    with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "results")) as index:
        place, next_one = f.at(objects, PTR, index), f.label("next")
        row, first = _result_rows(f, entry, index)
        out = f.at(f.args["outputs"], I64, first)
        block = f.load(PTR, out)
        f.store(number(0), out)  # whatever fails from here on, nobody else frees the block
        which = get(f, row, table.RESULT_WORDS, "number")
        with f.when(f.icmp("ne", which, number(0))):
            f.store(_python_number(f, which, block), place)
            f.br_if(f.icmp("ne", f.load(PTR, place), NULL), next_one, no)
        with f.when(f.icmp("eq", f.load(PTR, place), NULL)):
            f.store(f.call("on_block", PTR, [row, f.at(out, I64, 1), block]), place)
            require(f, f.icmp("ne", f.load(PTR, place), NULL), no)
        f.store(f.call("tensor", PTR, [f.load(PTR, place)]), place)
        require(f, f.icmp("ne", f.load(PTR, place), NULL), no)
        f.start(next_one)
    structure = get(f, entry, table.ENTRY_WORDS, "structure")
    with f.when(f.icmp("eq", structure, number(0))):
        f.ret(f.load(PTR, objects))
    f.ret(f.call("container", PTR, [entry, f.args["scratch"], objects]))
    f.start(no)
    f.ret(NULL)


def _python_number(f: Function, which: V, value: V) -> V:
    """The float or int of a value in memory."""
    result, done = f.alloca(PTR), f.label("done")
    for kind, name in ((float, "PyFloat_FromDouble"), (complex, "PyComplex_FromDoubles")):
        with f.when(f.icmp("eq", which, number(table.NUMBERS[kind]))):
            parts = [f.load(F64, f.at(value, F64, i)) for i in range(1 + (kind is complex))]
            f.store(f.call(name, PTR, parts), result)
            f.br(done)
    f.store(f.call("PyLong_FromLongLong", PTR, [f.load(I64, value)]), result)
    f.start(done)
    return f.load(PTR, result)


def _raise_at_once(f: Function, entry: V, status: V, outputs: V, pending: str) -> None:
    """Raise what a graph with effects failed with: made again, they would happen twice."""
    failure = get(f, entry, table.ENTRY_WORDS, "failure")
    with_effects = f.icmp("ne", failure, NULL)
    with f.when(f.and_(with_effects, f.icmp("sgt", status, V(I32, "0")))):
        arguments = f.alloca(PTR, 2)
        code = f.call("PyLong_FromLongLong", PTR, [f.convert("sext", status, I64)])
        f.store(code, arguments)
        words = f.call("PyLong_FromVoidPtr", PTR, [outputs])
        f.store(words, f.at(arguments, PTR, 1))
        error = f.call("PyObject_Vectorcall", PTR, [failure, arguments, number(2), NULL])
        for given in (code, words):
            f.call("Py_DecRef", VOID, [given])
        with f.when(f.icmp("ne", error, NULL)):
            kind = f.load(PTR, at_byte(f, error, capi.OBJECT_TYPE))
            f.call("PyErr_SetObject", VOID, [kind, error])
            f.call("Py_DecRef", VOID, [error])
        f.br(pending)


def _forget(f: Function, entry: V, again: str) -> None:
    """Go by way of Python where a Python function that a graph without effects calls has failed:
    its exception is raised there as the user gets to see it. An interrupt stays."""
    pure = f.icmp("eq", get(f, entry, table.ENTRY_WORDS, "failure"), NULL)
    known = [f.module.external("python_exception")]
    usual = f.icmp("ne", f.call("PyErr_ExceptionMatches", I32, known), V(I32, "0"))
    with f.when(f.and_(pure, usual)):
        f.call("PyErr_Clear", VOID, [])
        f.br(again)


def _ask(f: Function, entry: V, again: str, pending: str) -> None:
    """Go on only if what machine code cannot look at is as it was."""
    ask = get(f, entry, table.ENTRY_WORDS, "ask")
    with f.when(f.icmp("ne", ask, NULL)):
        said = f.call("PyObject_Vectorcall", PTR, [ask, f.alloca(PTR), number(0), NULL])
        require(f, f.icmp("ne", said, NULL), pending)
        f.call("Py_DecRef", VOID, [said])  # True lives on
        require(f, f.icmp("eq", said, f.module.external("python_true")), again)


def _write_drop(made: Module) -> None:
    """void drop(entry, outputs, objects): after a failure, everything that was made."""
    params = [(PTR, "trace"), (PTR, "outputs"), (PTR, "objects")]
    f = made.function("drop", VOID, params, "internal", "noinline nounwind")
    entry = f.args["trace"]
    with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "results")) as index:
        thing = f.load(PTR, f.at(f.args["objects"], PTR, index))
        made_one, block, after = f.label("made"), f.label("block"), f.label("after")
        f.br_if(f.icmp("ne", thing, NULL), made_one, block)
        f.start(made_one)
        f.call("Py_DecRef", VOID, [thing])
        f.br(after)
        f.start(block)
        row, first = _result_rows(f, entry, index)
        is_number = f.icmp("ne", get(f, row, table.RESULT_WORDS, "number"), number(0))
        with f.when(is_number):  # in the scratch memory
            f.br(after)
        f.call("graphify_free", VOID, [f.load(PTR, f.at(f.args["outputs"], I64, first))])
        f.start(after)
    f.ret()


def _write_invoke(made: Module) -> None:
    _write_drop(made)
    params = [(PTR, "trace"), (PTR, "scratch"), (I64, "bytes"), (PTR, "status")]
    f = made.function("invoke", PTR, params, "internal")
    entry = f.args["trace"]
    outputs, objects = f.alloca(I64, table.MOST_WORDS), f.alloca(PTR, table.MOST_VALUES)
    failed, again, pending = f.label("failed"), f.label("again"), f.label("pending")
    unfinished = f.label("unfinished")
    start = get(f, entry, table.ENTRY_WORDS, "output_start")
    with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "output_words")) as index:
        f.store(f.load(I64, f.at(start, I64, index)), f.at(outputs, I64, index))
    with f.counting(number(0), get(f, entry, table.ENTRY_WORDS, "results")) as index:
        f.store(NULL, f.at(objects, PTR, index))
    f.call("hold", VOID, [entry, f.args["scratch"]])
    _ask(f, entry, again, pending)
    shapes = get(f, entry, table.ENTRY_WORDS, "shapes")
    with f.when(f.icmp("ne", shapes, NULL)):
        status = f.call_pointer(shapes, I32, [f.args["scratch"], outputs])
        require(f, f.icmp("eq", status, V(I32, "0")), again)
    made_, scratch = [entry, outputs, objects], f.args["scratch"]
    size = f.call("allocate", I64, [entry, f.args["scratch"], outputs, objects])
    require(f, f.icmp("sge", size, number(0)), pending)
    total = f.add(size, f.args["bytes"])
    status = f.call("run", I32, [entry, f.args["scratch"], outputs, total])
    require(f, f.icmp("eq", status, V(I32, "0")), failed)
    result = f.call("finish", PTR, [entry, scratch, outputs, objects])
    require(f, f.icmp("ne", result, NULL), unfinished)
    f.call("unhold", VOID, [entry, scratch])
    f.ret(result)
    f.start(unfinished)
    f.br_if(f.icmp("eq", f.call("PyErr_Occurred", PTR, []), NULL), again, pending)
    f.start(failed)
    _raise_at_once(f, entry, status, outputs, pending)
    require(f, f.icmp("sle", status, V(I32, "0")), again)
    _forget(f, entry, again)
    f.br(pending)
    for label, value in ((again, AGAIN), (pending, PENDING)):
        f.start(label)
        f.call("drop", VOID, made_)
        f.call("unhold", VOID, [entry, scratch])
        f.store(value, f.args["status"])
        f.ret(NULL)
