"""TensorFlow's functions on traced tensors, by their own names, arguments and dtype rules.

    @graphify.function
    def loss(x, y):
        return tf.reduce_mean(tf.square(x - y))     # two ops of graphify's, on any engine

Converted code hands every call of a function of TensorFlow's to `call`. `OPS` in the other files of
this folder is the table: TensorFlow's name, and what it means here. TensorFlow itself is neither
imported nor asked; the table is loaded when the first such call is traced.
"""

from __future__ import annotations

from typing import Any

from graphify.autograph.operators.calls import set_library


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call, in a trace, of a function, class or object of TensorFlow's.

    Raises:
        SpecError: a traced tensor is given to what the table does not have.
        DTypeError: dtypes that TensorFlow does not take.
    """
    from graphify.tensorflow import dispatch

    return dispatch.call(function, args, kwargs)


set_library("tensorflow", call)
