"""A tutorial that runs: `python docs/tutorial.py` ends without an error if every claim is true.

The page that the documentation shows is made from this file, and the test suite runs it. Comments
are the text; every `assert` is something you may rely on.
"""

import contextlib
import io
import re
import tempfile
import textwrap
from pathlib import Path

import numpy as np

import graphify

# ## A function becomes a graph
#
# Decorate a function of NumPy calls. You call it as before, and it gives the same answer. Arrays
# come back as `graphify.Tensor`s, which do what NumPy's arrays do.


@graphify.function
def halvings(x):
    """Halve all of x until nothing in it is above one."""
    steps = 0
    while np.max(x) > 1:
        x = x / 2
        steps += 1
    return x, steps


y, steps = halvings(np.array([3.0, 20.0]))
assert np.array_equal(y, [0.09375, 0.625]) and steps == 5
assert isinstance(y, graphify.Tensor)

# How often the loop turns depends on the data, so it cannot be unrolled. What happened instead: the
# function was converted, the converted function was run once on a symbolic tensor, and what that
# tensor went through was recorded. The next three sections look at each of these.
#
# ## Reading the converted code
#
# `to_code` shows what became of the source. Each control statement is now one call of an operator,
# under the name `ag`. The body of the loop is a function from the variables of the loop to the
# variables of the loop. Comments name the lines of your file; they are taken out here.


def without_lines(text):
    return re.sub(r" +# .*", "", str(text)).strip()


def same(text, expected):
    return without_lines(text) == textwrap.dedent(expected).strip()


assert same(
    graphify.autograph.to_code(halvings),
    '''
    def halvings(x):
        """Halve all of x until nothing in it is above one."""
        steps = 0
        def loop_body(x, steps):
            x = x / 2
            steps += 1
            return x, steps
        x, steps = ag.while_(lambda x, steps: np.max(x) > 1, loop_body, (x, steps), ("x", "steps"))
        return x, steps
    ''',
)

# `ag.while_` decides when it runs. If the condition is an ordinary bool it is a Python loop. If it
# is a symbolic tensor, the operator records one `while` node. So the same converted function serves
# both, and a loop over a Python list next to it stays a Python loop.
#
# ## Reading the graph
#
# Each kind of arguments has a *concrete function*, and that has a graph: parameters, nodes in
# order, results. Values keep the names you gave them. `f64[2]` is an array of two float64; the `~`
# marks the counter as a Python number, which takes part in dtype promotion as Python numbers do.

concrete = halvings.get_concrete_function(np.array([3.0, 20.0]))
assert same(
    concrete.graph,
    """
    graph halvings(x: f64[2]) {
      x_1: f64[2], steps: i64[]~ = while(x, 0~, carry=2) {
        cond(x: f64[2], steps: i64[]~) {
          %0: f64[] = reduce_max(x, axes=(0,), keepdims=False)
          %1: bool[] = greater(%0, 1.0)
          return %1
        }
        body(x: f64[2], steps: i64[]~) {
          x_1: f64[2] = divide(x, 2.0)
          steps_1: i64[]~ = add(steps, 1~)
          return x_1, steps_1
        }
      }
      return x_1, steps
    }
    """,
)

# A notebook shows the graph as a picture; `to_mermaid`, `to_dot` and `to_svg` give it as text.
#
# ## What the optimiser does
#
# `traced_graph` is the graph as it was recorded, `graph` what the optimiser made of it, and
# `graph.report()` says why. Nothing here may change an answer, not even in the last bit.


@graphify.function
def wasteful(x):
    unused = np.linalg.inv(x)  # noqa: F841
    return np.sin(x) * 1.0 + np.sin(x)


optimised = wasteful.get_concrete_function(np.eye(2))
assert same(
    optimised.graph,
    """
    graph wasteful(x: f64[2,2]) {
      %0: f64[2,2] = sin(x)
      %1: f64[2,2] = add(%0, %0)
      return %1
    }
    """,
)
report = str(optimised.graph.report())
assert "pruned" in report and "simplified" in report

# The matrix inverse was not needed, so it does not run, and cannot fail:

assert np.array_equal(wasteful(np.zeros((2, 2))), np.zeros((2, 2)))

# ## Engines
#
# An engine makes a graph callable. The default, `native`, makes machine code of it, its loops
# fused. `reference` runs it node by node with NumPy and defines what it means. `tensorflow` turns
# it into a real GraphDef. Engines are chosen per function, or by a switch. With `check` on, each
# result is compared with the reference.


