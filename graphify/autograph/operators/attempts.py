"""A statement in the body of a `try`: carried out, unless only the run knows whether it fails.

    raised, error, step = attempt(lambda: (x[k],), (), ("y",), lambda: IndexError, True)
    if not raised:                  # staged, if x[k] may be out of range
        (y,) = step()

The statement is traced where it stands. If nothing that it recorded can raise a class that a
handler catches, that is it: `raised` is False, and `step` gives the state it has left. Otherwise
the trace of it is taken back; a `failure` op says at the run which class it raises, if any, and the
statement is traced again on the path where it raises none. So the state at the point of failure is
exact, and what is differentiated or vectorised is the statement itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators.branches import if_exp
from graphify.autograph.operators.heap import State, watch_cells
from graphify.autograph.operators.section import Section
from graphify.autograph.operators.thrown import (
    Alternative,
    Form,
    Kept,
    Pieces,
    Thrown,
    caught,
    classes,
)
from graphify.autograph.operators.undefined import Undefined, Unreachable
from graphify.autograph.operators.unknown import Ended, ending, raising
from graphify.errors import REFUSALS, TraceError
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder, Graph, History, Node
from graphify.ir.replay import bind_at, replay
from graphify.ir.tensor import Tensor
from graphify.location import here
from graphify.ops import core, elementwise
from graphify.ops.effects import Gap, Raise, Text
from graphify.ops.failing import (
    LENGTH,
    acts,
    acts_before_it_fails,
    failing,
    failure,
    failure_text,
    strict,
)
from graphify.tracing.capture import captured, frame, root_of
from graphify.tracing.places import forget_local
from graphify.transforms import build

Step = Callable[[], State]
Outcome = tuple[Any, Any, Step | None]
Kinds = tuple[type[BaseException], ...]
NOTHING = Undefined("the exception")


class Partial(TraceError):
    """What cannot be attempted as a whole: a refusal, if there is no other way either."""

    @property
    def refusal(self) -> TraceError:
        return TraceError(self.message, location=self.location, remedy=self.remedy)


def attempt(
    body: Callable[..., State],
    state: State,
    kinds: Callable[[], Any],
    text: bool,
) -> Outcome:
    """Carry out one statement.

    Args:
        body: the statement, from state to state.
        kinds: gives the classes that the handlers around catch.
        text: whether a handler looks at the exception.

    Returns:
        Whether it raises (True, False or staged), what, and a function that gives the new state.
    """
    try:
        return attempt_whole(body, state, kinds, text)
    except Partial as partial:
        raise partial.refusal from None


def attempt_whole(
    body: Callable[..., State],
    state: State,
    kinds: Callable[[], Any],
    text: bool,
    fields: bool = False,
) -> Outcome:
    """The same; `fields`: rather than leave the fields of an exception behind, raise `Partial`."""
    builder = current_builder()
    if builder is None:
        new = body(*state)
        return False, NOTHING, lambda: new
    section = Section(builder, body)
    try:
        with section:
            done = ending(body, *state)
    except REFUSALS:
        raise
    except Exception as error:
        _refuse_doubtful(error, builder)
        before = _kinds_of_failures(section, kinds)
        if not before:
            return True, caught(error), None
        section.take_back()  # the run may find that something fails before this
        own = (type(error),) if isinstance(error, classes(kinds())) else ()
        found = tuple(dict.fromkeys((*before, *own)))
        return (*_staged(body, state, found, text, fields), lambda: body(*state))
    found = _kinds_of_failures(section, kinds)
    if not found and isinstance(done, Unreachable):
        raise Ended
    if not found:
        return False, NOTHING, lambda: done
    section.take_back()
    return (*_staged(body, state, found, text, fields), lambda: body(*state))


def _kinds_of_failures(section: Section, kinds: Callable[[], Any]) -> Kinds:
    """What a statement may raise, of the classes that the handlers around catch."""
    return tuple(dict.fromkeys(kind for _, kind in failing(section.nodes, classes(kinds()))))


def _refuse_doubtful(error: Exception, builder: Builder) -> None:
    """Refuse an error of dtypes where some are those of a join: plain Python may not raise it."""
    root = root_of(builder)
    by_dtype = isinstance(error, TypeError) or "used as indices" in str(error)
    if root is not None and root.promoted and by_dtype:
        name, dtypes = next(reversed(root.promoted.items()))
        raise TraceError(
            f"a try statement may catch this {type(error).__name__}, of which only the run knows "
            f"whether it is raised: '{name}' is {dtypes}: {error}",
            location=here(),
            remedy=f"give '{name}' one dtype on every path, e.g. by float(...) or .astype",
        ) from error


def _staged(
    body: Callable[..., State], state: State, kinds: Kinds, text: bool, fields: bool
) -> Any:
    """Whether the run finds that a statement raises one of some classes, and what.

    What failed before may not do so now: a view of an array that changed is looked up again where
    it was made, outside of the attempt, and then cannot fail.
    """
    with frame("attempt") as builder:
        builder.history = History({})
        log = watch_cells(builder, (body,))
        raising(body, *state)
        log()
        pairs = list(failing(builder.nodes, kinds))
        found = [node for node, _ in pairs]
        if not found:
            return False, NOTHING
        by_kind = {kind: [n for n, k in pairs if k is kind] for kind in kinds}
        forms = [_form(kind, by_kind[kind], text, fields) for kind in kinds]
        _check_order(builder, found, kinds)
        nodes, results = strict(builder.nodes, kinds)
        operands = captured(builder)
        params = tuple(builder.own(value) for value in operands)
        graph = _silent(Graph(params, nodes, results, "attempt"))
    tensors = list(map(Tensor, operands))
    code = failure(*tensors, body=graph, kinds=kinds)
    raised = elementwise.not_equal(code, 0)
    message = lambda: failure_text(*tensors, body=graph, kinds=kinds)
    values = [if_exp(raised, message, _no_text)] if text else []
    alternatives = [
        Alternative(form, values if form.leaves[:-1] else (), flag, None, found[0].source)
        for form, (_, flag) in zip(forms, _flags(code, kinds), strict=True)
    ]
    return raised, Thrown(alternatives)


def _silent(graph: Graph) -> Graph:
    """A graph without what it prints: that is done by the statement itself."""
    if not any(map(acts, graph.nodes)):
        return graph
    specs = build.param_specs(graph)
    return build.trace(lambda *args: replay(graph, args, _drop), specs, graph.name)


def _drop(node: Node, inputs: list[Tensor], attrs: dict[str, Any]) -> Any:
    """A rule for `replay`: as it is, but for effects other than to fail."""
    if not acts(node):
        return NotImplemented
    graphs = {name: _silent(graph) for name, graph in node.subgraphs}
    if not graphs and node.specs:
        raise _refused("prints, draws random numbers or the like", node)
    return bind_at(node, inputs, {**attrs, **graphs}) if graphs else []


def _no_text() -> Tensor:
    return core.full((LENGTH,), 0, np.dtype(np.uint8))


def _flags(code: Tensor, kinds: Kinds) -> Iterator[tuple[type[BaseException], Tensor]]:
    for k, kind in enumerate(kinds):
        yield kind, elementwise.equal(code, k + 1)


def _form(kind: type[BaseException], nodes: Sequence[Node], text: bool, fields: bool) -> Form:
    """An exception of which the run gives the text."""
    users = [(n, n.attrs["exception"]) for n in nodes if n.op.name in ("raise", "assert")]
    empty = bool(users) and len(users) == len(nodes) and not any(what.args for _, what in users)
    if text and not empty:
        _check_arguments(users, fields)
    args = (Pieces((Gap("", False, "text"),)),) if text and not empty else ()
    treedef = tree.flatten(((None,) * len(args), {}, None))[1]
    hidden = {name for _, what in users for name, _ in what.fields}
    return Form(kind, treedef, (*args, Kept(None)), frozenset(hidden))


def _check_arguments(users: Sequence[tuple[Node, Raise]], fields: bool) -> None:
    """Refuse exceptions of a callee that hold more than a text: only that comes out of it."""
    for node, what in users:
        shows_fields = what.fields and (fields or isinstance(what.kind.__str__, FunctionType))
        one_text = len(what.args) == 1 and isinstance(what.args[0], (str, Text))
        if shows_fields or not one_text:
            raise Partial(
                f"the arguments of a {what.kind.__name__} that a call or an assert raises are "
                "looked at by a try statement outside of it, or go on from there",
                location=node.source,
                remedy="raise it with one text, such as an f-string, or write the raise statement "
                "within the try statement",
            )


def _check_order(builder: Builder, found: Sequence[Node], kinds: Kinds) -> None:
    """Refuse a statement that calls what writes or prints first and may fail afterwards: only whole
    statements are left out."""
    forget_local(builder)
    order = builder.history.order or {}
    for node in found:
        before, turns = order.get(id(node), (frozenset(), ()))
        for key in builder.writes:
            if key in before or any(key in turn for turn in turns):
                target = builder.writes[key][0]
                what = "an array" if isinstance(target, Tensor) else str(target)
                raise _refused(f"changes {what} of its caller", node)
    if acts_before_it_fails(builder.nodes, kinds):
        raise _refused("prints, draws random numbers or the like", found[0])


def _refused(what: str, node: Node) -> Partial:
    return Partial(
        f"in a try statement, a call {what} before it may fail here",
        location=node.source,
        remedy="let it raise first, or write the try statement around this line",
    )
