"""NumPy's random generators as native code uses them: their C functions, and who holds the lock.

    recipe = recipe_of(source, "normal", options, FLOAT64, 2)     # None: leave it to Python
    recipe.symbol                    # "graphify_numpy_random_normal", double (rng, loc, scale)

NumPy documents the struct that stands for a generator in C (`bitgen_t`: state, next_uint64,
next_uint32, next_double, next_raw) and exports the functions that its `Generator` draws with.
Native code calls the very same functions on the very same struct, so the streams are one. What is
not exported (RandomState's own gamma, on some systems everything) is left to Python.

NumPy takes a generator's lock around a draw. Native code takes it once, in front of all the draws
that follow each other without Python in between, and gives it back behind them:

    rng = lock()            Lock.run: the generators of that moment, their addresses
    ...  draw(rng)  ...
    unlock()                graphify_unlock (entry/glue.py), on the way out of a failure, too
"""

from __future__ import annotations

import collections
import ctypes
import functools
import importlib
import operator
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphify.engines.native import legacy_draws, symbols
from graphify.engines.native.entry.host import HostSite
from graphify.ir.types import DType
from graphify.ops.random import Source

FLOAT32, FLOAT64, INT64 = (np.dtype(t) for t in (np.float32, np.float64, np.int64))


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a draw is made in C.

    Attributes:
        symbol: the function's name in native code; empty for the generator's own `next_double`.
        limits: what NumPy demands of each parameter, see lower/draws.py.
        integers: it fills arrays with integers from a range: "lemire", or "masked" as RandomState.
        width: of the range, whose second parameter is the upper end.
    """

    symbol: str
    limits: tuple[str, ...] = ()
    integers: str = ""
    closed: bool = False
    width: bool = False


# --- functions ------------------------------------------------------------------------------------

# Methods of Generator that call a function of the same name with their parameters.
_PLAIN: dict[str, tuple[str, ...]] = {
    "beta": ("positive", "positive"),
    "chisquare": ("positive",),
    "exponential": ("not negative",),
    "f": ("positive", "positive"),
    "gamma": ("not negative", "not negative"),
    "geometric": ("probability",),
    "gumbel": ("", "not negative"),
    "laplace": ("", "not negative"),
    "logistic": ("", "not negative"),
    "lognormal": ("", "not negative"),
    "noncentral_chisquare": ("positive", "not negative"),
    "noncentral_f": ("positive", "positive", "not negative"),
    "normal": ("", "not negative"),
    "pareto": ("positive",),
    "poisson": ("rate",),
    "power": ("positive",),
    "rayleigh": ("not negative",),
    "standard_cauchy": (),
    "standard_gamma": ("not negative",),
    "standard_t": ("positive",),
    "vonmises": ("", "not negative"),
    "wald": ("positive", "positive"),
    "weibull": ("not negative",),
}
_SINGLE = ("random", "standard_normal", "standard_exponential")  # with a float32 function, too
_LEGACY = ("gumbel", "laplace", "logistic")  # RandomState's that are not its own


def recipe_of(
    source: Source, method: str, options: dict[str, Any], dtype: DType, count: int
) -> Recipe | None:
    """How a draw with so many parameters is made in C; None if Python has to make it."""
    legacy = source.kind is np.random.RandomState
    if not _is_numpys(source.kind) or not _reentrant():
        return None
    recipe = _recipe(legacy, method, options, dtype, count)
    if recipe is None or not recipe.symbol or recipe.symbol.startswith("graphify_"):
        return recipe
    name = _symbol(recipe.symbol)
    if symbols.address(name) is None:
        return None
    return Recipe(name, recipe.limits, recipe.integers, recipe.closed, recipe.width)


def _recipe(
    legacy: bool, method: str, options: dict[str, Any], dtype: DType, count: int
) -> Recipe | None:
    if method == ("randint" if legacy else "integers"):
        word = "bool" if dtype.kind == "b" else f"uint{8 * dtype.itemsize}"
        way = "masked" if legacy else "lemire"
        closed = bool(options.get("endpoint"))
        return Recipe(f"random_bounded_{word}_fill", ("",) * count, way, closed)
    if method == "uniform" and count == 2:
        return Recipe("random_uniform", ("", _ranges(legacy)), width=True)
    if method == "random_sample" and legacy:
        return Recipe("")
    if method in _SINGLE and not legacy:
        if options.get("method", "zig") != "zig":
            return None
        if method == "random" and dtype == FLOAT64:
            return Recipe("")
        name = "uniform" if method == "random" else method.removeprefix("standard_")
        return Recipe(f"random_standard_{name}{'_f' * (dtype == FLOAT32)}")
    limits = _PLAIN.get(method)
    if legacy and method in legacy_draws.METHODS:
        limits = limits or ()
        fits = len(limits) == count and legacy_draws.agree()
        return Recipe(legacy_draws.symbol(method), limits) if fits else None
    if limits is None or len(limits) != count or dtype not in (FLOAT64, INT64):
        return None
    return None if legacy and method not in _LEGACY else Recipe(f"random_{method}", limits)


@functools.cache
def _ranges(legacy: bool) -> str:
    """What `uniform` demands of high - low: this NumPy's Generator may refuse negative ones."""
    if not legacy:
        try:
            np.random.default_rng(0).uniform(1.0, 0.0)
        except ValueError:
            return "finite, not negative"
    return "finite"


