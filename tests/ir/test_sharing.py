"""Links between tensors that may be one array: how far a write reaches, and in which order."""

import gc

import numpy as np
import pytest

from graphify.errors import TraceError
from graphify.ir.sharing import (
    MOST,
    cover,
    is_covered,
    is_shared,
    link,
    links,
    observers,
    storage,
    updates,
)
from graphify.ir.tensor import Tensor
from graphify.ops.indexing import slice_

TRUE, FALSE = Tensor(np.asarray(True)), Tensor(np.asarray(False))
TAIL = ((slice_, (), {"key": ((1, 2, 1),)}),)


def array(*values: float) -> Tensor:
    return Tensor(np.array(values))


def changed(update) -> list[float]:
    value = update.changed if isinstance(update.changed, Tensor) else update.changed()
    return value.numpy().tolist()


def test_a_write_reaches_both_ends() -> None:
    x, y = array(1.0, 2.0), array(1.0, 2.0)
    link(y, x, TRUE)
    assert [u.tensor for u in updates(y)] == [x]
    assert [u.tensor for u in updates(x)] == [y]
    assert is_shared(x) and is_shared(y) and not is_shared(array(1.0))


def test_a_view_is_put_and_seen() -> None:
    x, tail = array(1.0, 2.0, 3.0), array(8.0, 9.0)
    link(tail, x, TRUE, TAIL)
    (up,) = updates(tail)
    assert up.tensor is x and changed(up) == [1.0, 8.0, 9.0]
    (down,) = updates(x)
    assert down.tensor is tail and changed(down) == [2.0, 3.0]


def test_what_may_be_one_array_is_reached_through_it() -> None:
    x, y, z = array(1.0), array(2.0), array(3.0)
    link(y, x, TRUE)
    link(z, x, FALSE)
    first, second = updates(y)
    assert first.tensor is x and first.when is TRUE
    assert second.tensor is z and second.when is FALSE and second.changed is x


def test_a_link_of_a_link_holds_where_both_do() -> None:
    x, y, z = array(1.0), array(2.0), array(3.0)
    link(y, x, FALSE)
    link(z, y, TRUE)
    found = {id(other): bool(entry.when.numpy()) for other, entry in links(z)}
    assert found == {id(x): False, id(y): True}
    del y
    gc.collect()
    assert [other for other, _ in links(z)] == [x]  # what nobody holds need not be reached


def test_an_array_where_two_meet_is_kept() -> None:
    x, y, z = array(1.0), array(2.0), array(3.0)
    link(y, x, TRUE)
    link(z, x, TRUE)
    del x
    gc.collect()
    assert [u.tensor for u in updates(y)][1:] == [z]


def test_two_reasons_for_one_link_are_one_link() -> None:
    x, y = array(1.0), array(2.0)
    link(y, x, FALSE)
    link(y, x, TRUE)
    ((other, entry),) = links(y)
    assert other is x and bool(entry.when.numpy())
    assert len(list(observers(x))) == 1


def test_what_nobody_knows_is_refused() -> None:
    x, y = array(1.0), array(2.0)
    link(y, x, None)
    with pytest.raises(TraceError, match="may, or may not, be the array"):
        updates(x)
    del y
    gc.collect()
    assert updates(x) == []


def test_another_dtype_is_refused() -> None:
    x, y = Tensor(np.arange(2)), array(1.0, 2.0)
    link(y, x, TRUE)
    with pytest.raises(TraceError):
        updates(y)


def test_too_many_links_are_refused() -> None:
    y, others = array(1.0), [array(float(n)) for n in range(MOST + 1)]
    for x in others:
        link(y, x, TRUE)
    with pytest.raises(TraceError):
        updates(y)


def test_storage_is_the_array_below_views() -> None:
    x = array(1.0, 2.0, 3.0)
    assert storage(x[1:][:1]) is x and storage(x) is x


def test_what_is_always_another_array_is_linked_beyond() -> None:
    x, y = array(1.0), array(2.0)
    first, second = array(1.0), array(2.0)
    for one in (first, second):  # as two names are after `if c: x, y = y, x`
        link(one, x, TRUE)
        link(one, y, FALSE)
        cover(one)
    third = array(1.0)
    link(third, first, TRUE)
    assert {id(other) for other, _ in links(third)} == {id(x), id(y)}
    assert {id(update.tensor) for update in updates(third)} == {id(x), id(y), id(first), id(second)}


def test_the_last_of_an_array_stands_for_it() -> None:
    x, y, z = array(1.0), array(2.0), array(3.0)
    link(y, x, TRUE)
    cover(y)
    del x
    gc.collect()
    link(z, y, TRUE)
    assert not is_covered(y) and [other for other, _ in links(z)] == [y]
