"""The classes of errors, and how a message comes to name the user's line."""

import numpy as np
import pytest

import graphify
from graphify import errors
from graphify.errors import GraphifyError, at
from graphify.location import SourceLoc, here

LOCATION = SourceLoc(__file__, 8, "f")


@pytest.mark.parametrize(
    "name, builtin",
    [
        ("SyntaxUnsupported", NotImplementedError),
        ("TraceError", RuntimeError),
        ("ConcreteValueNeeded", TypeError),
        ("SpecError", TypeError),
        ("ShapeError", ValueError),
        ("InvalidArgumentError", ValueError),
        ("LoweringError", NotImplementedError),
    ],
)
def test_classes_refine_builtin_ones(name, builtin):
    kind = getattr(errors, name)
    assert issubclass(kind, GraphifyError) and issubclass(kind, builtin)


def test_a_message_holds_place_and_remedy():
    error = errors.TraceError("went wrong", location=LOCATION, remedy="do it so")
    assert str(error).startswith("went wrong\nin user code:") and str(error).endswith(
        "remedy: do it so"
    )


def test_at_adds_the_line_once():
    error = at(ValueError("bad"), LOCATION)
    assert type(error) is ValueError and "test_errors.py" in str(error)
    assert at(error, here().resolve()) is error
    assert at(ValueError("bad"), None).args == ("bad",)


def test_at_keeps_message_and_remedy_of_graphify_errors():
    error = at(errors.SpecError("bad", remedy="convert it"), LOCATION)
    assert error.message == "bad" and error.remedy == "convert it" and error.location == LOCATION


def test_at_leaves_classes_with_other_constructors():
    class Coded(Exception):
        def __init__(self, code, text):
            super().__init__(code, text)
            self.code = code

    error = at(Coded(3, "bad"), LOCATION)
    assert error.code == 3 and any("test_errors.py" in note for note in error.__notes__)


def test_a_name_error_of_the_user_stays_one():
    with pytest.raises(NameError, match="undefined_name"):
        graphify.function(lambda x: x + undefined_name)(np.ones(1))  # noqa: F821


def test_errors_of_eager_and_staged_calls_have_one_class():
    for function in (lambda x: x.reshape(7), lambda x: x[9], lambda x: x @ np.ones(5)):
        kinds = []
        for call in (
            lambda: function(graphify.numpy.ones(3)),
            lambda: graphify.function(function)(np.ones(3)),
        ):
            with pytest.raises(Exception) as caught:
                call()
            kinds.append(caught.value)
        assert isinstance(kinds[1], type(kinds[0])) or isinstance(kinds[0], type(kinds[1]))
