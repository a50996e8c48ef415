"""State: attributes, properties, slots, namedtuples, dataclasses, nested containers and objects
made in loops, all changed by staged branches and loops."""

import dataclasses
import functools
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

NO_GRADIENT = {
    "field_that_may_be_missing": "a truth value",
    "counts_in_an_object": "integers",
}
_KINDS = "lanes of different kinds cannot share one result"
NO_VMAP = {
    "field_that_changes_its_kind": _KINDS,
    "class_attribute": "all lanes would change one class",
}


class _Counter:
    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.best: Any = None

    def add(self, value: Any) -> None:
        self.count += 1
        self.total += value
        if self.best is None or value > self.best:
            self.best = value


class _Vector:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def plus(self, other: Any) -> Any:
        return _Vector(self.x + other.x, self.y + other.y)

    def __add__(self, other: Any) -> Any:
        return _Vector(self.x + other.x, self.y + other.y)

    @property
    def norm(self) -> Any:
        if self.x > self.y:
            return self.x - self.y
        return np.sqrt(self.x**2 + self.y**2 + 1)


class _Slotted:
    __slots__ = ("level", "path")

    def __init__(self, level: Any, path: Any) -> None:
        self.level, self.path = level, path


class _Clamped:
    def __init__(self) -> None:
        self._value: Any = 0.0
        self.writes = 0

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, new: Any) -> None:
        self.writes += 1
        self._value = 1.0 if new > 1 else new


