"""Which of a call's ways is taken: the table's, TensorFlow's own, or an error.

    call(tf.reduce_sum, (x,), {})      # OPS["math.reduce_sum"](x, None, False)

Arguments are bound by the signature of the function that is called, so names and defaults are
TensorFlow's; an entry of the table gets them by position, less `name`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators import calls
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.lists import GrowingList
from graphify.errors import SpecError
from graphify.ir.tensor import Tensor
from graphify.ir.wrapping import as_tensor, is_tensorflow
from graphify.location import here
from graphify.numpy._table import NAMES
from graphify.ops import core
from graphify.tensorflow import (
    algebra,
    arrays,
    control,
    elementwise,
    networks,
    reductions,
)
from graphify.tensorflow.values import fft, la, nn

OPS: dict[str, Callable[..., Any]] = {
    **elementwise.OPS,
    **reductions.OPS,
    **arrays.OPS,
    **algebra.OPS,
    **networks.OPS,
    **control.OPS,
}

# Entries that are taken whatever the arguments are: they act at each run, or call functions.
_ALWAYS = ("GradientTape", "case", "cond", "print", "switch_case", "while_loop")
_STATELESS = (
    "stateless",
    "fold_in",
    "split",
    "Algorithm",
    "create_rng_state",
    "index_shuffle",
)
_CHANGES = ("assign", "scatter_", "batch_scatter_")
_STATEFUL = ("Variable", "nn.dropout", "py_function", "numpy_function", "timestamp")


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call, in a trace, of a function, class or object of TensorFlow's.

    Raises:
        SpecError: a traced tensor is given to what the table does not have, or a call that differs
            from run to run would be made once, while tracing.
    """
    if hasattr(function, "python_function"):  # what tf.function makes
        return _call_function(function.python_function, args, kwargs)
    names = api_names(function)
    known = next((name for name in names if name in OPS), None)
    args, kwargs = _with_variables(args), _with_variables(kwargs)
    leaves = _leaves((*args, *kwargs.values()))
    traced = any(isinstance(leaf, (Tensor, GrowingList)) or is_staged(leaf) for leaf in leaves)
    if known is not None and (traced or known in _ALWAYS or any(map(_is_function, leaves))):
        given, options = _bound(function, args, kwargs)
        return _detached(OPS[known](*given, **options), leaves)
    if traced or _differs_by_run(function, names):
        raise _refused(function, names, traced)
    return constants(function(*args, **kwargs))


def _call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The Python function of a tf.function; that of a method has its object in a weak reference."""
    bound: Any = getattr(function, "__wrapped__", None)
    owner = getattr(getattr(bound, "__self__", None), "target", None)
    if owner is not None:
        return calls.call(bound.__func__, owner, *args, **kwargs)
    return calls.call(function, *args, **kwargs)


def _with_variables(value: Any) -> Any:
    """Arguments with TensorFlow's variables as inputs of the trace, to be read by each run."""
    if type(value) in (list, tuple):
        return type(value)(map(_with_variables, value))
    if type(value) is dict:
        return {key: _with_variables(item) for key, item in value.items()}
    return as_tensor(value) if is_tensorflow(value) and hasattr(value, "assign") else value


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)) and not isinstance(value, GrowingList):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def api_names(function: Any) -> tuple[str, ...]:
    """TensorFlow's public names of a function: ("linalg.matmul", "matmul")."""
    while function is not None:
        names = getattr(function, "__dict__", {}).get("_tf_api_names")
        if names:
            return tuple(names)
        function = getattr(function, "__wrapped__", None)
    return ()


def _is_function(value: Any) -> bool:
    return isinstance(value, (FunctionType, MethodType, functools.partial))


# --- arguments and results ------------------------------------------------------------------------


@functools.lru_cache(maxsize=512)
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def _bound(function: Any, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments by position, defaults filled in, without `name`; and what is by keyword only.

    Raises:
        TypeError: they do not fit the signature.
    """
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    given: list[Any] = []
    options: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        value = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            options = {key: item for key, item in value.items() if key != "name"}
        elif name != "name":
            given.append(value)
    return given, options


def _detached(result: Any, operands: list[Any]) -> Any:
    """Results share no memory with the operands: TensorFlow's tensors never change."""

    def own(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        shared = leaf._base is not None or any(leaf is operand for operand in operands)
        made = core.copy(leaf) if shared else leaf
        made._scalar = not made.dims
        return made

    return tree.map_structure(own, result)


def constants(result: Any) -> Any:
    """What TensorFlow made of known values: its tensors are constants of the trace."""

    def constant(leaf: Any) -> Any:
        if not is_tensorflow(leaf):
            return leaf
        made = Tensor(np.array(leaf))
        made._scalar = not made.dims
        return made

    return tree.map_structure(constant, result)


# --- errors ---------------------------------------------------------------------------------------


def _differs_by_run(function: Any, names: tuple[str, ...]) -> bool:
    """Whether a call is made for what it does or draws, once in each run."""
    owner = getattr(function, "__self__", None)
    if owner is not None and type(owner).__name__.endswith("Variable"):
        return str(function.__name__).startswith(_CHANGES)
    if type(owner).__name__ == "Generator":
        return True
    random = any(name.startswith("random.") for name in names)
    return any(name in _STATEFUL for name in names) or (
        random and not any(word in name for name in names for word in _STATELESS)
    )


def _refused(function: Any, names: tuple[str, ...], traced: bool) -> SpecError:
    name = min(names, key=len) if names else getattr(function, "__qualname__", None)
    name = f"tf.{name or type(function).__name__}"
    if not traced:
        return SpecError(
            f"{name} would be called once, while tracing, and not at each run",
            location=here(),
            remedy="use graphify.random or numpy.random for chance, graphify.Variable for what "
            "changes, or call it outside the graphify.function",
        )
    instead = _nearest(names or tuple(name.split(".")))
    return SpecError(
        f"{name}: graphify has no form of this function for tensors known only at run time",
        location=here(),
        remedy=f"{instead}, or call it outside the graphify.function",
    )


def _nearest(names: tuple[str, ...]) -> str:
    """What NumPy, or graphify, calls the function of this name."""
    for name in names:
        last = name.rpartition(".")[2].removeprefix("reduce_")
        if last in _INSTEAD:
            return f"write {_INSTEAD[last]}"
        for prefix, functions in (
            ("linalg.", vars(la)),
            ("", NAMES),
            ("fft.", vars(fft)),
        ):
            if callable(functions.get(last)):
                return f"write np.{prefix}{last}"
        if last in nn.__all__:
            return f"write graphify.nn.{last}"
    return "write it with functions of NumPy (docs/tensorflow.md lists those of TensorFlow's)"


_INSTEAD = {
    "GradientTape": "graphify.GradientTape",
    "TensorArray": "a list and np.stack",
    "Variable": "graphify.Variable",
    "dropout": "graphify.nn.dropout with a key of graphify.random",
    "numpy_function": "the function itself: it is converted",
    "py_function": "the function itself: it is converted",
    "segment_max": "tf.math.unsorted_segment_max",
    "segment_mean": "tf.math.unsorted_segment_mean",
    "segment_min": "tf.math.unsorted_segment_min",
    "segment_sum": "tf.math.unsorted_segment_sum",
    "strided_slice": "the slice, x[begin:end]",
}
