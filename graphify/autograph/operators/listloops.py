"""Loops over lists, which see what they do to the list.

for node in queue:             # also those that are appended meanwhile
    queue.append(node + 1)
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from graphify.autograph.operators import iteration, loops
from graphify.autograph.operators.conditions import is_staged
from graphify.autograph.operators.heap import Names, State
from graphify.autograph.operators.logical import and_
from graphify.ir.tensor import Tensor, resolve
from graphify.tracing.lists import List, is_grown


def over_list(values: List, body: Any, state: State, names: Names, test: Any) -> State:
    """A loop over a list, which may change meanwhile: each turn looks up the next element."""
    iteration.note_read(values)
    position = 0
    while True:
        length = iteration.len(values)
        if not isinstance(length, int) or is_grown(values) and length - position > loops.UNROLL:
            return _rest(values, position, body, state, names, test)
        if position >= length:
            return state
        verdict = True if test is None else loops._try_test(test, state)[0]
        if not (is_staged(verdict) or verdict):
            return state
        state = loops._masked_for(iter((values[position],)), body, state, names, test) if (
            is_staged(verdict)
        ) else body(values[position], *state)  # fmt: skip
        position += 1


def _rest(values: Any, position: int, body: Any, state: State, names: Names, test: Any) -> State:
    """What is left of a loop over a list of which only the run knows the length."""
    if test is None:
        rest = iteration.rest_of(values, position)
        with contextlib.suppress(iteration.ListChanges):
            return loops._staged_for(rest, body, state, names, None)

    def holds(i: Any, *variables: Any) -> Any:
        def inside() -> Any:
            return i < iteration.len(values)

        return and_(inside, lambda: test(*variables)) if test is not None else inside()

    def turn(i: Any, *variables: Any) -> State:
        return (i + 1, *body(values[i], *variables))

    start = resolve(Tensor(np.asarray(position), weak=True))
    return loops._staged_while(holds, turn, (start, *state), ("i", *names), written=body)[1:]
