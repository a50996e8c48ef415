"""One trace of a function: its graph, what it takes and gives, and how it runs.

concrete = f.get_concrete_function(x)
concrete.graph            # the optimised graph
concrete(x)               # runs it on arrays of this signature
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphify import tree
from graphify.api import writing
from graphify.api.checking import compare_with_reference
from graphify.api.inspection import remember_engine, report
from graphify.api.lane_errors import Part, in_lane
from graphify.api.structures import shape_text
from graphify.api.writing import Output, Write
from graphify.config import config
from graphify.engines.base import get_engine
from graphify.errors import LoweringError
from graphify.ir import float_errors
from graphify.ir.context import active_tapes, current_builder
from graphify.ir.graph import Graph, Value
from graphify.ir.replay import replay
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec
from graphify.ir.wrapping import as_tensor
from graphify.ops.control import call as call_op
from graphify.tracing.capture import Hidden
from graphify.tracing.guards import AnyGuard
from graphify.tracing.recursion import deep_stack
from graphify.tracing.signature import Call, Pattern
from graphify.tracing.tracebacks import user_facing


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """Why and when a trace was made.

    Attributes:
        signature: the arguments as text.
        cause: what was new: "first call", "argument `x`, axis 0: 3 -> 4".
        location: the user's call, "file.py:12".
        seconds: tracing and optimising time.
    """

    signature: str
    cause: str
    location: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.location}: {self.signature}  [{self.cause}; {self.seconds * 1e3:.1f} ms]"


@dataclass(slots=True)
class Traced:
    """What tracing a call gives."""

    graph: Graph  # as recorded
    optimised: Graph
    report: Any
    params: list[Value]  # one per distinct argument array
    hidden: list[Hidden]
    outputs: list[Output]
    treedef: tree.TreeDef
    writes: list[Write]
    guards: list[AnyGuard]
    notes: list[str] = field(default_factory=list)
    in_order: set[int] = field(default_factory=set)  # arrays that must lie in C order
    parts: list[Part] = field(default_factory=list)  # what runs in every lane of a vmap


class ConcreteFunction:
    """A traced and compiled function for one kind of arguments. Call it with arrays.

    It gives what the function gives, and changes what that changes.

    Attributes:
        name: the function's name.
        trace: the `TraceRecord`.

    Raises:
        TypeError: a call with another number of arrays, or arrays of another dtype or rank.

    Example:
        >>> @graphify.function
        ... def double(x):
        ...     return x * 2
        >>> spec = graphify.TensorSpec((None,), np.float64)
        >>> concrete = double.get_concrete_function(spec)
        >>> concrete(np.array([1.0, 2.0])).numpy()
        array([2., 4.])
    """

    def __init__(
        self,
        name: str,
        traced: Traced,
        pattern: Pattern,
        keys: Any,
        names: list[str],
        positions: list[int],
        record: TraceRecord,
        engine: str,
    ) -> None:
        self.name, self.pattern, self.trace, self.engine = name, pattern, record, engine
        self._traced, self._keys, self._names, self._positions = traced, keys, names, positions
        self._executable: Callable[[Sequence[Any]], list[Any]] | None = None
        remember_engine(self.graph, engine)

    @property
    def graph(self) -> Graph:
        """The optimised graph."""
        return self._traced.optimised

    @property
    def traced_graph(self) -> Graph:
        """The graph as it was recorded, before optimisation."""
        return self._traced.graph

    @property
    def structured_outputs(self) -> tree.TreeDef:
        """The shape of the result: containers, with a place for each leaf."""
        return self._traced.treedef

    @property
    def outputs(self) -> list[Output]:
        """How each leaf of the result is made."""
        return self._traced.outputs

    @property
    def writes(self) -> list[Write]:
        """What the function changes outside itself."""
        return self._traced.writes

    @property
    def hidden(self) -> list[Hidden]:
        """Hidden inputs: parameters of the graph that follow those of the arguments."""
        return self._traced.hidden

    @property
    def captured_inputs(self) -> list[Any]:
        """The arrays and Variables from outside that the graph reads, as they are now."""
        return [hidden.current() for hidden in self._traced.hidden]

    @property
    def structured_input_signature(self) -> dict[str, Spec]:
        """Spec of each array argument by name."""
        return {n: v.spec for n, v in zip(self._array_names(), self._traced.params, strict=True)}

    def _array_names(self) -> list[str]:
        return [self._names[p] for p in self._positions]

    def takes(self, call: Any) -> bool:
        """Whether the arrays of a call lie in memory as the trace took for granted."""
        return not self._traced.in_order or self._traced.in_order.isdisjoint(call.scattered)

    def holds(self) -> bool:
        """Whether everything the trace read from outside is still as it was."""
        return all(guard.holds() for guard in self._traced.guards)

    def broken_guard(self) -> AnyGuard | None:
        """What the trace read from outside and is no longer as it was; None if all is."""
        return next((g for g in self._traced.guards if not g.holds()), None)

    @user_facing
    def __call__(self, *args: Any) -> Any:
        """Run on arrays, one per array argument of the signature.

        Raises:
            TypeError: a wrong number of arrays, or one of another dtype or rank.
        """
        float_errors.check()
        return self.run(self._fitting(args))

    def _fitting(self, args: Sequence[Any]) -> list[Tensor]:
        """The arguments as tensors, if they fit the signature."""
        tensors = [as_tensor(a) for a in args]
        specs = [v.spec for v in self._traced.params]
        if len(tensors) != len(specs):
            raise TypeError(f"{self.name}: expected {len(specs)} arrays, got {len(tensors)}")
        for name, tensor, spec in zip(self._array_names(), tensors, specs, strict=True):
            if tensor.dtype != spec.dtype or tensor.ndim != spec.ndim:
                raise TypeError(f"{self.name}: argument {name}: expected {spec}, got {tensor.spec}")
        if not self.pattern.matches(
            [t.dims for t in tensors]
        ):  # inside a trace, sizes may be symbolic
            raise TypeError(
                f"{self.name}: expected shapes {self.pattern.dims}, got {[t.dims for t in tensors]}"
            )
        return tensors

    def run(self, arrays: Sequence[Tensor], call: Call | None = None) -> Any:
        """Run on tensors known to fit.

        Args:
            call: the call they come from: what the function changes is looked up in its arguments.
        """
        inputs = [*arrays, *(as_tensor(h.current()) for h in self._traced.hidden)]
        if self._traced.writes:
            writing.check(self.name, self._traced, inputs, call)
        if active_tapes() and self.graph.effects:
            # Op by op: a derivative runs a sub-graph again, which would repeat its effects.
            results = replay(self.graph, inputs)
        elif active_tapes() or current_builder() is not None:
            results = list(call_op(*inputs, body=self.graph))
        else:
            results = [Tensor(np.asarray(r)) for r in self.execute([t.numpy() for t in inputs])]
            if not getattr(self._executable, "gives_new_arrays", False):
                self._separate(inputs, results)
        return self.finish(results, arrays, call)

    def finish(
        self, results: Sequence[Tensor], arrays: Sequence[Tensor], call: Call | None = None
    ) -> Any:
        """The function's result for those of the graph, after its changes outside are made."""
        if self._traced.writes:
            self._write_back(arrays, results, call)
        leaves = [self._leaf(output, results, arrays) for output in self._traced.outputs]
        return self._traced.treedef.unflatten(leaves)

    def execute(self, arrays: Sequence[Any]) -> list[Any]:
        """The graph's results for its parameters' arrays, hidden inputs included."""
        compiled = self._compiled()
        try:
            results = compiled(arrays)
        except Exception as error:
            found = in_lane(error, self.traced_graph, self._traced.parts, arrays, self.engine)
            if found is error:
                raise
            raise found from found.__cause__
        if config.check and self.engine != "reference":
            compare_with_reference(
                self.graph, arrays, results, f"{self.name}: engine {self.engine}"
            )
        return results

    def _compiled(self) -> Callable[[Sequence[Any]], list[Any]]:
        """The engine's executable, made when it is first needed."""
        if self._executable is None:
            start = time.perf_counter()
            with deep_stack():
                self._executable = get_engine(self.engine).compile(self.graph)
            seconds = time.perf_counter() - start
            config.log(1, f"graphify: compiled {self.name} for {self.engine} in {seconds:.3f} s")
        return self._executable

    # --- looking inside -------------------------------------------------------------------------

    def lower(self) -> Any:
        """What the native engine makes of the graph, to read.

        Returns:
            An object whose `str` is the loop-level program with your lines. It has `.text` (the
            same), `.program` (the data behind it), `.llvm_ir` and `.asm` (optimised code, with your
            lines as comments).

        Raises:
            LoweringError: the function runs on another engine.

        Example:
            >>> @graphify.function
            ... def halved(x):
            ...     return x * 0.5
            >>> spec = graphify.TensorSpec((3, None), np.float32)
            >>> lowered = halved.get_concrete_function(spec).lower()
            >>> print(lowered)
            # ...:3  return x * 0.5
            def halved(x: f32[3, n]) -> (out0: f32[3, n]):
                parallel for i in 3:
                    vector for j in n:
                        out0[i, j] = x[i, j] * 0.5  # 3
        """
        return self._native("lower", "lowered")()

    def report(self) -> Any:
        """What optimiser and engine made of the function; see `graph.report()`."""
        return report(self.graph)

    def profile(self, *args: Any, repeat: int | None = None) -> Any:
        """Time each kernel on these arrays, beside what this machine could do.

        A variant of the function with a clock between its kernels is compiled and run; nothing of
        what the function changes outside itself is written back. The limits of the machine are
        measured when they are first asked for, in a second or so, and kept on disk.

        Args:
            args: one per array argument of the signature.
            repeat: how many runs; without it about 0.3 s of them, or one if the graph has effects.

        Returns:
            A profile: `str` gives a table, `.kernels` the times, work and limits of each kernel,
            `.machine` the limits that they are held against.

        Raises:
            TypeError: a wrong number of arrays, or one of another dtype or rank.
            LoweringError: the function runs on another engine.

        Example:
            >>> @graphify.function
            ... def norm(x):
            ...     return np.sqrt((x * x).sum())
            >>> x = np.ones(1000)
            >>> profile = norm.get_concrete_function(x).profile(x, repeat=5)
            >>> profile.runs, len(profile.kernels)
            (5, 1)
            >>> profile.kernels[0].bytes
            8008.0
        """
        inputs = [*self._fitting(args), *(as_tensor(h.current()) for h in self._traced.hidden)]
        return self._native("profile", "profile")([t.numpy() for t in inputs], repeat)

    def _native(self, what: str, method: str) -> Callable[..., Any]:
        """A method of the executable that the native engine's alone has."""
        if self.engine != "native":
            raise LoweringError(
                f"{what}: {self.name} runs on the engine {self.engine!r}, which makes no loops",
                remedy='graphify.function(..., engine="native")',
            )
        found: Callable[..., Any] = getattr(self._compiled(), method)
        return found

    # --- running --------------------------------------------------------------------------------

    def _separate(self, inputs: Sequence[Tensor], results: list[Tensor]) -> None:
        """Copy results that share memory by the engine's doing and not by the program's."""
        taken = [t.numpy() for t in inputs]
        for i, result in enumerate(results):
            array = result.numpy()
            if not array.flags.writeable or any(
                np.may_share_memory(array, other) for other in taken
            ):
                results[i] = Tensor(array.copy())
            taken.append(results[i].numpy())

    def _leaf(self, output: Output, results: Sequence[Tensor], arrays: Sequence[Tensor]) -> Any:
        if output.index is None:
            return output.static
        if output.origin is not None:
            return output.origin.find(arrays)
        result = results[output.index]
        as_number = (
            output.weak and not result.is_symbolic and not active_tapes()
        )  # tapes know tensors
        return result.numpy().item() if as_number else result

    def _write_back(
        self, arrays: Sequence[Tensor], results: Sequence[Tensor], call: Call | None
    ) -> None:
        """Make the function's changes outside itself: storages, then containers, then fields."""
        later = []
        for write in self._traced.writes:
            if isinstance(write.target, (int, Hidden)):
                index = write.outputs[0].index
                assert index is not None
                writing.store(write.target, results[index], arrays, call)
            else:
                leaves = [self._field(output, results, arrays) for output in write.outputs]
                later.append((write, write.treedef.unflatten(leaves)))
        for write, value in sorted(later, key=lambda pair: not pair[0].container):
            writing.put(write, value, call)

    def _field(self, output: Output, results: Sequence[Tensor], arrays: Sequence[Tensor]) -> Any:
        """A leaf of a field's new value; an object that was captured stays that object."""
        origin = output.origin
        if origin is not None and not origin.views and not isinstance(origin.thing, int):
            return origin.thing.current()
        return self._leaf(output, results, arrays)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature()!r}>"

    def pretty_printed_signature(self) -> str:
        """Arguments and results, as text."""
        lines = [f"{self.name}({self.trace.signature})", "  Args:"]
        for name, value in zip(self._array_names(), self._traced.params, strict=True):
            lines.append(f"    {name}: {_describe(value.spec)}")
        if len(lines) == 2:
            lines.pop()
        lines.append("  Returns:")
        paths = self._traced.treedef.paths("result")
        for path, output in zip(paths, self._traced.outputs, strict=True):
            if output.index is None:
                lines.append(f"    {path}: {output.static!r}")
            else:
                lines.append(f"    {path}: {_describe(self.graph.results[output.index].spec)}")
        return "\n".join(lines)


def _describe(spec: Spec) -> str:
    return f"Tensor(shape={shape_text(spec.shape)}, dtype={spec.dtype.name})"
