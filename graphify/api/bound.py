"""Decorated methods: what `model.step` is where `step` is a `graphify.function` of the class.

    model.step(x)                       # step(model, x)

Everything else is asked of the function itself.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

from graphify.tracing.tracebacks import user_facing

if TYPE_CHECKING:
    from graphify.api.agreement import Report
    from graphify.api.concrete import ConcreteFunction
    from graphify.api.debugger import Debugger
    from graphify.api.function import Function


class BoundFunction:
    """A decorated method on its instance; everything else is the `Function`'s."""

    def __init__(self, function: Function, instance: Any) -> None:
        self.__func__, self.__self__ = function, instance
        functools.update_wrapper(self, function.python_function, updated=())

    def __reduce__(self) -> tuple[Any, ...]:
        """As bound methods of Python: by the name on the instance."""
        return getattr, (self.__self__, self.__func__.python_function.__name__)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction:
        return BoundFunction(self.__func__, copy.deepcopy(self.__self__, memo))

    @user_facing
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    @user_facing
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        if not args and not kwargs and self.__func__.input_signature is not None:
            args = self.__func__.input_signature
        return self.__func__.get_concrete_function(self.__self__, *args, **kwargs)

    @user_facing
    def explain(self, *args: Any, **kwargs: Any) -> str:
        return self.__func__.explain(self.__self__, *args, **kwargs)

    @user_facing
    def check(self, *args: Any, **kwargs: Any) -> Report:
        return self.__func__.check(self.__self__, *args, **kwargs)

    @user_facing
    def debug(self, *args: Any, **kwargs: Any) -> Debugger:
        return self.__func__.debug(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"
