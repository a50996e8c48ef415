"""Random programs of control flow: converted, with plain operators, they do what they did."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from graphify.errors import SyntaxUnsupported
from tests.autograph import programs


def check(source):
    try:
        compile(source, "<program>", "exec")
    except SyntaxError:  # say, a name both assigned and then declared nonlocal
        return
    with contextlib.suppress(SyntaxUnsupported):
        programs.check(source)


@given(st.data())
def test_programs_that_shrink(data):
    check(programs.ProgramWriter(lambda options: data.draw(st.sampled_from(options))).program())


def test_program(program_seed):
    check(programs.random_program(program_seed))
