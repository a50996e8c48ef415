"""while and for, decided per value while the converted code runs.

A loop whose condition or items only the run knows becomes a `while` or `loop` op; one over a Python
range of some length is staged if its body can be, and unrolled otherwise.

    n, = while_(lambda n: n < x, lambda n: (n * 2,), (n,), ("n",))
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np

from graphify.autograph.operators import elements, iteration, known
from graphify.autograph.operators.branches import if_
from graphify.autograph.operators.carry import Carry
from graphify.autograph.operators.choice import Choice, Facts, assuming, facts, has_choices
from graphify.autograph.operators.choosing import over_state
from graphify.autograph.operators.conditions import decider, is_staged, truth
from graphify.autograph.operators.dicts import View
from graphify.autograph.operators.generators import Generator, push
from graphify.autograph.operators.heap import (
    Names,
    State,
    watch_cells,
)
from graphify.autograph.operators.iterators import opened
from graphify.autograph.operators.state import DifferentKinds, Unstageable, is_dynamic
from graphify.autograph.operators.tables import Table
from graphify.autograph.operators.undefined import Unreachable
from graphify.autograph.operators.unknown import Ended, ending
from graphify.errors import ConcreteValueNeeded, LeakedTracer, SyntaxUnsupported
from graphify.ir.context import current_builder
from graphify.ir.graph import Builder, Graph, Value
from graphify.ir.sizes import Dim
from graphify.ir.tensor import Tensor, resolve, value_in
from graphify.ir.wrapping import as_tensor
from graphify.location import here
from graphify.ops import control, elementwise
from graphify.tracing import apart
from graphify.tracing.capture import captured, frame, root_of
from graphify.tracing.lists import List
from graphify.tracing.places import forget_local

UNROLL = 8  # for loops of at most so many turns, and known length, are unrolled
MOST_NESTS = 9  # copies that unrolling makes of what contains loops itself: 3 times 3 of a kernel
MOST_COPIES = 64  # copies that it makes of anything else
WARN_UNROLLED = 1000
MAX_TURNS = 1000  # while loops under a staged condition are unrolled no further


def while_(
    test: Callable[..., Any], body: Callable[..., State], state: State, names: Names
) -> State:
    """The while statement. It may start in Python and turn staged when its condition does."""
    builder = current_builder()
    recorded_before = 0 if builder is None else len(builder.nodes)
    for turn in itertools.count():
        verdict, writes = _try_test(test, state)
        if writes:
            return _rotated(test, body, state, names)
        if is_staged(verdict):
            return _staged_while(test, body, state, names, raises=True)
        if not verdict:
            return state
        if turn == 0 and _becomes_staged(test, body, state):
            return _staged_while(test, body, state, names, runs=True)
        if turn == MAX_TURNS and builder is not None:
            if builder.parent is not None:  # a path the run may never take: it need not end
                return _staged_while(test, body, state, names, runs=True)
            if len(builder.nodes) >= recorded_before + turn:
                return _stage_rest(test, body, state, names)
            if len(builder.nodes) == recorded_before and all(map(is_dynamic, state)):
                return _run_rest(test, body, state, names)
        state = body(*state)
    raise AssertionError("unreachable")


def _stage_rest(
    test: Callable[..., Any], body: Callable[..., State], state: State, names: Names
) -> State:
    """What is left of a loop of very many turns, each of which records something: staged, so that
    tracing ends even where plain Python leaves the loop by an error that the graph does not meet
    (of an element that nobody uses). Where the body cannot be staged, it is unrolled on."""
    builder = current_builder()
    assert builder is not None
    try:
        return _staged_while(test, body, state, names, runs=True)
    except (LeakedTracer, SyntaxUnsupported):
        raise
    except Exception as error:
        _note(builder, f"while loop unrolled: {getattr(error, 'message', error)}", warn=True)
    while _try_test(test, state)[0]:
        state = body(*state)
    return state


def _run_rest(
    test: Callable[..., Any], body: Callable[..., State], state: State, names: Names
) -> State:
    """What is left of a loop of very many turns over what is known: run by the engine, if it can
    be staged and its integers have 64 bits; else by Python."""
    try:
        return _staged_while(test, body, state, names, runs=True, at_once=True)
    except (LeakedTracer, SyntaxUnsupported):
        raise
    except Exception:
        while _try_test(test, state)[0]:
            state = body(*state)
        return state


def _rotated(
    test: Callable[..., Any], body: Callable[..., State], state: State, names: Names
) -> State:
    """A loop whose condition changes something, each time it is asked: it is asked before the loop
    and at the end of each turn, and the loop goes by the answer."""

    def turn(_: Any, *variables: Any) -> Any:
        after = body(*variables)
        return after if isinstance(after, Unreachable) else (test(*after), *after)

    def goes_on(answer: Any, *_: Any) -> Any:
        return answer

    return while_(goes_on, turn, (test(*state), *state), ("the condition", *names))[1:]


def _becomes_staged(test: Callable[..., Any], body: Callable[..., State], state: State) -> bool:
    """Whether the condition is staged after one turn (`shift = np.inf; while shift > 1e-6: ...`):
    such a loop is staged as a whole rather than from its second turn on."""
    if current_builder() is None:
        return False
    try:
        with frame("trial") as builder:
            log = watch_cells(builder, (body,))
            after = body(*state)
            log()
            return is_staged(decider(test(*after)))
    except (Unstageable, ConcreteValueNeeded, Ended):
        return False


def _try_test(test: Callable[..., Any], state: State) -> tuple[Any, bool]:
    """The condition's value, evaluated in a frame that is thrown away, and whether it changes
    something: an attribute, an array, a name of a function around it."""
    if current_builder() is None:
        return decider(test(*state)), False
    with frame("test") as builder:
        log = watch_cells(builder, (test,))
        verdict = decider(ending(test, *state))
        log()
        forget_local(builder)
        writes = bool(builder.writes)
    return decider(test(*state)) if isinstance(verdict, Unreachable) else verdict, writes


def _staged_while(
    test: Callable[..., Any],
    body: Callable[..., State],
    state: State,
    names: Names,
    runs: bool = False,
    choices: bool = True,
    most: Dim | None = None,
    watched: Sequence[Any] = (),
    raises: bool = False,
    at_once: bool = False,
    written: Callable[..., State] | None = None,
) -> State:
    """A while op; `runs`: there is at least one turn, so what the body binds is bound after it;
    `most`: how many turns there can be; `watched`: lists that must not change; `raises`: see
    `Carry.trace`; `at_once`: nothing in it depends on the run, and it is run now; `written`: the
    user's body, if `body` only calls it."""
    loop = Carry(state, names, written or body, choices)
    loop.lists.length, loop.lists.watched = most, watched

    def turn(*variables: Any) -> State:
        with assuming(_told(test, variables)):
            result: State = body(*variables)
        return result

    while True:
        builder = loop.trace(turn, raises=raises)
        with frame("cond") as cond_builder:
            variables = loop.parameters(cond_builder)
            verdict = decider(ending(test, *variables))
            told = truth(False if isinstance(verdict, Unreachable) else verdict)
            results = [value_in(told, cond_builder)]
            pure = not cond_builder.writes and not any(n.effects for n in cond_builder.nodes)
        if runs or pure or not loop.links.separate_all():
            break
    operands = list(dict.fromkeys([*captured(builder), *captured(cond_builder)]))
    cond_graph = _close_loop(cond_builder, loop.params_of(cond_builder), operands, results, "cond")
    body_graph = _close_loop(builder, loop.params_of(builder), operands, loop.results, "body")
    attrs = {"cond": cond_graph, "body": body_graph, "carry": loop.width}
    given = (*loop.initial(), *map(Tensor, operands))
    if at_once and loop.lists.before:
        raise Unstageable("it changes lists, which hold what is known", location=here())
    if at_once:
        tensors = known.evaluated(control.while_, given, attrs)
    else:
        tensors = control.while_.several(*map(recorded, given), **attrs)
    first = (lambda: truth(decider(test(*state)))) if pure else None
    return loop.finish(tensors, runs, first)


