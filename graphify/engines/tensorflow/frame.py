"""What a kernel lowers into: one tf.Graph being filled, and what all graphs of one lowering share.

    def sign(frame, x):                         # a kernel
        y = frame.raw.Sign(x=x)
        return frame.raw.SelectV2(condition=frame.raw.IsNan(x=x), t=x, e=y)

A `Unit` is one lowering: its functions, source locations and host functions. A `Frame` is one
tf.Graph of it: the graph itself, or the body of one of its functions.

Every node that stands for a line of the user's stands in a name scope `L<index>/`, the index of
that line in the unit's table: that is how an error of TensorFlow's finds its way back to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np

from graphify.engines.tensorflow.functions import function_def
from graphify.engines.tensorflow.importing import tensorflow
from graphify.ir.sizes import Dim, Size, SizeOp, SizeVar
from graphify.location import SourceLoc

MARKER = "graphify"


class Unit:
    """What the functions of one lowering share.

    Args:
        portable: use nothing that lives in this Python process, so that the graph can be written
            to disk and run elsewhere. Otherwise print and raise call back into Python.
    """

    def __init__(self, portable: bool) -> None:
        self.tf = tensorflow("the tensorflow engine")
        self.portable = portable
        self.library: dict[str, Any] = {}
        self.locations: list[SourceLoc] = []
        self.pending: dict[str, BaseException] = {}  # raised by host functions, by token
        self.generators: dict[Any, Any] = {}  # of random numbers, made while the graph runs
        self.kept: list[Any] = []  # tf.Graphs own the host functions called in them
        self._scopes: dict[Any, str] = {}
        self._indices: dict[Any, int] = {}

    def scope(self, source: Any) -> str:
        """The name scope of a line: `L<index>/`, or "" for nodes from nowhere."""
        if source is None:
            return ""
        known = self._scopes.get(source)
        if known is None:
            location = source.resolve()
            key = (*location.chain, location.inputs)  # for an error, its operands count, too
            index = self._indices.setdefault(key, len(self.locations))
            if index == len(self.locations):
                self.locations.append(location)
            known = self._scopes[source] = f"L{index}/"
        return known

    def define(
        self,
        fill: Callable[..., Any],
        dtypes: Sequence[Any],
        shapes: Sequence[Any],
        parent: Frame | None = None,
    ) -> tuple[str, Frame]:
        """A function of the library; its name, and the frame that was filled.

        Args:
            fill: `(frame, *tensors) -> tensors`, called once.
            dtypes, shapes: of the arguments; None for an unknown length.
            parent: a frame whose current line is that of all nodes of the function.
        """
        frame = Frame(self)
        if parent is not None:
            frame.scope, frame.where = parent.scope, parent.where
        with frame.graph.as_default():
            inputs = [
                frame.raw.Placeholder(dtype=dtype, shape=shape, name=f"arg_{i}")
                for i, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))
            ]
            with frame.graph.name_scope(frame.scope or None):
                filled = fill(frame, *inputs)
            outputs = frame.results(filled)
        definition = function_def(frame.graph, inputs, outputs, frame.effects)
        name = definition.signature.name
        self.library.setdefault(name, definition)
        return name, frame


class Frame:
    """One tf.Graph being filled."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.tf, self.raw = unit.tf, unit.tf.raw_ops
        self.graph = unit.tf.Graph()
        self.effects: list[Any] = []  # effectful operations in program order
        self.sizes: dict[SizeVar, Any] = {}  # int64 scalars
        self.scope = ""  # of the node being lowered: "L3/"
        self.where = ""  # its line, "file.py:12", for the text of errors
        self.specs: tuple[Any, ...] = ()  # result specs of the node being lowered
        self.resolve: Callable[[SizeVar], Any] = lambda variable: None  # see `known`
        unit.kept.append(self.graph)

    # --- constants and sizes ---

    def constant(self, value: Any, dtype: Any = None) -> Any:
        return self.tf.constant(value, dtype)

    def like(self, value: Any, x: Any) -> Any:
        """A scalar in the dtype of `x`."""
        return self.tf.constant(np.asarray(value).astype(x.dtype.as_numpy_dtype), x.dtype)

    def size(self, dim: Dim) -> Any:
        """A size as an int or an int64 scalar."""
        if not isinstance(dim, Size):
            return int(dim)
        total: Any = 0
        for monomial, coefficient in dim.terms:
            term: Any = coefficient
            for atom, power in monomial:
                for _ in range(power):
                    term = self._times(term, self._atom(atom))
            total = term if isinstance(total, int) and total == 0 else total + term
        return total

    def known(self, dim: Dim) -> Any:
        """A size as an int or an int64 scalar; None if what binds it is not lowered yet."""
        if isinstance(dim, Size):
            for variable in dim.variables():
                if self.resolve(variable) is None:
                    return None
        return self.size(dim)

    def _times(self, a: Any, b: Any) -> Any:
        return b if isinstance(a, int) and a == 1 else a * b

    def _atom(self, atom: SizeVar | SizeOp) -> Any:
        if isinstance(atom, SizeVar):
            return self.sizes[atom]
        a, b = (self.scalar(arg) for arg in atom.args)
        match atom.name:
            case "max":
                return self.raw.Maximum(x=a, y=b)
            case "min":
                return self.raw.Minimum(x=a, y=b)
            case "wrap":
                return self.raw.SelectV2(condition=a < 0, t=a + b, e=a)
        nonzero = self.check(
            self.raw.NotEqual(x=b, y=self.like(0, b)), ZeroDivisionError, "division by zero"
        )
        b = self.after(b, nonzero)
        return (
            self.raw.FloorDiv(x=a, y=b) if atom.name == "floordiv" else self.raw.FloorMod(x=a, y=b)
        )

    def scalar(self, dim: Any) -> Any:
        """A size as an int64 scalar tensor."""
        value = self.size(dim) if isinstance(dim, (int, Size)) else dim
        return self.constant(value, self.tf.int64) if isinstance(value, int) else value

    def shape(self, dims: Sequence[Any]) -> Any:
        """A shape of sizes (or of ints and int64 scalars) as an int64 vector."""
        values = [self.size(d) if isinstance(d, (int, Size)) else d for d in dims]
        if all(isinstance(v, int) for v in values):
            return self.constant(np.asarray(values, np.int64))
        return self.raw.Pack(values=[self.scalar(v) for v in values])

    def shape_of(self, x: Any) -> list[Any]:
        """The lengths of the axes: ints where known, else int64 scalars."""
        if x.shape.is_fully_defined():
            return list(x.shape)
        lengths = self.raw.Unpack(
            value=self.raw.Shape(input=x, out_type=self.tf.int64), num=len(x.shape)
        )
        return [
            known if known is not None else length
            for known, length in zip(x.shape, lengths, strict=True)
        ]

    # --- checks and effects ---

    def check(self, holds: Any, kind: type[BaseException], text: str, *values: Any) -> Any:
        """An operation that fails unless `holds` (a bool scalar), as `kind(text)`.

        Each `{}` of the text stands for a value. Use it through `after`: an error belongs to the
        value that needs the check.
        """
        marker = f"{MARKER} {kind.__name__} at {self.where or '?'}: {text}"
        # Square brackets are what TensorFlow puts around the pieces of the message.
        safe = quote(marker, safe=" !\"#$&'()*+,/:;<=>?@\\^`{|}~")
        return self.raw.Assert(condition=holds, data=[self.constant(safe), *values], summarize=64)

    def after(self, x: Any, *operations: Any) -> Any:
        """`x`, available only once the operations have run."""
        with self.graph.control_dependencies(operations):
            return self.raw.Identity(input=x)

    def ran(self, operation: Any) -> None:
        """Note an effect: what has effects later runs after it."""
        self.effects.append(operation)

    def results(self, tensors: Sequence[Any]) -> list[Any]:
        """Results that are there once all effects are done."""
        with self.graph.control_dependencies(self.effects[-1:]):
            return [self.raw.Identity(input=t, name="Identity") for t in tensors]

    # --- functions ---

    def call(
        self, function: str, inputs: Sequence[Any], dtypes: Sequence[Any], stateful: bool
    ) -> Any:
        op = self.raw.StatefulPartitionedCall if stateful else self.raw.PartitionedCall
        return op(args=list(inputs), Tout=list(dtypes), f=function)

    def branch(self, pred: Any, then: str, other: str, inputs: Sequence[Any], outputs: Any) -> Any:
        """One of two functions. `outputs`: (dtypes, shapes, stateful) of the results."""
        dtypes, shapes, stateful = outputs
        op = self.raw.If if stateful or not dtypes else self.raw.StatelessIf
        return op(
            cond=pred,
            input=list(inputs),
            Tout=list(dtypes),
            then_branch=then,
            else_branch=other,
            output_shapes=[self.tf.TensorShape(s) for s in shapes],
        )

    def repeat(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        state: Sequence[Any],
        shapes: Sequence[Any] | None = None,
    ) -> list[Any]:
        """A while loop: `cond(frame, *state)` a bool scalar, `body(frame, *state)` the next state.

        Args:
            shapes: of the state, None for lengths that change; as they are on entry if None.
        """
        dtypes = [t.dtype for t in state]
        shapes = [t.shape for t in state] if shapes is None else shapes
        test, _ = self.unit.define(lambda frame, *s: [cond(frame, *s)], dtypes, shapes, self)
        step, inner = self.unit.define(body, dtypes, shapes, self)
        stateful = bool(inner.effects)
        op = self.raw.While if stateful else self.raw.StatelessWhile
        results = op(
            input=list(state),
            cond=test,
            body=step,
            output_shapes=[self.tf.TensorShape(s) for s in shapes],
            parallel_iterations=10,
        )
        if stateful:
            self.ran(_operation(results))
        return list(results)


def _operation(results: Any) -> Any:
    return results.op if hasattr(results, "op") else results[0].op