class _Positive:
    """A descriptor that keeps a field from being negative."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = "_" + name

    def __get__(self, obj: Any, kind: Any = None) -> Any:
        return getattr(obj, self.name)

    def __set__(self, obj: Any, value: Any) -> None:
        if value < 0:
            value = 0.0
        setattr(obj, self.name, value)


class _Counted:
    amount = _Positive()
    writes = 0

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, "writes", self.writes + 1)
        super().__setattr__(name, value)


class _Record:
    """Fields in a dict."""

    def __init__(self) -> None:
        object.__setattr__(self, "fields", {})

    def __setattr__(self, name: str, value: Any) -> None:
        self.fields[name] = value

    def __getattr__(self, name: str) -> Any:
        return self.fields[name]


class _Shape:
    def __init__(self, x: Any) -> None:
        if x.sum() > 0:
            self.sides = x * 2
        else:
            self.sides = 1 - x

    @functools.cached_property
    def area(self) -> Any:
        return (self.sides * self.sides).sum()


class _Tally:
    total: Any = 0.0

    @classmethod
    def add(cls, value: Any) -> None:
        cls.total = cls.total + value


@dataclasses.dataclass
class _Body:
    position: Any
    velocity: Any
    steps: int = 0


@dataclasses.dataclass(frozen=True)
class _Point:
    x: Any
    y: Any


class _Pair(NamedTuple):
    first: Any
    second: Any


_Span = namedtuple("_Span", "low high")


# --- fields of objects ---


def counts_in_an_object(x, s):
    counter = _Counter()
    for v in x:
        if v > s:
            counter.count += 1
    return counter.count


def method_that_changes_fields(x):
    counter = _Counter()
    for v in x:
        counter.add(v)
    return counter.count, counter.total, counter.best


def method_under_a_condition(x, s):
    counter = _Counter()
    for v in x:
        if v > s:
            counter.add(v * 2)
    if counter.best is None:
        return counter.total
    return counter.total + counter.best


def fields_in_slots(x):
    state = _Slotted(0.0, x)
    for v in x:
        state.level += v
        state.path = state.path + state.level
    return state.level, state.path


def property_with_a_setter(x):
    clamped = _Clamped()
    for v in x:
        clamped.value = clamped.value + v
    return clamped.value, clamped.writes


def property_with_a_branch(x, s):
    v = _Vector(x.sum(), s)
    return v.norm + _Vector(s, x.sum()).norm


def descriptor_and_setattr(x):
    counted = _Counted()
    counted.amount = 0.0
    for v in x:
        counted.amount = counted.amount + v
    return counted.amount, counted.writes


def fields_in_a_dict(x, s):
    record = _Record()
    record.total = 0.0
    record.shift = s
    for v in x:
        if v > 0:
            record.total = record.total + v
        else:
            record.shift = record.shift - v
    return record.total * record.shift


def constructor_with_a_branch(x):
    shape = _Shape(x)
    return shape.sides, shape.area + shape.area


def class_attribute(x):
    _Tally.total = 0.0
    for v in x:
        _Tally.add(v)
    return _Tally.total


def field_that_changes_its_kind(x, s):
    v = _Vector(None, x)
    for e in x:
        if e > s:
            v.x = e
    return v.x, v.y


def field_that_one_path_sets(x, s):
    v = _Vector(x, 1.0)
    if s > 0:
        v.extra = x * 2
    if s > 0:
        return v.extra
    return v.x


def field_that_may_be_missing(x, s):
    v = _Vector(x, 1.0)
    if s > 0:
        v.extra = x * 2
    return hasattr(v, "extra"), hasattr(v, "other")


def deleted_field(x, s):
    v = _Vector(x, 1.0)
    if s > 0:
        del v.y
        v.y = 3.0
    return v.x * v.y


def fields_swapped_in_a_loop(x, s):
    v = _Vector(x, x + 1)
    for _ in range(9):
        v.x, v.y = v.y, v.x
        if s > 0:
            v.x = v.x * 2
    return v.x, v.y


def two_objects_share_an_array(x, s):
    buffer = np.zeros(3)
    a, b = _Vector(buffer, 0.0), _Vector(buffer, 1.0)
    for i in range(10):
        a.x[i % 3] += s
        b.x[0] += 1
    return a.x, b.x, buffer


def setattr_by_name(x, s):
    v = _Vector(0.0, 0.0)
    for name in ("x", "y"):
        for e in x:
            if e > s:
                setattr(v, name, getattr(v, name) + e)
    return v.x + 2 * v.y


def object_of_objects(x, s):
    outer = _Vector(_Vector(0.0, 1.0), _Counter())
    for e in x:
        outer.x.x = outer.x.x + e
        if e > s:
            outer.y.add(outer.x.x)
    return outer.x.x, outer.y.total


# --- objects made on the way ---


def object_made_in_each_turn(x):
    p = _Vector(0.0, 1.0)
    for v in x:
        p = p.plus(_Vector(v, 2 * v))
    return p.x, p.y


def object_made_by_an_operator(x):
    p = _Vector(0.0, 0.0)
    for v in x:
        p = p + _Vector(v, v * v)
    return p.norm


def object_made_on_one_path(x, s):
    p = _Vector(1.0, 2.0)
    if s > 0:
        p = _Vector(x.sum(), 3.0)
    p.y = p.y + 1
    return p.x + p.y


def object_or_none(x):
    last = None
    for v in x:
        if v > 0:
            last = _Vector(v, v * v)
    return 0.0 if last is None else last.x + last.y


def object_kept_beside_a_new_one(x, s):
    first = _Vector(x, 0.0)
    chosen = first
    if s > 0:
        chosen = _Vector(x * 2, 1.0)
    chosen.y = 5.0
    return first.x + first.y, chosen.x + chosen.y


def object_by_condition(x, s):
    a, b = _Vector(x, 1.0), _Vector(-x, 2.0)
    chosen = a if s > 0 else b
    for _ in range(10):
        chosen.y = chosen.y + s
    return a.y, b.y, chosen.x


# --- tuples, namedtuples, dataclasses ---


def tuple_as_state(x):
    state = (0.0, 1.0)
    for v in x:
        low, high = state
        state = (min(low, v), max(high, v))
    return state


def namedtuple_as_state(x):
    span = _Span(0.0, 0.0)
    for v in x:
        if v < span.low:
            span = span._replace(low=v)
        elif v > span.high:
            span = span._replace(high=v)
    return span.high - span.low


def typed_namedtuple(x):
    pair = _Pair(x, 0)
    while pair.first.sum() < 10:
        pair = _Pair(pair.first + 1, pair.second + 1)
    return pair.first, pair.second


def dataclass_as_state(x):
    body = _Body(x, x * 0)
    for _ in range(20):
        body.velocity = body.velocity - 0.1 * body.position
        body.position = body.position + 0.1 * body.velocity
        body.steps += 1
    return body.position, body.steps


def frozen_dataclass_is_replaced(x):
    p = _Point(0.0, 1.0)
    for v in x:
        p = dataclasses.replace(p, x=p.x + v)
        if p.x > 2:
            p = dataclasses.replace(p, x=0.0, y=p.y * 2)
    return p.x, p.y


def list_of_dataclasses(x):
    bodies = [_Body(v, 0.0) for v in (1.0, 2.0, 3.0)]
    for v in x:
        for body in bodies:
            body.velocity = body.velocity + v * body.position
    return [body.velocity for body in bodies]


# --- nested containers ---


def dict_of_numbers(x):
    stats = {"count": 0, "sum": 0.0, "largest": 0.0}
    for v in x:
        stats["count"] += 1
        stats["sum"] += v
        if v > stats["largest"]:
            stats["largest"] = v
    return stats


def dict_of_lists_of_dataclasses(x):
    world = {"bodies": [_Body(0.0, 1.0), _Body(1.0, 2.0)], "time": 0}
    for v in x:
        world["bodies"][0].position += v
        world["bodies"][1].velocity = world["bodies"][0].position * 2
        world["time"] += 1
    return world["bodies"][0].position, world["bodies"][1].velocity, world["time"]


def elements_of_a_list_as_state(x):
    sums = [0.0, 0.0]
    for v in x:
        if v > 0:
            sums[0] += v
        else:
            sums[1] -= v
    return sums[0] - sums[1]


def arrays_in_a_dict_updated_in_place(x):
    parameters = {"w": np.ones(3), "b": np.zeros(1)}
    for v in x:
        parameters["w"] *= 1 + 0.1 * v
        parameters["b"] += v
    return parameters["w"], parameters["b"]


def nonlocal_in_a_loop(x):
    total, calls = 0.0, 0

    def add(v):
        nonlocal total, calls
        total = total + v
        calls += 1
        if total > 3:
            total = 0.0

    for v in x:
        add(v)
    return total, calls


def object_in_a_closure(x, s):
    counter = _Counter()

    def note(v):
        if v > s:
            counter.add(v)

    for v in x:
        note(v)
    return counter.total


def state_in_nested_loops(w):
    state = _Body(0.0, 0.0)
    for row in w:
        for v in row:
            if v > 0:
                state.position += v
            state.steps += 1
        state.velocity = state.velocity + state.position
    return state.position, state.velocity, state.steps


def state_in_a_while_loop(x):
    state = {"x": x, "step": 1.0, "n": 0}
    while np.abs(state["x"]).sum() > 0.5:
        state["x"] = state["x"] - 0.5 * state["x"] * state["step"]
        state["n"] += 1
    return state["x"], state["n"]


# --- code that Python calls by itself ---


class _Gauge:
    """Operators that change their object."""

    def __init__(self) -> None:
        self.total: Any = 0.0
        self.uses = 0

    def __iadd__(self, value: Any) -> Any:
        self.total = self.total + value
        self.uses += 1
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        self.total = self.total * 0.5 + value
        self.uses += key


def operator_that_changes_its_object(x):
    gauge = _Gauge()
    for v in x:
        gauge += v
    return gauge.total, gauge.uses


def setitem_that_changes_its_object(x, s):
    gauge = _Gauge()
    for v in x:
        if v > s:
            gauge[2] = v
    return gauge.total, gauge.uses


@dataclasses.dataclass(frozen=True)
class _Sealed:
    a: float
    b: float = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 2)

    def move(self, by):
        self.a = self.a + by


def frozen_dataclass_is_not_changed(x, s):
    sealed, failures = _Sealed(s), 0
    try:
        sealed.move(x[0])
    except AttributeError:
        failures += 1
    try:
        if s > 0:
            del sealed.a
    except dataclasses.FrozenInstanceError:
        failures += 10
    return sealed.a + sealed.b, failures
