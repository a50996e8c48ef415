"""What a part of the program raises, as a value: the ops that a staged `try` decides on.

    failure(*operands; body, kinds)        0, or k + 1 where running body raises kinds[k]
    failure_text(*operands; body, kinds)   the text of that exception, in bytes

`body` is a closed sub-graph whose results are all values that may fail (`strict`): in a `try` the
failure itself is the answer, so whatever could fail is evaluated, in program order. It prints
nothing and gives nothing. An exception of none of these classes counts as none: whoever runs the
part itself meets it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphify.errors import REFUSALS, GraphifyError, InvalidArgumentError
from graphify.ir import safety
from graphify.ir.function import GraphFunction
from graphify.ir.graph import Graph, Node, Value
from graphify.ir.interpret import run
from graphify.ir.op import defop
from graphify.ir.types import Spec
from graphify.ops.shape import RANGE_ERRORS

Kinds = tuple[type[BaseException], ...]

LENGTH = 512  # bytes of a text; longer ones end in an ellipsis


def _raised(operands: Sequence[Any], body: Graph, kinds: Kinds) -> tuple[int, BaseException | None]:
    try:
        run(body, operands)
    except Exception as error:  # noqa: BLE001 - which one is the answer
        number = number_of(type(error), kinds)
        return number, error if number else None
    return 0, None


def number_of(raised: type[BaseException], kinds: Kinds) -> int:
    """What the op gives for a class: 0 for none of those asked for, and for other refusals."""
    exact = [k for k, kind in enumerate(kinds, 1) if raised is kind]
    found = exact or [k for k, kind in enumerate(kinds, 1) if issubclass(raised, kind)]
    if not found or not exact and issubclass(raised, REFUSALS):
        return 0
    return found[0]


def _failure_eval(*operands: Any, body: Graph, kinds: Kinds) -> Any:
    return np.asarray(_raised(operands, body, kinds)[0], np.int64)


def _text_eval(*operands: Any, body: Graph, kinds: Kinds) -> Any:
    return encode(text_of(_raised(operands, body, kinds)[1]))


def raw(error: BaseException) -> BaseException:
    """An exception as plain Python has it, before its message was made to name the user's line."""
    cause = error.__cause__
    if getattr(error, "location", None) is not None and type(cause) is type(error):
        return raw(cause)
    return error


def text_of(error: BaseException | None) -> str:
    """What `str(error)` is in plain Python; of an exception that holds a text, that."""
    error = None if error is None else raw(error)
    if error is not None and len(error.args) == 1 and type(error.args[0]) is str:
        return str(error.args[0])
    return str(error.message) if isinstance(error, GraphifyError) else str(error or "")


def encode(text: str) -> Any:
    raw = text.encode()
    if len(raw) > LENGTH:
        raw = raw[: LENGTH - 3].decode(errors="ignore").encode() + b"..."
    return np.frombuffer(raw.ljust(LENGTH, b"\0"), np.uint8)


def decode(raw: Any) -> str:
    return bytes(np.asarray(raw)).rstrip(b"\0").decode()


_CONTROL = {"control": True, "contained": True}

failure = defop(
    "failure",
    spec=lambda *operands, body, kinds: Spec((), np.dtype(np.int64)),
    eval=_failure_eval,
    tf="failure",
    extra=_CONTROL,
    doc="which of some exceptions a sub-graph raises, as a number; 0 for none",
)

failure_text = defop(
    "failure_text",
    spec=lambda *operands, body, kinds: Spec((LENGTH,), np.dtype(np.uint8)),
    eval=_text_eval,
    tf="failure_text",
    extra=_CONTROL,
    doc="the text of the exception that a sub-graph raises, in bytes",
)

# --- which nodes may raise what -------------------------------------------------------------------

