"""Containers that two names, or two places of one value, hold on some path: right, or refused."""

import collections
import copy
import dataclasses
import functools
import heapq
import inspect
import operator
import sys
from typing import NamedTuple

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass
class Box:
    a: object
    b: object = 0.0

    def push(self, v):
        self.a.append(v)
        self.b += v


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: object


class Node:
    shared = [0.0]

    def __init__(self, v):
        self.v = v


class Counting:
    def __init__(self, v):
        self.v, self.copies = v, 0

    def __copy__(self):
        made = Counting(self.v)
        made.copies = self.copies + 1
        return made


def twice_in_a_list(x, n):
    a = [1.0]
    rows = [a, a]
    if x[0] > 0:
        rows[0] = [2.0]
    rows[1].append(3.0)
    rows[0].append(4.0)
    return rows, a


def twice_in_a_tuple(x, n):
    a = [1.0]
    rows = (a, a)
    if x[0] > 0:
        rows = ([2.0], a)
    rows[1].append(3.0)
    rows[0].append(4.0)
    return rows, a


def twice_in_a_new_dataclass(x, n):
    a = [1.0]
    box = Box(a, a)
    if x[0] > 0:
        box = Box([2.0], a)
    box.a.append(3.0)
    box.b.append(4.0)
    return box.a, box.b, a


def twice_in_a_dict_of_a_loop(x, n):
    a = [1.0]
    d = {"p": a, "q": a}
    i = 0
    while i < n:
        d["p"] = [2.0]
        i += 1
    d["p"].append(3.0)
    d["q"].append(4.0)
    return d, a


def twice_in_what_one_path_makes(x, n):
    if x[0] > 0:
        a = [1.0]
        rows = [a, a]
    else:
        rows = [[3.0], [4.0]]
    rows[1][0] = 4.5  # refused
    return rows


def twice_in_what_a_turn_makes(x, n):
    rows = [[0.0], [0.0]]
    for i in range(n):
        a = [i * 1.0]
        rows = [a, a]
    rows[1][0] = 4.5  # refused
    return rows


def two_names_on_one_path(x, n):
    if x[0] > 0:
        a = [1.0]
        b = a
    else:
        a, b = [1.0], [2.0]
    a.append(3.0)  # refused
    return a, b


def two_names_for_a_dict_of_one_path(x, n):
    if x[0] > 0:
        a = b = {"k": 1.0}
    else:
        a, b = {"k": 1.0}, {"k": 2.0}
    pair = [a, b]
    pair[0]["k"] = 3.0  # refused
    return a, b


def two_names_after_a_loop(x, n):
    a = b = {"k": 0.0}
    for i in range(n):
        a = {"k": i * 1.0}
        b = a
    a["k"] = 3.0  # refused
    return b


def name_and_element_of_one_path(x, n):
    d = {"k": [0.0]}
    if x[0] > 0:
        a = [1.0]
        d["k"] = a
    else:
        a = [2.0]
    a.append(3.0)  # refused
    return d


def name_and_element_of_a_turn(x, n):
    d = {"k": {"z": 0.0}}
    a = {"z": 2.0}
    for i in range(n):
        a = {"z": 1.0 * i}
        d["k"] = a
    a["z"] = 3.0  # refused
    return d


def name_of_the_last_turn(x, n):
    p, q = {"k": 0.0}, {"k": 1.0}
    for _ in range(n):
        p = q
    q["k"] = 77.0  # refused
    return p


def first_bound_in_a_loop(x, n):
    b = {"n": 2.0}
    i = 0
    while i < n:
        c = b
        i += 1
    if n > 0:
        c["n"] = 5.0  # refused
    return b


def element_that_is_another_on_one_path(x, n):
    boxes = [Box([]), Box([])]
    if x[0] > 0:
        boxes[0] = boxes[1]
    boxes[0].push(3.0)
    return boxes[1].b


def sorted_with_another_name(x, n):
    a = [x[0], 1.0]
    rows = [a, [x[1], 2.0]]
    rows.sort(key=lambda row: row[0])
    a[1] = 50.0  # refused
    return rows


def sorted_copy_of_a_list(x, n):
    rows = [{"k": x[0]}, {"k": x[1]}]
    ordered = sorted(rows, key=lambda row: row["k"])
    ordered[0]["k"] = 1.0  # refused
    return rows


