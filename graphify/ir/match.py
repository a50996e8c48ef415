"""Rewrite rules: tables of (pattern, function) and the one driver that applies them.

    x, y = Var("x"), Var("y")
    RULES = Rules([
        (P.negative(P.negative(x)), lambda x: x),                    # -(-x) -> x
        (P.subtract(x, 0.0), lambda x: x),                           # x - 0.0 -> x
        (P.transpose(x, axes=Var("a")), lambda x, a: x if in_order(a) else None),
    ])
    graph = rewrite(graph, RULES + OTHERS)

A pattern names an op, its operands and all its attributes. A `Var` stands for any value,
or any attribute; used twice it stands for the same one. A Python number stands for a constant of
which every element is that number to the bit: 0.0 is not -0.0. `P.op(...)`, with three dots, takes
any operands. The function gets what the variables
stand for, values as tensors; `out`, if it takes that, is the spec the result must have, and `node`
the node that matched. It returns a tensor, a number, or None for "no match".

A rule never changes a spec. Where its result has fewer axes, or axes of length one, it is
broadcast; where it differs otherwise the rule does not apply. Rules must come to an end: each makes
the graph smaller or its operands simpler.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from graphify.errors import InternalError
from graphify.ir.context import not_taping, recording
from graphify.ir.graph import Graph, Node, Value, constant
from graphify.ir.op import REGISTRY, Op
from graphify.ir.rebuild import Frame, Rebuild, UnboundSize
from graphify.ir.sizes import Shape
from graphify.ir.tensor import Tensor, value_in
from graphify.ir.types import Spec

Bindings: TypeAlias = dict[str, Any]
Note: TypeAlias = Callable[[Node, str], None]

MAX_STEPS = 64  # rules applied one after another at one node

# Operands of these may be swapped. NOTE: not maximum and minimum: they tell -0.0 from 0.0 by order.
COMMUTATIVE = {"add", "multiply", "equal", "not_equal", "logical_and", "logical_or", "logical_xor"}
COMMUTATIVE |= {"bitwise_and", "bitwise_or", "bitwise_xor"}


@dataclass(frozen=True, eq=False, slots=True)
class Var:
    """Any value, or any attribute; with `where`, one that the predicate accepts.

    Args:
        where: a predicate of the value's spec, or of the attribute.
    """

    name: str
    where: Callable[[Any], bool] | None = None

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Pattern:
    """An op applied to patterns."""

    op: str
    args: tuple[Any, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        parts = ["..." if arg is ... else repr(arg) for arg in self.args]
        parts += [f"{name}={value!r}" for name, value in self.attrs.items()]
        return f"{self.op}({', '.join(parts)})"


class _Patterns:
    """`P.add(x, 0)` is a pattern for the op `add`."""

    def __getattr__(self, name: str) -> Callable[..., Pattern]:
        if name.startswith("_"):
            raise AttributeError(name)
        op = name.rstrip("_")  # P.slice_, P.while_
        return lambda *args, **attrs: Pattern(op, args, attrs)


P = _Patterns()


# --- matching -----------------------------------------------------------------------------


def matches(pattern: Pattern, node: Node, found: Bindings) -> bool:
    """Whether the node fits; adds what the variables stand for to `found`."""
    if node.op.name != pattern.op:
        return False
    if pattern.args == (...,):
        return _match_attrs(pattern, node, found)
    if len(node.inputs) != len(pattern.args) or not _match_attrs(pattern, node, found):
        return False
    if pattern.op in COMMUTATIVE:
        trial = dict(found)
        if _match_all(pattern.args, node.inputs, trial):
            found.update(trial)
            return True
        return _match_all(pattern.args, node.inputs[::-1], found)
    return _match_all(pattern.args, node.inputs, found)


def _match_all(patterns: Sequence[Any], values: Sequence[Value], found: Bindings) -> bool:
    return all(_match_value(p, v, found) for p, v in zip(patterns, values, strict=True))


def _match_value(pattern: Any, value: Value, found: Bindings) -> bool:
    match pattern:
        case Var():
            if pattern.where is not None and not pattern.where(value.spec):
                return False
            return bool(found.setdefault(pattern.name, value) == value)
        case Pattern():
            return len(value.node.specs) == 1 and matches(pattern, value.node, found)
        case bool() | int() | float():
            return is_constant(value, pattern)
    raise InternalError(f"a pattern has {pattern!r} for an operand")


def _match_attrs(pattern: Pattern, node: Node, found: Bindings) -> bool:
    if any(name not in pattern.attrs and name != "weak" for name in node.attrs):
        return False  # the rule's author did not think of this attribute
    return all(
        _match_attr(wanted, node.attrs.get(name), found) for name, wanted in pattern.attrs.items()
    )


def _match_attr(pattern: Any, attr: Any, found: Bindings) -> bool:
    if not isinstance(pattern, Var):
        return bool(pattern == attr)
    if pattern.where is not None and not pattern.where(attr):
        return False
    return bool(found.setdefault(pattern.name, attr) == attr)


def constant_of(value: Value) -> np.ndarray[Any, Any] | None:
    """The array of a constant, seen through a broadcast."""
    node = value.node
    while node.op.name == "broadcast_to":
        node = node.inputs[0].node
    return node.attrs["value"].array if node.op is constant else None


def is_constant(value: Value, number: bool | int | float) -> bool:
    """Whether every element of a value is this number, to the bit.

    A Python bool stands for booleans only, an int for every other dtype, a float for inexact ones.
    """
    array = constant_of(value)
    if array is None or array.size == 0 or array.size > 64:
        return False
    kind = array.dtype.kind
    if isinstance(number, bool) != (kind == "b"):
        return False
    if isinstance(number, float) and kind in "iu":
        return False
    if kind == "b" or kind in "iu":
        return bool((array == number).all())
    parts = [array] if kind != "c" else [array.real, array.imag]
    wanted = [number, 0.0]
    return all(
        bool((part == want).all()) and bool((np.signbit(part) == np.signbit(want)).all())
        for part, want in zip(parts, wanted, strict=False)
    )


# --- rules ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Rule:
    """A pattern and what it becomes."""

    pattern: Pattern
    function: Callable[..., Any]
    names: tuple[str, ...]  # of the function's parameters
    inputs: frozenset[str]  # ops that must be among the operands, asked before anything else

    def apply(self, node: Node, out: Spec) -> Any:
        """What the function gives for a node, None where the pattern does not fit."""
        found: Bindings = {}
        if not matches(self.pattern, node, found):
            return None
        found["out"], found["node"] = out, node
        return self.function(**{name: _shown(found[name]) for name in self.names})


def _shown(thing: Any) -> Any:
    return Tensor(thing) if isinstance(thing, Value) else thing


class Rules:
    """A table of rules, indexed by the op at the root of each pattern. Tables add up."""

    def __init__(self, table: Iterable[tuple[Pattern, Callable[..., Any]]]) -> None:
        self._by_op: dict[str, list[Rule]] = {}
        self._add(_rule(pattern, function) for pattern, function in table)

    def __add__(self, other: Rules) -> Rules:
        joined = Rules([])
        joined._add([*self, *other])
        return joined

    def __len__(self) -> int:
        return sum(len(rules) for rules in self._by_op.values())

    def __iter__(self) -> Iterator[Rule]:
        return (rule for rules in self._by_op.values() for rule in rules)

    def _add(self, rules: Iterable[Rule]) -> None:
        for rule in rules:
            self._by_op.setdefault(rule.pattern.op, []).append(rule)

    def of(self, op: Op) -> list[Rule]:
        return self._by_op.get(op.name, [])


def _rule(pattern: Pattern, function: Callable[..., Any]) -> Rule:
    names = tuple(inspect.signature(function).parameters)
    unknown = set(names) - _variables(pattern) - {"out", "node"}
    if unknown:
        raise InternalError(f"rule for {pattern}: it has no variable {sorted(unknown)[0]!r}")
    if pattern.op not in REGISTRY:
        raise InternalError(f"rule for {pattern}: there is no op {pattern.op!r}")
    return Rule(pattern, function, names, frozenset(_input_op(arg) for arg in pattern.args) - {""})


def _input_op(pattern: Any) -> str:
    if isinstance(pattern, Pattern):
        return pattern.op
    return "constant" if isinstance(pattern, (bool, int, float)) else ""


def _variables(pattern: Any) -> set[str]:
    if isinstance(pattern, Var):
        return {pattern.name}
    if not isinstance(pattern, Pattern):
        return set()
    return {name for part in (*pattern.args, *pattern.attrs.values()) for name in _variables(part)}


# --- the driver -------------------------------------------------------------------------------


def rewrite(
    graph: Graph,
    rules: Rules,
    note: Note | None = None,
    inner: Mapping[Graph, Graph] | None = None,
) -> Graph:
    """The graph with rules applied wherever they match, in one walk from the operands up.

    Args:
        note: told of every rule that applied: the node, and the pattern as text.
        inner: what the graphs inside have become.
    """
    again = Rebuild(graph, inner)
    with recording(again.frame), not_taping():
        for node in graph.nodes:
            now = again.current(node)
            value = _simplify(again.frame, rules, now, note) if rules.of(now.op) else None
            if value is None:
                again.keep(node, now)
            else:
                again.replace(node, [value])
    return again.finish()


def _simplify(frame: Frame, rules: Rules, node: Node, note: Note | None) -> Value | None:
    """What a node becomes after as many rules as apply; None if none does."""
    value: Value | None = None
    for _ in range(MAX_STEPS):
        made = len(frame.nodes)
        new = _apply_one(frame, rules, node, note)
        if new is None:
            return value
        value = new
        if new.node not in frame.nodes[made:]:
            return value  # a value from before: rules have been tried on it
        node = new.node
    return value


def _apply_one(frame: Frame, rules: Rules, node: Node, note: Note | None) -> Value | None:
    if node.effects or len(node.specs) != 1 or not _shapes_known(node):
        return None
    frame.source = node.source
    ops = {value.node.op.name for value in node.inputs}
    if "broadcast_to" in ops:
        ops.add("constant")  # perhaps: `is_constant` looks through it
    for rule in rules.of(node.op):
        if not rule.inputs <= ops:
            continue
        made = len(frame.nodes)
        try:
            result = rule.apply(node, node.specs[0])
            value = None if result is None else fit(frame, result, node.specs[0])
        except UnboundSize:
            value = None
        if value is not None:
            if note is not None:
                note(node, repr(rule.pattern))
            return value
        frame.rollback(made)  # what the rule made before it turned out not to apply
    return None


def _shapes_known(node: Node) -> bool:
    """Whether an elementwise op needs no check of its operands' shapes that a rule could lose."""
    out = node.specs[0].shape
    return not node.op.extra.get("elementwise") or all(
        _stretches(value.spec.shape, out) for value in node.inputs
    )


def _stretches(dims: Shape, target: Shape) -> bool:
    pairs = zip(reversed(dims), reversed(target), strict=False)
    return len(dims) <= len(target) and all(a == b or a == 1 for a, b in pairs)


def fit(frame: Frame, result: Any, spec: Spec) -> Value | None:
    """A rule's result with exactly this spec: as it is, broadcast, or not at all."""
    if isinstance(result, Tensor):
        value = value_in(result, frame)
    else:
        value = frame.constant(np.asarray(result, spec.dtype), spec.weak and not spec.shape)
    have = value.spec
    if have == spec:
        return value
    if have.dtype != spec.dtype or have.weak or spec.weak:
        return None
    if not _stretches(have.shape, spec.shape):
        return None
    (value,) = frame.add(REGISTRY["broadcast_to"], (value,), {"shape": spec.shape})
    return value if value.spec == spec else None
