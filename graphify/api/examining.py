"""`f.check` and `f.debug`: what a function has for those who look into it.

f.check(x).agreed     # agreement.py: plain Python, graph and engine side by side
f.debug(x)            # debugger.py: the graph, step by step
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphify.api.concrete import ConcreteFunction, Traced, TraceRecord
from graphify.config import config
from graphify.tracing.signature import Call, Pattern
from graphify.tracing.tracebacks import user_facing

if TYPE_CHECKING:  # what does the work is imported when it is asked for
    from graphify.api.agreement import Report
    from graphify.api.debugger import Debugger


class Examined:
    """The part of a `Function` that looks into it."""

    # What the function has for its calls (see function.py).
    engine: str | None
    _python_function: Callable[..., Any]
    _signature: Any
    _name: Any
    _call: Callable[[Sequence[Any], dict[str, Any]], Call]
    _run_trace: Callable[[Call, Pattern], Traced]

    @user_facing
    def check(self, *args: Any, **kwargs: Any) -> Report:
        """Run the plain function, the graph and the engine on these arguments, and compare.

        Nothing is changed: each run gets copies of the arguments, and what it does to anything
        outside is undone.

        Returns:
            A `Report`: true if all agree; `str` names the first line and variable where plain
            Python and the graph part, and the first node where the engine and the reference do.

        Example:
            >>> import numpy as np, graphify
            >>> @graphify.function
            ... def grow(x):
            ...     for i in range(100):
            ...         x = x * 1.01
            ...     return x
            >>> report = grow.check(np.ones(3))
            >>> report.agreed
            True
        """
        from graphify.api.agreement import check

        call = self._call(args, kwargs)
        pattern = Pattern.of(call.shapes)
        take = functools.partial(Call, self._signature)

        def concrete(traced: Traced, engine: str) -> ConcreteFunction:
            names = [call.name(i) for i in range(len(call.leaves))]
            record = TraceRecord("", "check", "", 0.0)
            return ConcreteFunction(
                self._name, traced, pattern, call.key, names, call.positions, record, engine
            )

        def trace() -> tuple[Any, Traced]:
            return take, self._run_trace(call, pattern)

        engine = self.engine or config.engine
        return check(self._name, self._python_function, args, kwargs, trace, concrete, engine)

    @user_facing
    def debug(
        self, *args: Any, commands: Iterable[str] | None = None, output: Any = None, **kwargs: Any
    ) -> Debugger:
        """Run the graph for these arguments node by node, beside your lines.

        At a terminal, asks for commands (`help` lists them). Arguments and everything outside stay
        as they are.

        Args:
            commands: lines to take instead of the user's: a list, or a file.
            output: where to print; sys.stdout if None.

        Returns:
            A `Debugger`: `step()`, `next()`, `until(line)`, `run()`, `where()`, `values`, and the
            steps when it is iterated over.

        Example:
            >>> import numpy as np, graphify
            >>> @graphify.function
            ... def f(x):
            ...     y = x * 2
            ...     return y + 1
            >>> debugger = f.debug(np.ones(2))
            >>> [stop.source for stop in debugger]
            ['y = x * 2', 'return y + 1']
            >>> debugger.result
            Tensor([3., 3.], shape=(2,), dtype=float64)
        """
        from graphify.api.debugger import of_trace
        from graphify.api.watching import naming

        call = self._call(args, kwargs)
        names: dict[Any, dict[tuple[str, str], None]] = {}
        with naming(names):
            traced = self._run_trace(call, Pattern.of(call.shapes))
        debugger = of_trace(self._name, traced, call, names)
        at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not hasattr(sys, "ps1")
        if commands is not None or at_terminal:
            debugger.prompt(commands, output)
        return debugger