REFUSED = [
    twice_in_what_one_path_makes,
    twice_in_what_a_turn_makes,
    two_names_on_one_path,
    two_names_for_a_dict_of_one_path,
    two_names_after_a_loop,
    name_and_element_of_one_path,
    name_and_element_of_a_turn,
    name_of_the_last_turn,
    first_bound_in_a_loop,
    sorted_with_another_name,
    sorted_copy_of_a_list,
]
REFUSED_BY_A_METHOD = [element_that_is_another_on_one_path]


def arguments():
    for sign in (1.0, -1.0):
        for n in (0, 3):
            yield sign * np.array([1.5, -2.0, 3.0, 0.5]), np.array(n)


@pytest.mark.parametrize("function", REFUSED)
def test_refused(function):
    lines, first = inspect.getsourcelines(function)
    line = first + next(k for k, text in enumerate(lines) if "# refused" in text)
    for given in arguments():
        with pytest.raises(TraceError, match="through another name") as caught:
            graphify.function(function)(*given)
        assert f'test_shared_containers.py", line {line},' in str(caught.value)


@pytest.mark.parametrize("function", REFUSED_BY_A_METHOD)
def test_refused_by_a_method(function):
    for given in arguments():
        with pytest.raises(TraceError, match="through another name"):
            graphify.function(function)(*given)


def sorted_then_changed(x, n):
    rows = [[x[0], 1.0], [x[1], 2.0], [x[2], 3.0]]
    rows.sort(key=lambda row: row[0])
    rows[0][1] = rows[1][1] + 50.0
    return rows


def argument_that_grows_in_a_loop(x, n):
    first = c = Node.shared
    for _ in range(n):
        c = c + [1.0]
    c = [*c]
    c.append(9.0)
    return list(first), c


def field_of_what_two_paths_make(x, n):
    if x[0] > 0:
        d = Box({"k": 5.0}, [6.0])
    else:
        d = Box({"k": 7.0}, [8.0])
    d.a["k"] = 9.0
    d.b.append(10.0)
    return d.a, d.b, dataclasses.asdict(d)


def copied_dataclass(x, n):
    d = Box({"k": 1.0}, [2.0])
    e = copy.copy(d)
    e.a["k"] = x[0]
    e.b.append(10.0)
    e.b = [5.0]
    return d.a, d.b, e.a, e.b


def replaced_dataclass(x, n):
    d = Frozen([1.0], {"k": 2.0})
    e = dataclasses.replace(d, a=[4.0])
    e.b["k"] = x[1]
    if x[0] > 0:
        e = dataclasses.replace(e, a=[x[0]])
    e.a.append(1.0)
    return d.b, e.a, e.b


def copied_object(x, n):
    d = Node([1.0])
    e = copy.copy(d)
    e.v.append(x[0])
    e.v = [4.0]
    e.v.append(x[1])
    return d.v, e.v


def deeply_copied_objects(x, n):
    d = Node({"k": Node([1.0])})
    d.again = d.v["k"]
    e = copy.deepcopy(d)
    e.v["k"].v.append(9.0)
    if x[0] > 0:
        e.v["k"].v = [x[0]]
    e.again.v.append(2.0)
    return d.v["k"].v, e.v["k"].v, e.again is e.v["k"], d.again is d.v["k"]


def deeply_copied_cycle(x, n):
    d = Node([x[0]])
    d.me = d
    e = copy.deepcopy(d)
    e.me.v.append(1.0)
    return d.v, e.v, e.me is e


def copied_in_its_own_way(x, n):
    d = Counting([1.0])
    e = copy.copy(copy.copy(d))
    if x[0] > 0:
        e.v.append(2.0)
    return d.v, e.v, e.copies


def elements_of_a_named_tuple(x, n):
    d = Pair([1.0], {"k": 2.0})
    e = d._replace(a=[4.0])
    e.b["k"] = x[0]
    f = Pair._make([d.a, e.a])
    if x[0] > 0:
        f = f._replace(b=x)
    f.a.append(1.0)
    return d.a, d.b, e.b, f.a


def class_attribute_and_field(x, n):
    c = Node([0.0])
    kept = c.v
    if x[0] > 0:
        c.v = [7.0]
    c.v = c.v + [1.0]
    return kept, c.v


def counter_of_a_copy(x, n):
    d = Node(collections.OrderedDict(a=1.0))
    e = copy.deepcopy(d)
    e.v["a"] = x.sum()
    return d.v["a"], e.v["a"]