def _told(test: Callable[..., Any], variables: Sequence[Any]) -> Facts:
    """What the condition of a loop says, in its body, of variables of several kinds."""
    if not any(map(has_choices, variables)):
        return ()
    with frame("test"):
        verdict = decider(ending(test, *variables))
        return facts(truth(verdict), True) if is_staged(verdict) else ()


def recorded(tensor: Tensor) -> Tensor:
    """A tensor as a value of the graph: an op on it is recorded and not evaluated on the spot."""
    builder = current_builder()
    return tensor if builder is None else Tensor(value_in(tensor, builder), weak=tensor._weak)


def _close_loop(
    builder: Builder,
    own: Sequence[Value],
    operands: Sequence[Value],
    results: Sequence[Value],
    name: str,
) -> Graph:
    params = (*own, *(builder.own(value) for value in operands))
    return Graph(params, tuple(builder.nodes), tuple(results), name)


# --- for ----------------------------------------------------------------------------------------


def for_(
    iterable: Any,
    body: Callable[..., State],
    state: State,
    names: Names,
    test: Callable[..., Any] | None = None,
    kept: bool = False,
) -> State:
    """The for statement: `body(item, *state)`; `test(*state)` false ends the loop early.
    `kept`: the program looks at the iterable later on."""
    if type(iterable) is Choice:
        return over_state(
            iterable, lambda it, *s: for_(it, body, s, names, test, kept), state, names
        )
    iterable = opened(iterable)
    if isinstance(iterable, Generator) and not iterable.must_pull(kept):
        return push(iterable, body, state, names, test)
    if isinstance(iterable, List):
        from graphify.autograph.operators.listloops import over_list

        return over_list(iterable, body, state, names, test)
    if isinstance(iterable, (Table, View)):
        with iterable.gone_over():
            return for_(iterable.line(), body, state, names, test)
    items = iteration.items_of(iterable)
    if items is None:
        return _python_for(iterable, body, state, names, test)
    if isinstance(items.length, int) and items.length <= UNROLL:
        with _copies(items.length, body) as few:
            if few:
                return _python_for(items.concrete(), body, state, names, test)
    if isinstance(items.length, int):
        return _stage_or_unroll(items, body, state, names, test)
    return _staged_for(items, body, state, names, test)