def _is_numpys(kind: type) -> bool:
    """Whether draws of this class, and not of one derived from it, are what is told here."""
    return kind is np.random.Generator or (kind is np.random.RandomState and _has_bits())


@functools.cache
def _has_bits() -> bool:
    return isinstance(getattr(np.random.mtrand._rand, "_bit_generator", None), np.random.MT19937)


@functools.cache
def _reentrant() -> bool:
    """Whether a thread may take a generator's lock twice: a handler of Ctrl-C may want to draw."""
    return isinstance(np.random.PCG64(0).lock, type(threading.RLock()))


def _symbol(function: str) -> str:
    """The name of a C function in native code; promised, so that linking finds it."""
    name = f"graphify_numpy_{function}"
    if symbols.known(name) is None:
        symbols.promise(name, functools.partial(_define, name, function))
    return name


def _define(name: str, function: str) -> None:
    library = _exports()
    exported: Any = getattr(library, function, None)
    address = ctypes.cast(exported, ctypes.c_void_p).value
    if address:
        symbols.define(name, address, alive=library)


@functools.cache
def _exports() -> Any:
    """What NumPy exports to C, for RandomState's draws, too; nothing on some systems."""
    try:
        return ctypes.CDLL(importlib.import_module("numpy.random._generator").__file__ or "")
    except OSError:
        return None


# --- the lock -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Locking:
    """The host function of a program behind `lock()`: whose generators it locks."""

    sources: tuple[Source, ...]

    def call(self, arrays: Any) -> list[Any]:
        """For the interpreter of loops, whose draws are Python's: no addresses."""
        return [np.int64(0) for _ in self.sources]


@dataclass(frozen=True, slots=True)
class _Known:
    """What there is to do for generators that were met before.

    Attributes:
        generators, bits: they, and their bit generators.
        acquire, release: of their locks, in one order for all: nobody waits in a circle.
        addresses: of their bitgen_t.
    """

    generators: list[Any]
    bits: list[Any]
    acquire: list[Any]
    release: list[Any]
    addresses: list[int]


class Lock(HostSite):
    """What `lock()` calls: takes the locks of generators, and tells their addresses.

    `words`: an address for each source, then the object that gives the locks back when called.
    """

    def __init__(self, locking: Locking) -> None:
        super().__init__(locking.call, (), ())
        self.sources = locking.sources
        self._words = ctypes.c_int64 * (len(self.sources) + 1)
        self._known = _known([], [])

    def run(self, address: int) -> None:
        generators = [source.current() for source in self.sources]
        bits = [_bits(generator) for generator in generators]
        known = self._known
        if known.generators != generators or known.bits != bits:
            known = self._known = _known(generators, bits)
        # Ctrl-C may strike between any two lines of Python, but not inside of one call into C.
        taken: list[bool] = []
        try:
            taken.extend(map(operator.call, known.acquire))
            unlock: Any = functools.partial(collections.deque, map(operator.call, known.release), 0)
            unlock.known = known  # they live as long as native code uses them
            self._words.from_address(address)[:] = [*known.addresses, id(unlock)]
            _keep(unlock)
        except BaseException:
            for release in known.release[: len(taken)]:
                release()
            raise


def _known(generators: list[Any], bits: list[Any]) -> _Known:
    found = {id(each.lock): each.lock for each in bits if each is not None}
    locks = [found[key] for key in sorted(found)]
    addresses = [_address(*pair) for pair in zip(generators, bits, strict=True)]
    acquire, release = [lock.acquire for lock in locks], [lock.release for lock in locks]
    return _Known(generators, bits, acquire, release, addresses)


_keep = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _bits(generator: Any) -> Any:
    """The bit generator of a Generator or RandomState; None of a path that was not taken."""
    if type(generator) is np.random.Generator:
        return generator.bit_generator
    return None if generator is None else generator._bit_generator


def _address(generator: Any, bits: Any) -> int:
    """Where a generator's bitgen_t is; RandomState's own, which has more behind it, if known."""
    if generator is None:  # nobody draws from it
        return 0
    if type(generator) is np.random.RandomState and (place := legacy_draws.place()):
        return id(generator) + place
    address = _pointer(bits.capsule, b"BitGenerator")
    assert isinstance(address, int)
    return address
