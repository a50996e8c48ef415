"""Compiled graphs written by hand, so that calling them needs nothing else of the engine."""

from graphify.engines.native import jit
from graphify.engines.native.entry.python_call import Runner
from graphify.engines.native.llvm import F64, I32, I64, PTR, Function, Module, V

ZERO = V(I64, "0")
WORDS = [(PTR, "inputs"), (PTR, "outputs")]


def word(f: Function, where: str, index: int, kind=I64) -> V:
    return f.load(kind, f.at(f.args[where], I64, index))


def put(f: Function, index: int, value: V) -> None:
    f.store(value, f.at(f.args["outputs"], I64, index))


def affine(dims: bool) -> str:
    """y = 2 * x + 1 for x: f64[n]; `dims`: with @shapes, and y's memory from the caller."""
    module = Module("affine")
    if dims:
        f = module.function("shapes", I32, WORDS)
        put(f, 1, word(f, "inputs", 1))
        f.ret(V(I32, "0"))
    f = module.function("run", I32, WORDS)
    x, n, step = word(f, "inputs", 0, PTR), word(f, "inputs", 1), word(f, "inputs", 2)
    y = word(f, "outputs", 0, PTR)
    with f.counting(ZERO, n) as i:
        value = f.load(F64, f.at(x, F64, f.mul(i, step)))
        twice = f.fadd(value, value)
        f.store(f.fadd(twice, f.const(F64, 1.0)), f.at(y, F64, i))
    f.ret(V(I32, "0"))
    return module.text()


def runner(text: str, params, results, sites=(), **options) -> Runner:
    names = [name for name in ("run", "shapes") if f"@{name}(" in text]
    return Runner(jit.compile(text, names), params, results, sites, **options)


def failing(number: int, *values: V) -> str:
    module = Module("failing")
    f = module.function("run", I32, WORDS)
    for index, value in enumerate(values):
        f.store(value, f.at(f.args["outputs"], I64, index))
    f.ret(V(I32, str(number)))
    return module.text()


def product(two: bool) -> str:
    """y = a * b for f64[10], or (a * b, a + b)."""
    module = Module("product")
    f = module.function("run", I32, WORDS)
    a, b = word(f, "inputs", 0, PTR), word(f, "inputs", 3, PTR)
    with f.counting(ZERO, V(I64, "10")) as i:
        x, y = f.load(F64, f.at(a, F64, i)), f.load(F64, f.at(b, F64, i))
        f.store(f.fmul(x, y), f.at(word(f, "outputs", 0, PTR), F64, i))
        if two:
            f.store(f.fadd(x, y), f.at(word(f, "outputs", 2, PTR), F64, i))
    f.ret(V(I32, "0"))
    return module.text()


def refusing() -> str:
    """y = x for f64[10]; fails at site 1 with x[0], if that is negative."""
    module = Module("refusing")
    f = module.function("run", I32, WORDS)
    x, y = word(f, "inputs", 0, PTR), word(f, "outputs", 0, PTR)
    first = f.load(F64, x)
    with f.when(f.fcmp("olt", first, f.const(F64, 0.0))):
        f.store(first, f.at(f.args["outputs"], I64, 2))
        f.ret(V(I32, "1"))
    with f.counting(ZERO, V(I64, "10")) as i:
        f.store(f.load(F64, f.at(x, F64, i)), f.at(y, F64, i))
    f.ret(V(I32, "0"))
    return module.text()


def halving() -> str:
    """y = x / 2 for f64[]."""
    module = Module("halving")
    f = module.function("run", I32, WORDS)
    value = f.load(F64, word(f, "inputs", 0, PTR))
    f.store(f.fmul(value, f.const(F64, 0.5)), word(f, "outputs", 0, PTR))
    f.ret(V(I32, "0"))
    return module.text()
