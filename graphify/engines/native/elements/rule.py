"""What rules are made of: choice by kind of dtype, and wrappers from V to elements.

    add = by_kind(b=logic("or"), iu=integer(...), f=in_float(Function.fadd), c=complexes.add)

A rule is `rule(f, dtype, *args) -> Element` (a tuple of them where the op has several results):
`dtype` is the dtype of the result, the operands already have the dtypes that NumPy's loop computes
in. Its meaning is the op's `eval`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphify.engines.native.elements.element import Element
from graphify.engines.native.llvm import BIT, Function, Type, V
from graphify.errors import InternalError
from graphify.ir.types import BOOL, DType, bfloat16

Rule = Callable[..., Element | tuple[Element, ...]]


def by_kind(**rules: Rule) -> Rule:
    """The rule for the kind of the first operand: b, i, u, f (all floats), c; "iu" is both."""
    table = {kind: rule for kinds, rule in rules.items() for kind in kinds}

    def choose(f: Function, dtype: DType, *args: Element) -> Element | tuple[Element, ...]:
        kind = "f" if args[0].dtype == bfloat16 else args[0].dtype.kind
        if kind not in table:
            raise InternalError(f"native engine: no rule for elements of dtype {args[0].dtype}")
        return table[kind](f, dtype, *args)

    return choose


def integer(rule: Callable[..., V]) -> Rule:
    """A rule `(f, signed, *V) -> V` on integers as one on elements."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        signed = args[0].dtype.kind == "i"
        return Element(dtype, (rule(f, signed, *(a.value for a in args)),))

    return on_elements


def plain(rule: Callable[..., V]) -> Rule:
    """A rule `(f, *V) -> V` on elements of one part, however they are to be understood."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        return Element(dtype, (rule(f, *(a.value for a in args)),))

    return on_elements


def test(rule: Callable[..., V]) -> Rule:
    """A rule `(f, *Element) -> i1 V` as one with a bool element."""

    def on_elements(f: Function, dtype: DType, *args: Element) -> Element:
        return Element(BOOL, (rule(f, *args),))

    return on_elements


def same(f: Function, dtype: DType, x: Element) -> Element:
    """The operand itself."""
    return Element(dtype, x.parts, x.number)


def repeat(
    f: Function,
    state: Sequence[V],
    goes_on: Callable[..., V],
    step: Callable[..., Sequence[V]],
) -> list[V]:
    """`while goes_on(*state): state = step(*state)`; a vector goes on while any lane does.

    The state lies on the stack in the text; LLVM brings it into registers.
    """
    slots = [f.alloca(x.type) for x in state]
    for x, slot in zip(state, slots, strict=True):
        f.store(x, slot)
    head, body, done = f.label("while"), f.label("body"), f.label("done")
    f.start(head)
    now = [f.load(x.type, slot) for x, slot in zip(state, slots, strict=True)]
    f.br_if(any_lane(f, goes_on(f, *now)), body, done)
    f.start(body)
    for x, slot in zip(step(f, *now), slots, strict=True):
        f.store(x, slot)
    f.br(head)
    f.start(done)
    return now


def any_lane(f: Function, mask: V) -> V:
    """Whether a mask holds anywhere."""
    if mask.type.lanes == 1:
        return mask
    return f.intrinsic("vector.reduce.or", mask, result=BIT)


def outlined(f: Function, name: str, args: Sequence[V], write: Callable[..., V], result: Type) -> V:
    """Call a function of the module's own, written on first need.

    Loops are kept out of the caller's blocks this way, and are compiled once per module.

    Args:
        write: writes the body, given the open function and its arguments; returns the result.
    """
    full = ".".join(["element", name, *(a.type.suffix for a in args)])
    if full not in f.module.functions:
        params = [(a.type, f"x{i}") for i, a in enumerate(args)]
        inner = f.module.function(full, result, params, "internal")
        inner.ret(write(inner, *inner.args.values()))
    return f.call(full, result, args)


def is_constant(x: V) -> bool:
    """Whether a value is written as a literal."""
    return not x.text.startswith(("%", "@"))