def tensorflow_is_here():
    try:
        import tensorflow  # noqa: F401
    except ImportError:
        return False
    return True


if tensorflow_is_here():
    with graphify.config(engine="tensorflow", check=True):
        y, steps = halvings(np.array([3.0, 20.0]))
    assert np.array_equal(y, [0.09375, 0.625]) and steps == 5

# ## When a function is traced again
#
# A second shape of the same rank makes the axis that changed symbolic; that graph serves every
# later length. `traces()` tells each time why.


@graphify.function
def scaled(x, factor):
    return x * factor


scaled(np.ones(3), 2)
scaled(np.ones(4), 2)
scaled(np.ones(5), 2)
assert [trace.cause for trace in scaled.traces()] == ["first call", "argument `x`, axis 0: 3 -> 4"]

# Python numbers are part of the signature: a new value is a new trace, until there have been three.
# Then the number becomes an input of the graph.

for factor in (3, 4, 5, 6):
    assert np.array_equal(scaled(np.ones(5), factor), np.full(5, factor))
assert len(scaled.traces()) == 4
assert scaled.explain(np.ones(5), 7).startswith("hits trace 4 of 4")
assert "rank 1 -> float64 of rank 2" in scaled.explain(np.ones((2, 2)), 7)

# What a function reads from outside is guarded. An array is read anew at each call; a number that
# changed means a new trace, and the cause says so.

weights, bias = np.array([1.0, 2.0]), 0.5


@graphify.function
def model(x):
    return x @ weights + bias


assert model(np.ones(2)) == 3.5
weights[0] = 10.0
assert model(np.ones(2)) == 12.5 and len(model.traces()) == 1
bias = 0.0
assert model(np.ones(2)) == 12.0
assert model.traces()[-1].cause == "global bias changed from 0.5 to 0.0"

# ## Updates in place, and views
#
# The graph is made of values that never change. Your code need not know: an update makes the tensor
# stand for a new value, a slice is a view, and the caller's array is written when the call is over.


@graphify.function
def clamp_tail(a):
    tail = a[1:]  # a view
    tail[tail < 0] = 0  # changes a
    return a.sum()


a = np.array([-1.0, -2.0, 3.0])
assert clamp_tail(a) == 2.0
assert np.array_equal(a, [-1.0, 0.0, 3.0])

# ## Effects
#
# Printing, assertions, exceptions and variables keep the order of your program, and happen only on
# the branch that is taken.

total = graphify.Variable(0.0)


@graphify.function
def deposit(amount):
    if amount < 0:
        raise ValueError("a deposit cannot be negative")
    total.assign_add(amount)
    graphify.print("total is", total)
    return total * 2


printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    assert deposit(np.array(3.0)) == 6.0
    assert deposit(np.array(4.0)) == 14.0
assert printed.getvalue() == "total is 3.0\ntotal is 7.0\n"
try:
    deposit(np.array(-1.0))
except ValueError as error:
    assert str(error) == "a deposit cannot be negative"
    assert 'raise ValueError("a deposit cannot be negative")' in error.__notes__[0]
else:
    raise AssertionError("expected a ValueError")
assert total.numpy() == 7.0

# ## Derivatives and batches
#
# Both are made from the graph, loops and branches included, and combine with each other. The loop
# divides by 2 five times, so the derivative of each element of the result is 1/32.


def loss(x):
    return halvings(x)[0].sum()


assert np.array_equal(graphify.grad(loss)(np.array([3.0, 20.0])), [1 / 32, 1 / 32])

# `vmap` adds an axis to a function of one example. Each row of the batch turns its loop as often as
# it needs to.

batch = np.array([[3.0, 20.0], [1.0, 1.0], [0.0, 3.0]])
assert np.array_equal(graphify.vmap(halvings)(batch)[1], [5, 0, 2])
assert np.array_equal(graphify.vmap(graphify.grad(loss))(batch)[:, 0], [1 / 32, 1.0, 1 / 4])

# ## Export
#
# A SavedModel runs wherever TensorFlow runs, without graphify. What is written is one concrete
# function, here that of a vector of any length. The examples are run through the written model and
# compared before it is put in its place.

if tensorflow_is_here():
    vectors = halvings.get_concrete_function(graphify.TensorSpec((None,), np.float64))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "halvings"
        graphify.saved_model.save(vectors, path, examples=[(np.array([3.0, 20.0]),)])
        again = graphify.saved_model.load(path)
        y, steps = again(np.array([3.0, 20.0, 0.5]))
        assert np.array_equal(y, [0.09375, 0.625, 0.015625]) and steps == 5
