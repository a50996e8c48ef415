"""Garbage collections during traces: fewer, and afterwards as the user has them."""

import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import graphify
from graphify.collecting import OBJECTS, rare_collections


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_trace_collects_less_and_gives_the_thresholds_back() -> None:
    seen = []

    @graphify.function
    def f(x: np.ndarray) -> np.ndarray:
        seen.append(gc.get_threshold())
        return x + 1

    f(np.ones(3))
    assert seen == [(OBJECTS, 10, 10)]
    assert gc.get_threshold() == (700, 10, 10)


def test_after_an_error_of_the_trace() -> None:
    @graphify.function
    def f(x: np.ndarray) -> np.ndarray:
        return x @ np.ones((7, 7, 7))[0, 0, :2]

    with pytest.raises(ValueError):
        f(np.ones(3))
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("users", [0, 20_000])
def test_what_the_user_asks_for_is_left_alone(users: int) -> None:
    gc.set_threshold(users, 5, 5)
    with rare_collections():
        assert gc.get_threshold() == (users, 5, 5)
    assert gc.get_threshold() == (users, 5, 5)


def test_what_is_set_within_stays() -> None:
    with rare_collections():
        gc.set_threshold(1_000, 5, 5)
    assert gc.get_threshold() == (1_000, 5, 5)


def test_nested_and_in_several_threads_it_is_given_back_at_the_last_end() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def other() -> None:
        with rare_collections():
            begun.set()
            go_on.wait(10)

    thread = threading.Thread(target=other)
    with rare_collections():
        with rare_collections():
            thread.start()
            assert begun.wait(10)
        assert gc.get_threshold()[0] == OBJECTS
    assert gc.get_threshold()[0] == OBJECTS
    go_on.set()
    thread.join()
    assert gc.get_threshold() == (700, 10, 10)