RIGHT = [
    sorted_then_changed,
    argument_that_grows_in_a_loop,
    field_of_what_two_paths_make,
    copied_dataclass,
    replaced_dataclass,
    copied_object,
    deeply_copied_objects,
    deeply_copied_cycle,
    copied_in_its_own_way,
    elements_of_a_named_tuple,
    class_attribute_and_field,
    counter_of_a_copy,
    twice_in_a_list,
    twice_in_a_tuple,
    twice_in_a_new_dataclass,
    twice_in_a_dict_of_a_loop,
]


def same(got, want):
    got, want = graphify.tree.leaves(got), graphify.tree.leaves(want)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("function", RIGHT)
def test_right(function):
    staged = graphify.function(function)
    for given in arguments():
        same(staged(*given), function(*given))


def test_list_of_the_caller_that_grows_in_a_loop():
    def grown(n, values):
        c = values
        for _ in range(n):
            c = c + [1.0]
        c.append(9.0)
        return list(c), list(values)

    staged = graphify.function(grown)
    for n in (0, 2, 1):
        mine, other = [0.0, 5.0], [0.0, 5.0]
        same(staged(np.array(n), mine), grown(n, other))
        assert np.allclose(mine, other)


class Registry:
    items = [0.0]


def class_attribute_of_a_new_object(x, n):
    c = Registry()
    if x[0] > 0:
        c.items = [1.0]
    c.items.append(2.0)
    return list(Registry.items), list(c.items)


def test_class_attributes_of_new_objects():
    staged = graphify.function(class_attribute_of_a_new_object)
    for given in (*arguments(), *arguments()):
        Registry.items = [0.0]
        want = class_attribute_of_a_new_object(*given)
        kept, Registry.items = Registry.items, [0.0]
        same(staged(*given), want)
        same(Registry.items, kept)


def table():
    return {"k": 1.0}, [3.0, 1.0, 2.0]


CHANGES = {
    "item by its method": lambda d, a: (d.__setitem__("k", 5.0), a.__setitem__(0, 5.0)),
    "item by its class": lambda d, a: (
        dict.__setitem__(d, "k", 5.0),
        list.__setitem__(a, 0, 5.0),
    ),
    "item by operator": lambda d, a: (
        operator.setitem(d, "k", 5.0),
        operator.setitem(a, 0, 5.0),
    ),
    "deleted": lambda d, a: (a.__delitem__(0), operator.delitem(a, 0)),
    "update by its class": lambda d, a: dict.update(d, k=5.0),
    "united": lambda d, a: d.__ior__({"k": 5.0}),
    "appended by the class": lambda d, a: (list.append(a, 5.0), list.pop(a, 0)),
    "sorted": lambda d, a: list.sort(a),
    "reversed": lambda d, a: list.reverse(a),
    "heap": lambda d, a: heapq.heapify(a),
    "pushed to a heap": lambda d, a: heapq.heappush(a, 0.5),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_by_code_that_is_not_converted(name):
    change = CHANGES[name]

    def on_one_path(x, n):
        d, a = table()
        if x[0] > 0:
            change(d, a)
        return d, a

    def in_a_loop(x, n):
        d, a = table()
        other = a
        for v in x:
            if v > 2:
                change(d, a)
        return d, a, other

    for function in (on_one_path,) if "heap" in name else (on_one_path, in_a_loop):
        staged = graphify.function(function)
        for given in arguments():
            same(staged(*given), function(*given))


def test_methods_that_are_older_than_the_kind_of_the_list():
    def appended(x, n):
        a, b = [1.0], [2.0]
        methods = [a.append, b.append]
        (methods[0] if x[0] > 0 else methods[1])(x[1])
        methods[0](9.0)
        return a, b

    def by_the_class(x, n):
        a = [1.0]
        append = functools.partial(list.append, a)
        if x[0] > 0:
            append(3.0)
        append(4.0)
        return a

    for function in (appended, by_the_class):
        staged = graphify.function(function)
        for given in arguments():
            same(staged(*given), function(*given))


def test_a_list_of_run_time_length_given_to_c_code_is_refused():
    def found(x, n):
        a = [1.0]
        for v in x:
            if v > 0:
                a.append(2.0)
        return sys.getsizeof(a)

    with pytest.raises(TraceError, match="getsizeof is given a list of which only the run knows"):
        graphify.function(found)(*next(arguments()))
