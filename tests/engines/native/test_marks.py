"""The user's lines come out of the compiler again, and change nothing on their way."""

import numpy as np
import pytest

import graphify
from graphify.engines.base import get_engine
from graphify.engines.native import cache, jit, marks


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


LINES = ["e = np.exp(x - np.max(x, axis=-1, keepdims=True))", "return e / np.sum("]


@pytest.fixture(scope="module")
def code():
    spec = graphify.TensorSpec((None, None), np.float32)
    graph = graphify.function(softmax).get_concrete_function(spec).graph
    return get_engine("native").compile(graph).lowered().code


@pytest.mark.parametrize("form", ["llvm_ir", "asm"])
def test_the_users_lines_stand_in_it(code, form):
    text = getattr(code, form)
    for line in LINES:
        assert f".py:{softmax.__code__.co_firstlineno + 1 + LINES.index(line)}  {line}" in text
    assert "!dbg" not in text and "DILocation" not in text and ".loc" not in text


def test_the_code_is_the_same_without_them(code):
    with jit._compiler() as compiler:
        with compiler.optimised(code._text(), code.level) as module:
            plain = compiler.machine(code.level).emit_assembly(module)

    def instructions(text):
        return [line for line in text.splitlines() if line.startswith("\t") and line[1] not in ".#"]

    assert instructions(plain) == instructions(code.asm)


def test_lines_do_not_count_for_the_cache():
    text = "define i32 @f() {\n  ; a.py:3  y = x\n  ret i32 0\n}\n"
    assert cache.key(text, "light") == cache.key(text.replace("a.py:3", "a.py:9"), "light")
    assert cache.key(text, "light") != cache.key(text.replace("i32 0", "i32 1"), "light")


def test_a_text_without_lines_stays_as_it_is():
    text = "define i32 @f() {\n  ; a note\n  ret i32 0\n}\n"
    assert marks.mark(text) == text
    assert marks.comments(text) == []
