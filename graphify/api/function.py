"""`graphify.function`: a Python function that runs as graphs, one per kind of arguments.

@graphify.function
def f(x):
    while x.sum() < 100:
        x = x * 2
    return x
"""

from __future__ import annotations

import copy
import functools
import inspect
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from graphify.api import quick, tracer
from graphify.api.bound import BoundFunction
from graphify.api.causes import key_cause, shape_cause, signature_text
from graphify.api.concrete import ConcreteFunction, TraceRecord
from graphify.api.examining import Examined
from graphify.api.options import (
    FunctionOptions,
    OnRetrace,
    check_options,
    checked_signature,
    fit,
    provide_source,
)
from graphify.autograph.operators.calls import call as converted_call
from graphify.collecting import rare_collections
from graphify.config import config
from graphify.engines.native.entry.room import Room
from graphify.errors import TraceError
from graphify.ir import float_errors
from graphify.ir.context import current_builder
from graphify.ir.wrapping import as_tensor
from graphify.location import here, user_frame
from graphify.syntax.loader import with_attributes
from graphify.tracing.guards import Guard, fits_64_bits
from graphify.tracing.signature import Call, Pattern, TensorSpec
from graphify.tracing.tracebacks import show, user_facing

if TYPE_CHECKING:
    pass

OFFERS = 4  # what a trace reads may be replaced by its like, and the engine knows it by identity
DISTINCT_NUMBERS = 3  # the third value of a Python number makes it a traced scalar


