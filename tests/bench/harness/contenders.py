"""Who is measured, and how its users would call it.

    for contender in available(None):
        call = contender.make(function, inputs)

A contender turns a function of its library, and NumPy arrays, into a `Call`: a function to call
with arguments of the library's own kind.
"""

from __future__ import annotations

import functools
import importlib.util
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.record import Function, Row

GRAPHIFY, NUMPY = "graphify", "NumPy"


@dataclass(frozen=True)
class Call:
    """`function(*args)`, with arguments of the library's own kind."""

    function: Function
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Contender:
    """One column of the tables.

    Attributes:
        name: as the tables show it.
        library: the key of the row's peers.
        module: what must be importable.
        make: the library's function and arguments as NumPy arrays -> Call.
    """

    name: str
    library: str
    module: str
    make: Callable[[Function, tuple[Any, ...]], Call]

    def function(self, row: Row) -> Function | None:
        """This contender's form of a row; None if it has none."""
        if self.library == GRAPHIFY:
            return row.graphify() if row.graphify else row.function
        if self.library == NUMPY:
            return row.numpy or row.function
        maker = row.peers.get(self.library)
        return maker() if maker else None

    def call(self, row: Row, inputs: tuple[Any, ...]) -> Call | None:
        """How it computes a row; None if it does not."""
        function = self.function(row)
        if function is None:
            return None
        convert = row.arguments.get(self.library)
        return self.make(function, convert(*inputs) if convert else inputs)


def converted(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """A tree of tuples and dicts with each array converted."""
    if isinstance(tree, tuple):
        return tuple(converted(item, leaf) for item in tree)
    if isinstance(tree, dict):
        return {key: converted(item, leaf) for key, item in tree.items()}
    return leaf(tree) if isinstance(tree, np.ndarray) else tree


def graphify_call(function: Function, args: tuple[Any, ...]) -> Call:
    import graphify

    return Call(graphify.function(function, engine="native"), args)


def plain(function: Function, args: tuple[Any, ...]) -> Call:
    return Call(function, args)


def numba_call(function: Function, args: tuple[Any, ...], **options: Any) -> Call:
    import numba
    from numba.typed import Dict

    def argument(tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        typed = Dict()
        for key, value in tree.items():
            typed[key] = value
        return typed

    return Call(numba.njit(**options)(function), tuple(map(argument, args)))


def jax_call(function: Function, args: tuple[Any, ...]) -> Call:
    import jax

    jax.config.update("jax_enable_x64", True)
    return Call(jax.jit(function), converted(args, jax.numpy.asarray))


def waiting_for(result: Any) -> str:
    """The line of a user who waits for such a result: jax returns before it is computed."""
    if hasattr(result, "block_until_ready"):
        return "{}.block_until_ready()"
    first = next(iter(leaves(result)), None)
    return "wait({})" if hasattr(first, "block_until_ready") else "{}"


def wait_for_jax(result: Any) -> Any:
    import jax

    return jax.block_until_ready(result)


def leaves(tree: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in leaves(item)]
    if isinstance(tree, dict):
        return [leaf for item in tree.values() for leaf in leaves(item)]
    return [tree]


def tensorflow_call(function: Function, args: tuple[Any, ...], form: str) -> Call:
    import tensorflow as tf

    own = converted(args, tf.constant)
    staged = tf.function(function, jit_compile=True if form == "jit" else None)
    if form != "concrete":
        return Call(staged, own)
    concrete = staged.get_concrete_function(*own)
    if any(isinstance(arg, dict) for arg in own):
        return Call(concrete, tuple(leaf for arg in own for leaf in arg.values()))
    return Call(concrete, own)


def torch_call(function: Function, args: tuple[Any, ...]) -> Call:
    import torch

    def leaf(array: np.ndarray) -> Any:
        return torch.from_numpy(np.array(array, copy=True))

    return Call(torch.compile(function, dynamic=False), converted(args, leaf))


_FAST = {"parallel": True, "fastmath": True}

CONTENDERS = (
    Contender(GRAPHIFY, GRAPHIFY, "graphify", graphify_call),
    Contender(NUMPY, NUMPY, "numpy", plain),
    Contender("SciPy", "scipy", "scipy", plain),
    Contender("Numba", "numba", "numba", numba_call),
    Contender("Numba parallel", "numba", "numba", functools.partial(numba_call, **_FAST)),
    Contender("numexpr", "numexpr", "numexpr", plain),
    Contender("jax.jit", "jax", "jax", jax_call),
    Contender(
        "tf.function", "tensorflow", "tensorflow", functools.partial(tensorflow_call, form="")
    ),
    Contender(
        "tf concrete",
        "tensorflow",
        "tensorflow",
        functools.partial(tensorflow_call, form="concrete"),
    ),
    Contender("tf XLA", "tensorflow", "tensorflow", functools.partial(tensorflow_call, form="jit")),
    Contender("torch.compile", "torch", "torch", torch_call),
)

# Those that are there wherever graphify is.
BUILT_IN = (GRAPHIFY, NUMPY)


def available(wanted: Sequence[str] | None) -> list[Contender]:
    """The contenders that are asked for and installed.

    Args:
        wanted: names of contenders or libraries; None is everyone.
    """
    found = [c for c in CONTENDERS if importlib.util.find_spec(c.module)]
    if not any(shutil.which(name) for name in ("g++", "clang++", "c++", "cl")):
        found = [c for c in found if c.module != "torch"]  # inductor needs a C++ compiler
    if wanted is None:
        return found
    lowered = {name.lower() for name in wanted}
    return [c for c in found if {c.name.lower(), c.library.lower()} & lowered]
