"""Functions that call themselves, with an end that only the run knows.

def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)

`enter` runs each of the user's functions in a trace, and knows which ones are being run further
out. One that is entered again under a staged condition, with arguments that differ in nothing that
Python could decide by, would be traced without end. It is traced once instead, as a
`GraphFunction`; what calls it, itself included, records a `recursive_call`.

What it gives is found like what a loop carries: at first only the paths that do not recur are
traced (see unknown.py), then all of them with what those gave, until nothing new turns up.
Arguments that Python could decide by (a depth that is counted down) are first followed a few calls
deep. Where a function cannot be traced like that, it is inlined as often as it calls itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from graphify.autograph.operators.activations import Activation, active, all_active
from graphify.autograph.operators.arguments import Arguments
from graphify.autograph.operators.graph_functions import Recursion
from graphify.autograph.operators.heap import watch_cells
from graphify.autograph.operators.undefined import certain
from graphify.autograph.operators.unknown import Unknown
from graphify.errors import LeakedTracer, SyntaxUnsupported
from graphify.ir.context import current_builder
from graphify.location import here
from graphify.tracing.capture import root_of

FOLLOWED = 3  # calls, one inside the other, that differ in what Python could decide by


def enter(
    function: FunctionType, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function of the user's, or a graph made of it if it recurs."""
    builder = current_builder()
    if builder is None:
        return run(*args, **kwargs)
    call = Activation(function, run, args, kwargs, builder)
    outer = [a for a in all_active() if a.is_of(function) and a.is_outside(builder)]
    if outer and call.can_bind():
        for activation in reversed(outer):
            known = activation.recursion
            if known is not None and known.takes(call.taken_apart(known.bound.opened)):
                return known.call_inside(call.taken_apart(known.bound.opened))
        for opened in (False, True):  # a list is one object, or else what is in it
            if _may_not_end(call, outer, opened):
                recursion = _traced(call, call.taken_apart(opened))
                if recursion is not None:
                    return recursion.call(recursion.bound)
    log = watch_cells(builder, (run,), fields=False)  # it may rebind names around it
    with builder.history.call():
        try:
            with active(call):
                return certain(run(*args, **kwargs))
        finally:
            log()


def _may_not_end(call: Activation, outer: Sequence[Activation], opened: bool) -> bool:
    """Whether nothing that Python knows ends the recursion, as far as can be seen."""
    root = root_of(call.builder)
    if root is None or call.code in root.inlined:
        return False
    marks = [k for k, a in enumerate(all_active()) if a.recursion is not None]
    since = all_active()[marks[-1] + 1 if marks else 0 :]
    known = [a.taken_apart(opened) for a in outer if a in since and a.can_bind()]
    alike = [call.taken_apart(opened).compare(bound) for bound in known]
    return "same" in alike or alike.count("varies") >= FOLLOWED


def _traced(call: Activation, bound: Arguments) -> Recursion | None:
    """The function as a graph; None if it cannot be one, and is to be inlined."""
    recursion, root = Recursion(call, bound), root_of(call.builder)
    assert root is not None
    try:
        recursion.trace()
        recursion.check_sharing(bound.leaves)
        recursion.share(root)
    except (LeakedTracer, SyntaxUnsupported, RecursionError):
        raise
    except Exception as error:
        if any(a.recursion.changed for a in all_active() if a.recursion is not None):
            raise Unknown from None  # what the outer one is like is not known yet
        root.inlined[call.code] = error
        root.notes.append(f"{here()}: recursion inlined: {getattr(error, 'message', error)}")
        return None
    return recursion