@contextlib.contextmanager
def _copies(turns: int, body: Callable[..., State]) -> Iterator[bool]:
    """Whether a loop of few turns makes few copies of its body, unrolled as the loops around it
    are; while it runs, those in it are counted on top."""
    root = root_of(current_builder())
    if root is None or turns < 2:
        yield True
        return
    before, most = root.copies, MOST_NESTS if _has_loop(body.__code__) else MOST_COPIES
    few = before * turns <= most
    try:
        root.copies = before * turns if few else before
        yield few
    finally:
        root.copies = before


def _has_loop(code: CodeType) -> bool:
    """Whether the code of a body, or of a function in it, calls the operator of a loop."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return not {"for_", "while_"}.isdisjoint(code.co_names) or any(map(_has_loop, inner))


def _python_for(iterable: Any, body: Any, state: State, names: Names, test: Any) -> State:
    turns = iter(iterable)
    while True:
        verdict = True if test is None else _try_test(test, state)[0]
        if is_staged(verdict):
            return _masked_for(turns, body, state, names, test)
        if not verdict:
            return state
        try:
            item = next(turns)
        except StopIteration:
            return state
        state = body(item, *state)


def _masked_for(turns: Iterator[Any], body: Any, state: State, names: Names, test: Any) -> State:
    """An unrolled loop that a staged break may end: each turn runs only while the test holds."""
    for item in turns:
        state = if_(test(*state), lambda *s, item=item: body(item, *s), lambda *s: s, state, names)
    return state


def _stage_or_unroll(
    items: iteration.Items, body: Any, state: State, names: Names, test: Any, peel: bool = True
) -> State:
    """A loop of known length: staged if its body can be, unrolled otherwise.

    Where the first turn changes the kind of the state (`s = 0`, then `s = s + vector`), that turn
    is unrolled and the others are staged. Where later turns change it, too, the state becomes a
    choice of several kinds (see choice.py).
    """
    builder = current_builder()
    if builder is None:
        return _python_for(items.concrete(), body, state, names, test)
    root = root_of(builder)
    peel = peel and test is None
    for choices in (False,) if peel else (False, True):
        try:
            elements.forget_unseen()
            with contextlib.nullcontext() if root is None else root.attempting():
                return _staged_for(items, body, state, names, test, choices)
        except (LeakedTracer, SyntaxUnsupported):
            raise
        except Exception as error:  # as a staged loop it cannot be traced; turn by turn it may
            if isinstance(error, RecursionError) and root is not None and root.attempts:
                raise  # a loop further out may; each of those in between would double the work
            reason, again = getattr(error, "message", str(error)), apart.helps(error)
            if not isinstance(error, DifferentKinds):
                break
    if peel:
        assert isinstance(items.length, int)
        state = body(next(items.concrete()), *state)
        return _stage_or_unroll(items.without_first(), body, state, names, test, peel=False)
    many = isinstance(items.length, int) and items.length > WARN_UNROLLED
    text = f"loop of {items.length} turns unrolled: {reason}"
    note = functools.partial(_note, builder, text, warn=many)
    if not again:
        note()
    state = _python_for(items.concrete(), body, state, names, test)
    if again:  # and no other trace has been asked for
        note()
    return state


def _note(builder: Builder, text: str, warn: bool) -> None:
    """Why a loop was unrolled, for `explain`."""
    root = root_of(builder)
    note = f"{here()}: {text}"
    if root is not None and note not in root.notes:
        root.notes.append(note)
    if warn:
        warnings.warn(note, stacklevel=3)


def _staged_for(
    items: iteration.Items, body: Any, state: State, names: Names, test: Any, choices: bool = True
) -> State:
    if test is not None:
        return _staged_for_with_test(items, body, state, names, test, choices)
    loop = Carry(state, names, body, choices)
    loop.lists.length, loop.lists.every = items.length, True
    loop.lists.watched = items.lists

    def turn(i: Tensor, *variables: Any) -> State:
        new: State = body(items.item(i), *variables)
        return new

    raises = not isinstance(items.length, int)  # others may be unrolled instead
    builder = loop.trace(turn, index=True, raises=raises)
    operands = captured(builder)
    if items.optional and (
        not builder.nodes or not operands and _needs_no_run(loop, items, builder)
    ):
        raise Unstageable("its body records nothing")
    graph = _close_loop(
        builder, [builder.params[0], *loop.params_of(builder)], operands, loop.results, "body"
    )
    tensors = known.loop(
        control.loop,
        (*loop.initial(), *map(Tensor, operands)),
        {"length": items.length, "body": graph, "carry": loop.width, "xs": 0},
    )
    runs = isinstance(items.length, int) and items.length > 0
    return loop.finish(tensors, runs, lambda: elementwise.greater(as_tensor(items.length), 0))


def _needs_no_run(loop: Carry, items: iteration.Items, body: Builder) -> bool:
    """Whether a loop only fills lists with what is known while tracing, and is soon unrolled."""
    if not isinstance(items.length, int) or not loop.lists.before or not loop.lists.constant:
        return False
    return items.length * known.work_of(body.nodes) <= known.MOST_INTERPRETED


def _staged_for_with_test(
    items: Any, body: Any, state: State, names: Names, test: Any, choices: bool
) -> State:
    """A for loop that may break: a while loop with a counter."""
    length = items.length if isinstance(items.length, int) else as_tensor(items.length)

    def holds(i: Any, *variables: Any) -> Any:
        from graphify.autograph.operators.logical import and_

        return and_(lambda: i < length, lambda: test(*variables))

    def turn(i: Any, *variables: Any) -> State:
        return (i + 1, *body(items.item(i), *variables))

    start = resolve(Tensor(np.asarray(0), weak=True))
    state, names = (start, *state), ("i", *names)
    more: Any = {"choices": choices, "most": items.length, "watched": items.lists}
    more |= {"raises": not isinstance(items.length, int), "written": body}
    return _staged_while(holds, turn, state, names, **more)[1:]