class Function(Examined, Room):
    """A function that traces itself into graphs. Made by `graphify.function`, which says how.

    A call gives what the Python function gives, with tensors for arrays. The first call with
    arguments of a kind traces the function; later ones run the graph.

    Raises:
        SyntaxUnsupported: the source has a construct that cannot be converted.
        TraceError: tracing could not go on; the message names the line.
        TypeError, ValueError: the arguments do not fit the function, or its `input_signature`.

    Example:
        >>> @graphify.function
        ... def double(x):
        ...     return x * 2
        >>> double(np.array([1.0, 2.0])).numpy()
        array([2., 4.])
        >>> print(double.pretty_printed_concrete_signatures())
        double(x: float64(2,))
          Args:
            x: Tensor(shape=(2,), dtype=float64)
          Returns:
            result: Tensor(shape=(2,), dtype=float64)
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        input_signature: Sequence[TensorSpec] | None = None,
        autograph: bool = True,
        reduce_retracing: bool = False,
        dynamic: bool | None = None,
        max_traces: int | None = None,
        on_retrace: OnRetrace = None,
        engine: str | None = None,
        source: str | None = None,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"function: argument 1: expected a callable, got {python_function!r}")
        provide_source(python_function, source)
        flags = {"autograph": autograph, "reduce_retracing": reduce_retracing}
        check_options(flags, dynamic, max_traces, on_retrace, engine)
        self._python_function = python_function
        self._signature = inspect.signature(python_function)
        self.input_signature = checked_signature(input_signature)
        self.autograph, self.engine = autograph, engine
        self._dynamic, self._max_traces, self._on_retrace = dynamic, max_traces, on_retrace
        self._distinct = 2 if reduce_retracing else DISTINCT_NUMBERS
        self._cache: dict[Any, list[ConcreteFunction]] = {}
        self._general: dict[Any, frozenset[int]] = {}  # number key -> positions traced as scalars
        self._numbers: dict[Any, dict[int, set[Any]]] = {}  # number key -> values seen per position
        self._moved: dict[Any, set[Any]] = {}  # place of a guarded number -> values it had
        self._frozen: set[Any] = set()  # keys whose axes must stay exact
        self._all: list[ConcreteFunction] = []
        self._fast: dict[Any, tuple[ConcreteFunction, Any]] = {}  # calls with arrays alone
        self._offers: dict[ConcreteFunction, int] = {}  # how often each was offered to its engine
        self._lock = threading.RLock()
        functools.update_wrapper(self, python_function, updated=())

    # --- what users ask of it ---

    @property
    def python_function(self) -> Callable[..., Any]:
        """The undecorated function."""
        return self._python_function

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """Every trace so far, oldest first."""
        return list(self._all)

    def pretty_printed_concrete_signatures(self) -> str:
        """Arguments and results of every trace, as text."""
        return "\n\n".join(c.pretty_printed_signature() for c in self._all)

    def traces(self) -> list[TraceRecord]:
        """Why and when each trace was made, oldest first."""
        return [c.trace for c in self._all]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        settings = config.settings
        if settings.eager or settings.disable:
            return self._python_function(*args, **kwargs)
        if current_builder() is not None:
            run = converted_call if self.autograph else _call_plain
            return run(self._python_function, *args, **kwargs)
        try:
            float_errors.check()
            key = None if kwargs else _array_key(args)
            if key is not None:
                known, made_for = self._fast.get(key, (None, None))
                if known is not None and made_for is settings and known.holds():
                    return known.run([as_tensor(a) for a in args])
            call = self._call(args, kwargs)
            concrete = self._find(call)
            if concrete is None:
                concrete, call = self._trace(call)
            elif key is not None and concrete in self._offers and _takes_just(concrete, call, args):
                self._fast[key] = (concrete, settings)
            offer = self._offer(concrete, call, args, kwargs)
            result = self._run(concrete, call)
            if offer is not None:
                offer()
            return result
        except BaseException as error:
            show(error)
            raise  # bare: the frame stays out of the traceback

    @user_facing
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments of this kind, made if there is none yet; nothing is run.

        Args:
            args, kwargs: what a call would take; arrays may be given as `TensorSpec`s.

        Raises:
            SyntaxUnsupported, TraceError, TypeError: as a call would.

        Example:
            >>> @graphify.function
            ... def double(x):
            ...     return x * 2
            >>> double.get_concrete_function(graphify.TensorSpec((None,), np.float32)).graph.specs
            (Spec(shape=(n,), dtype=dtype('float32'), weak=False),)
        """
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        call = self._call(args, kwargs)
        return self._find(call) or self._trace(call)[0]

    @user_facing
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What a call with these arguments would do, and why: the trace it hits, or what is new.

        Returns:
            Text: the trace's record, the loops it unrolled and why; or the cause of a new trace.
        """
        call = self._call(args, kwargs)
        found = self._find(call)
        if found is None:
            return f"new trace of {self._name}: {self._cause(call)}"
        notes = "".join(f"\n  {note}" for note in found._traced.notes)
        return f"hits trace {self._all.index(found) + 1} of {len(self._all)}: {found.trace}{notes}"

    def __reduce__(self) -> str:
        """A function is copied, and pickled by its name, as the very one."""
        return getattr(self, "__qualname__", self._name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """The very one, unless it is of a method, partial or object that has a copy of its own."""
        own = copy.deepcopy(self._python_function, memo)
        if own is self._python_function:
            return self
        return Function(
            own,
            input_signature=self.input_signature,
            autograph=self.autograph,
            reduce_retracing=self._distinct < DISTINCT_NUMBERS,
            dynamic=self._dynamic,
            max_traces=self._max_traces,
            on_retrace=self._on_retrace,
            engine=self.engine,
        )

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundFunction(self, instance)

    def __repr__(self) -> str:
        return f"<graphify.function {self._name} with {len(self._all)} traces>"

    @property
    def _name(self) -> str:
        return getattr(self._python_function, "__name__", type(self._python_function).__name__)

    # --- calls and traces ---

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        try:
            return self._call_with(args, kwargs)
        except TypeError:
            self._check_fit(args, kwargs)
            raise

    def _check_fit(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Raise what Python raises for arguments that do not fit the function."""
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError:
            function = self._python_function
            if type(function) is FunctionType and not hasattr(function, "__signature__"):
                function(*args, **kwargs)  # its body does not run
            raise

    def _call_with(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
        if self.input_signature is not None:
            args, kwargs = self._fit_signature(args, kwargs)
        call = Call(self._signature, args, kwargs)
        if call.masked:
            general = self._general.get(call.number_key())
            if general and call.key not in self._cache:
                return Call(self._signature, args, kwargs, general)
        return call

    def _find(self, call: Call) -> ConcreteFunction | None:
        for concrete in reversed(self._cache.get(call.key, ())):
            if concrete.pattern.matches(call.shapes) and concrete.takes(call) and concrete.holds():
                return concrete
        return None

    def _trace(self, call: Call) -> tuple[ConcreteFunction, Call]:
        """A new trace for a call, and the call as that trace takes it."""
        with self._lock, rare_collections():
            found = self._find(call)  # another thread may have been faster
            if found is not None:
                return found, call
            cause = self._cause(call)
            self._before_trace(cause)
            self._note_moved(call)
            start = time.perf_counter()
            call, pattern, traced = self._attempt(call)
            record = TraceRecord(
                signature_text(call, pattern),
                cause,
                str(here() or "?"),
                time.perf_counter() - start,
            )
            names = [call.name(i) for i in range(len(call.leaves))]
            concrete = ConcreteFunction(
                self._name,
                traced,
                pattern,
                call.key,
                names,
                call.positions,
                record,
                self.engine or config.engine,
            )
            self._cache.setdefault(call.key, []).append(concrete)
            self._all.append(concrete)
            config.log(1, f"graphify: traced {self._name}: {record}")
            if len(self._all) > 1:
                self._after_retrace(record)
            return concrete, call

    def _attempt(self, call: Call) -> tuple[Call, Pattern, Any]:
        """Trace as generally as works: numbers as scalars, changing axes as sizes, or exactly."""
        for candidate in (self._with_general_numbers(call), call):
            if candidate is None:
                continue
            pattern = self._pattern(candidate)
            try:
                return candidate, pattern, self._run_trace(candidate, pattern)
            except Exception as error:
                # Generality was our idea: whatever it leads to, the exact trace decides.
                reason = error
                if candidate is not call:
                    self._general[call.number_key()] = frozenset()  # this function needs the values
                elif pattern.is_exact or self.input_signature is not None or call.has_specs:
                    raise
        exact = Pattern.of(call.shapes)
        traced = self._run_trace(call, exact)
        self._frozen.add(call.key)
        traced.notes.append(f"sizes stay exact: {getattr(reason, 'message', reason)}")
        return call, exact, traced

    def _run_trace(self, call: Call, pattern: Pattern) -> Any:
        moving = frozenset(k for k, seen in self._moved.items() if len(seen) >= self._distinct)
        return tracer.trace(
            self._python_function,
            self._signature,
            call,
            pattern,
            self.autograph,
            moving,
            self.engine or config.engine,
        )

    def _with_general_numbers(self, call: Call) -> Call | None:
        """The call with Python numbers that took enough distinct values traced as weak scalars."""
        if not call.masked or call.general or self._dynamic is False:
            return None
        key = call.number_key()
        seen = self._numbers.setdefault(key, {i: set() for i in call.masked})
        for i in call.masked:
            if fits_64_bits(call.leaves[i]):
                seen[i].add(call.key[1][i])
        positions = frozenset(i for i in call.masked if len(seen[i]) >= self._distinct)
        if not positions or self._general.get(key) == frozenset():
            return None
        self._general[key] = positions
        return Call(self._signature, *call.arguments, positions)

    def _pattern(self, call: Call) -> Pattern:
        if self.input_signature is not None:
            return Pattern.of([spec.shape for spec in self.input_signature])
        fresh = Pattern.of(call.shapes, any_size=self._dynamic is True)
        previous = self._cache.get(call.key)
        if self._dynamic is False or not previous or call.key in self._frozen or call.has_specs:
            return fresh
        same_guards = [c for c in previous if c.holds()]
        return same_guards[-1].pattern.generalise(call.shapes, set()) if same_guards else fresh

    def _note_moved(self, call: Call) -> None:
        """Remember which guarded Python numbers keep changing."""
        for concrete in self._cache.get(call.key, ()):
            guard = concrete.broken_guard()
            if isinstance(guard, Guard):
                values = guard.expected, guard.place.read()
                if all(type(value) in (int, float, complex) for value in values):
                    self._moved.setdefault(guard.place.key, set()).update(values)

    # --- retracing ---

    def _before_trace(self, cause: str) -> None:
        if self._max_traces is not None and len(self._all) >= self._max_traces:
            raise TraceError(
                f"{self._name}: more than max_traces={self._max_traces} traces; "
                f"the new one: {cause}",
                remedy="pass arrays instead of Python values that change, or an input_signature",
            )

    def _after_retrace(self, record: TraceRecord) -> None:
        if self._on_retrace == "warn":
            _warn_user(f"{self._name} was traced again: {record}")
        elif self._on_retrace == "error":
            concrete = self._all.pop()
            self._cache[concrete._keys].remove(concrete)
            raise TraceError(f"{self._name} was traced again: {record}")
        elif callable(self._on_retrace):
            self._on_retrace(record)

    def _cause(self, call: Call) -> str:
        if not self._all:
            return "first call"
        same_key = self._cache.get(call.key)
        if same_key:
            for concrete in reversed(same_key):
                if concrete.pattern.matches(call.shapes):
                    guard = concrete.broken_guard()
                    if guard is not None:
                        return guard.explain()
            return shape_cause(call, same_key[-1])
        return key_cause(call, self._all[-1])

    # --- running ---

    def _run(self, concrete: ConcreteFunction, call: Call) -> Any:
        arrays: Any = call.arrays
        return concrete.run(arrays, call)

    def _offer(
        self,
        concrete: ConcreteFunction,
        call: Call,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Callable[[], None] | None:
        """What lets the engine serve calls like this one by itself, once it has been made."""
        times = self._offers.get(concrete, 0)
        if times >= OFFERS:
            return None
        self._offers[concrete] = times + 1
        return quick.offer(self, concrete, call, args, kwargs, again=times > 0)

    # --- input_signature ---

    def _fit_signature(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        assert self.input_signature is not None
        bound = self._signature.bind(*args, **kwargs)
        values, last = list(bound.args), len(self._signature.parameters) - 1
        offset = len(values) - len(self.input_signature)
        if offset < 0 or offset > 1:
            raise TypeError(
                f"{self._name}: input_signature has {len(self.input_signature)} entries, "
                f"got {len(values)} arguments"
            )
        for i, spec in enumerate(self.input_signature):
            name = spec.name or list(self._signature.parameters)[min(i + offset, last)]
            values[i + offset] = fit(values[i + offset], spec, f"{self._name}: argument {name}")
        return values, {}


def _array_key(args: tuple[Any, ...]) -> Any:
    """A key for calls with NumPy arrays and nothing else; None for other calls."""
    parts = []
    for arg in args:
        if type(arg) is not np.ndarray:
            return None
        parts.append((arg.dtype, arg.shape, arg.flags.c_contiguous))
    return tuple(parts) if len(args) < 2 or len(set(map(id, args))) == len(args) else None


def _takes_just(concrete: ConcreteFunction, call: Call, args: tuple[Any, ...]) -> bool:
    """Whether a trace needs nothing of a call but these arrays, as they are."""
    whole = len(call.leaves) == len(call.arrays) == len(args)
    return whole and not concrete.writes and all(a.dtype.isnative for a in args)


def _warn_user(text: str) -> None:
    """A warning at the user's own line, however deep the call."""
    frame = user_frame()
    if frame is None:
        warnings.warn(text, stacklevel=2)
    else:
        warnings.warn_explicit(text, UserWarning, frame.f_code.co_filename, frame.f_lineno)


def _call_plain(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


@overload
def function(
    python_function: Callable[..., Any], **options: Unpack[FunctionOptions]
) -> Function: ...
@overload
def function(
    **options: Unpack[FunctionOptions],
) -> Callable[[Callable[..., Any]], Function]: ...


def function(
    python_function: Callable[..., Any] | None = None, **options: Unpack[FunctionOptions]
) -> Any:
    """Make a Python function run as graphs; use as a decorator, with or without arguments.

    Args:
        python_function: a function, method, lambda, partial or callable object of NumPy,
            graphify.numpy or Python operations.
        input_signature: one `TensorSpec` per argument; one graph then serves all calls.
        autograph: convert Python control flow on tensors into graph ops.
        reduce_retracing: generalise Python numbers at their second value instead of the third.
        dynamic: True: every axis is of symbolic size from the first call; False: never; None:
            the axes that change, from the second shape on.
        max_traces: more traces than this raise TraceError.
        on_retrace: "warn", "error", or a function of the `TraceRecord`, at each trace after the
            first.
        engine: "native", "reference" or "tensorflow"; None: `graphify.config.engine`.
        source: the text that the function was compiled from, where neither a file nor `linecache`
            has it: code run by `exec`, or typed into a console. It serves the other functions of
            that text, too.

    Returns:
        A `Function`, called like the original. Arrays come back as `Tensor`s.

    Raises:
        SyntaxUnsupported: while tracing, at a construct that cannot be converted.
        TraceError: while tracing, where the meaning of plain Python cannot be kept.

    Example:
        >>> import numpy as np
        >>> @function
        ... def double_until(x, limit):
        ...     while x.sum() < limit:
        ...         x = x * 2
        ...     return x
        >>> double_until(np.array([1.0, 2.0]), np.array(10.0)).numpy()
        array([4., 8.])
    """
    if python_function is None:
        return lambda f: Function(f, **options)
    if isinstance(python_function, (classmethod, staticmethod)):
        return type(python_function)(Function(python_function.__func__, **options))
    return Function(python_function, **options)


# What help() shows: the options one by one, with their defaults.
with_attributes(function, __signature__=inspect.signature(Function).replace(return_annotation=Any))