_INDEXING = dict.fromkeys(("slice", "slice_update", "gather", "scatter"), (IndexError,))
_LINEAR = dict.fromkeys(
    ("solve", "inv", "det", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals")
    + ("lstsq", "lstsq_residuals", "pinv", "qr", "slogdet", "adjugate"),
    (np.linalg.LinAlgError, ValueError),
)
_DIVISION = dict.fromkeys(
    ("nonzero_divisor", "divide", "floor_divide", "remainder", "fmod"), (ZeroDivisionError,)
)
_RAISES: dict[str, Kinds] = {
    **_INDEXING,
    **_LINEAR,
    **_DIVISION,
    # Integers of 64 bits may overflow where Python's do not: no error that a program handles.
    **dict.fromkeys(("add", "subtract", "multiply", "negative"), ()),
    "power": (ZeroDivisionError, OverflowError, ValueError),
    "to_int": (ValueError, OverflowError),
    "check": (InvalidArgumentError,),
    "numpy_assert": (AssertionError,),
    "broadcast_to": (ValueError,),
    "reshape": (ValueError,),
}
_ANY: Kinds = (ValueError, IndexError, ZeroDivisionError, OverflowError, TypeError)


def raises(node: Node) -> Kinds:
    """The classes of what a node by itself, without its sub-graphs, may raise."""
    if node.op.name in ("raise", "assert"):
        return (node.attrs["exception"].kind,)
    if node.in_bounds:
        return ()
    if node.op.name in ("check", "numpy_assert"):
        return _RAISES[node.op.name]
    if node.op.name == "in_range":
        return (RANGE_ERRORS[node.attrs["error"]],)
    if node.effects or node.op.extra.get("control") or safety.cannot_fail(node):
        return ()
    return (*_RAISES.get(node.op.name, _ANY), *(ValueError,) * _has_sizes(node))


def _has_sizes(node: Node) -> bool:
    """Whether only the run knows some shapes, so that they may turn out not to fit."""
    specs = (*node.specs, *(value.spec for value in node.inputs))
    return any(not isinstance(dim, int) for spec in specs for dim in spec.shape)


def _inner(node: Node, seen: set[int]) -> Iterator[Graph]:
    """The graphs that a node runs, those of recursive functions once."""
    if node.op.extra.get("contained"):
        return
    for _, graph in node.subgraphs:
        yield graph
    for value in node.attrs.values():
        if isinstance(value, GraphFunction) and value.complete_yet and id(value) not in seen:
            seen.add(id(value))
            yield value.graph


def _catches(kinds: Kinds, kind: type[BaseException]) -> bool:
    """Whether a handler of some classes takes an exception; refusals only if it asks for those."""
    if issubclass(kind, GraphifyError) and issubclass(kind, REFUSALS):
        kinds = tuple(asked for asked in kinds if issubclass(asked, GraphifyError))
    return issubclass(kind, kinds)


def failing(
    nodes: Sequence[Node], kinds: Kinds, seen: set[int] | None = None
) -> Iterator[tuple[Node, type[BaseException]]]:
    """The nodes, those of sub-graphs included, that may raise one of some classes."""
    seen = set() if seen is None else seen
    for node in nodes:
        yield from ((node, found) for found in raises(node) if _catches(kinds, found))
        for graph in _inner(node, seen):
            yield from failing(graph.nodes, kinds, seen)


def may_fail(node: Node, kinds: Kinds) -> bool:
    return next(failing([node], kinds), None) is not None


def strict(nodes: Sequence[Node], kinds: Kinds) -> tuple[tuple[Node, ...], tuple[Value, ...]]:
    """The nodes without effects but failing, and the values that have to be evaluated.

    Refusals are kept: where a run ends by one, what comes after it does not fail. A node that has
    other effects, such as to raise something else, is kept if it gives a value that is needed.
    """
    wanted = [node for node in nodes if may_fail(node, (*kinds, *REFUSALS))]
    kept: list[Node] = []
    used: set[Node] = set()
    for node in reversed(nodes):
        if not node.effects or node in wanted or node in used:
            kept.append(node)
            used.update(value.node for value in node.inputs)
    kept.reverse()
    return tuple(kept), tuple(value for node in wanted for value in node.outputs)


def acts_before_it_fails(nodes: Sequence[Node], kinds: Kinds) -> bool:
    """Whether something is printed, drawn or the like before something else may fail."""
    acted = False
    for node in nodes:
        if any(acts_before_it_fails(graph.nodes, kinds) for _, graph in node.subgraphs):
            return True
        fails, does = may_fail(node, kinds), acts(node)
        again = fails and does and node.op.name not in ("cond", "call")  # from turn to turn
        if acted and fails or again:
            return True
        acted = acted or does
    return False


def acts(node: Node, seen: set[int] | None = None) -> bool:
    """Whether a node has effects other than to fail."""
    seen = set() if seen is None else seen
    if not node.effects or node.op.name in ("raise", "assert", "check", "numpy_assert"):
        return False
    alone = not any(isinstance(v, (Graph, GraphFunction)) for v in node.attrs.values())
    graphs = list(_inner(node, seen))
    return alone or any(acts(inner, seen) for graph in graphs for inner in graph.nodes)
