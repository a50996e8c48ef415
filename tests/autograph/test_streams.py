"""Where staged code prints and warns: the streams and filters of the run."""

import contextlib
import io
import sys
import warnings

import numpy as np
import pytest

import graphify
from graphify.errors import TraceError


def reports(x, limit):
    if x.max() > limit:
        print("too large", file=sys.stderr)
    print("max", x.max(), file=sys.stderr, sep="=")
    print(x.min(), file=sys.stdout)
    return x


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_print_to_a_stream(capsys, engine):
    staged = graphify.function(reports, engine=engine)
    for top in (1.0, 5.0, 2.0, 7.0):
        x = np.array([0.5, top])
        reports(x, 4.0)
        want = capsys.readouterr()
        staged(x, 4.0)
        assert capsys.readouterr() == want


def test_print_while_the_caller_redirects():
    staged = graphify.function(reports)
    staged(np.array([1.0, 9.0]), 4.0)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        staged(np.array([2.0, 8.0]), 4.0)
    assert (out.getvalue(), err.getvalue()) == ("2.0\n", "too large\nmax=8.0\n")


def test_print_to_a_file_is_refused():
    @graphify.function
    def written(x):
        file = io.StringIO()
        if x.sum() > 0:
            print("positive", file=file)
        return x

    with pytest.raises(TraceError, match="printed to a file"):
        written(np.ones(2))


def test_filters_of_the_caller_hold_at_the_run():
    @graphify.function
    def warned(x):
        if x.sum() > 0:
            warnings.warn("positive", stacklevel=1)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warned(np.ones(2))
    with pytest.warns(UserWarning, match="positive"):
        warned(np.ones(2))


@pytest.mark.parametrize("category", [UserWarning, RuntimeWarning])
def test_filters_of_the_function_hold_by_class(category):
    @graphify.function
    def warned(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            if x.sum() > 0:
                warnings.warn("positive", category, stacklevel=1)
        return x

    if category is RuntimeWarning:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert warned(np.ones(2)).numpy().tolist() == [1, 1]
    else:
        with pytest.raises(TraceError, match="catch_warnings"):
            warned(np.ones(2))
