"""An op is one record of inert data; engines and transformations interpret it.

    sin = defop("sin", spec=..., eval=np.sin, vjp=..., jvp=..., vmap=..., tf="math.sin", sample=...)

Operands are positional and traced, static data is keyword and hashable. The record is callable:
`sin(x)` binds the op to tensors (see `graphify.ir.bind`), and so does `svd.several(x)` where the
results are a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphify.errors import InternalError

if TYPE_CHECKING:
    from graphify.ir.tensor import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """Everything graphify knows of one operation.

    Attributes:
        name: unique; NumPy's name where it has one.
        spec: `(*specs, **attrs) -> Spec | tuple[Spec, ...]`; raises SpecError or ShapeError.
        eval: `(*arrays, **attrs) -> array | tuple`: the meaning, in NumPy.
        convert: `(*tensors) -> tensors`: promotion of operands before binding, None to leave them.
        vjp: `(g, y, *xs, **attrs) -> [gx, ...]`, None for an operand without gradient. `g` and
            `y` are tuples where the op has several results. None: not differentiable. With
            `extra={"wanted": True}` the rule is told, as `wanted=(bool, ...)`, which to give.
        jvp: `(ts, y, *xs, **attrs) -> t`; `ts` has None for a constant operand. "linear": the op is
            linear in its operands taken together (add, reshape); "multilinear": in each one alone.
        vmap: `(args, batched, **attrs) -> result(s) batched at axis 0`; the batched arguments carry
            their batch at axis 0. "pointwise": broadcasting elementwise op. None: falls to `map`.
        put: for ops whose NumPy result is a view: `(base, new, *operands, **attrs) -> base` with
            the viewed elements replaced.
        effects: runs for its effect, in program order (print, assert, variable access).
        native: how the native engine lowers it (data, no import).
        tf: how the TensorFlow engine lowers it (data, no import).
        sample: `() -> list of (arrays, attrs)`, or an iterable thereof, for the op table test.
        differentiable: operand positions with a gradient; None for all inexact ones.
        doc: one line for docs/ops.md.
        extra: further data. "weak": the result of Python scalars is one; "python": `eval` of those.
    """

    name: str
    spec: Callable[..., Any]
    eval: Callable[..., Any] | None = None
    convert: Callable[..., Any] | None = None
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | str | None = None
    vmap: Callable[..., Any] | str | None = None
    put: Callable[..., Any] | None = None
    effects: bool = False
    native: Any = None
    tf: Any = None
    sample: Callable[[], Any] | None = None
    differentiable: tuple[int, ...] | None = None
    doc: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any, **attrs: Any) -> Tensor:
        from graphify.ir.bind import bind  # an upward look: records are made before bind

        result: Tensor = bind(self, args, attrs)
        return result

    def several(self, *args: Any, **attrs: Any) -> tuple[Tensor, ...]:
        """The same call, typed, for an op that gives a tuple."""
        from graphify.ir.bind import bind

        results: tuple[Tensor, ...] = bind(self, args, attrs)
        return results

    def meaning(self, weak: bool) -> Callable[..., Any] | None:
        """`eval`, or what the op means for Python numbers where those differ: no wrap-around."""
        return (self.extra.get("python") or self.eval) if weak else self.eval

    def __repr__(self) -> str:
        return f"<op {self.name}>"


REGISTRY: dict[str, Op] = {}


def defop(name: str, **fields: Any) -> Op:
    """Define and register an op.

    Raises:
        InternalError: the name is taken.
    """
    if name in REGISTRY:
        raise InternalError(f"defop: op {name!r} is already defined")
    op = REGISTRY[name] = Op(name, **fields)
    return op
