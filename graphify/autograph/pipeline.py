"""From a function to its converted form: the ordered list of converters, and a cache.

    >>> def relu(x):
    ...     return x if x > 0 else 0
    >>> print(convert(relu).source)  # doctest: +SKIP
    def relu(x):  # line 1
        return ag.if_exp(x > 0, lambda: x, lambda: 0)  # line 2

Conversion looks at the function's source and at what its free names stand for; it never runs it.
The converted code keeps the original file name and line numbers, so tracebacks and debuggers show
the user's own source.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import pickle
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

import gast

from graphify.autograph.converters import (
    asserts,
    assignments,
    attributes,
    breakpoints,
    callees,
    calls,
    comprehensions,
    conditional_expressions,
    control_flow,
    displays,
    generators,
    genexps,
    jumps,
    logical,
    lookups,
    match,
    moves,
    names,
    raises,
    texts,
    walrus,
)
from graphify.autograph.converters.base import Context
from graphify.autograph.converters.resolve import Resolver
from graphify.config import config
from graphify.location import SourceLoc
from graphify.syntax.analysis.activity import scope_of
from graphify.syntax.loader import (
    Definitions,
    compile_function,
    is_marked,
    make_function,
    with_attributes,
)
from graphify.syntax.naming import Namer
from graphify.syntax.parser import parse
from graphify.syntax.printer import to_source
from graphify.tracing.recursion import deep_stack

# In order. Expressions come first, so that later converters may insert finished operator calls.
PASSES = (
    names,  # before anything looks at attributes
    moves,  # while the statements are still the user's
    breakpoints,
    generators,  # before everything else: it makes statements of expressions
    genexps,  # makes functions
    match,  # makes comparisons and if statements
    walrus,  # before thunks are made
    comprehensions,  # makes thunks, with expressions inside
    texts,  # before asserts: it still has to see messages
    asserts,  # its message thunk is converted like any expression
    logical,
    conditional_expressions,
    assignments,  # before attributes: it still has to see targets
    lookups,  # likewise; before the calls, which are to find operators
    calls,  # before attributes: callees keep their last step
    displays,  # after calls, which tell who keeps a list
    attributes,
    jumps,  # before control_flow, which knows no jumps
    control_flow,
    raises,  # last: until then a raise marks where a block ends
)

# Python frames that walking a tree may take: long functions of early returns make deep ones (see
# `jumps`).
RECURSION = 10_000

REFUSED = {
    gast.AsyncFunctionDef: ("an async function", "call it outside converted code"),
    gast.AsyncFor: ("async for", "iterate outside converted code"),
    gast.AsyncWith: ("async with", "open the context outside converted code"),
    gast.Await: ("await", "await outside converted code and pass the result in"),
    gast.TryStar: ("except*", "raise one exception at a time, and catch it by except"),
}


@dataclass(frozen=True)
class Converted:
    """A converted function, not yet bound to globals and closure cells.

    Attributes:
        packed: the converted gast tree (a FunctionDef, or a Lambda), pickled: thousands of nodes
            would be looked at in each garbage collection, and hardly ever for anything else.
        code: the compiled code, under the original file name and lines.
        operators: the name by which the code calls the operators; it is a closure name of `code`.
        consumer: likewise, what consumes a generator function (see converters/generators.py), or
            the classes that are caught of a function that is attempted (see converters/callees.py).
        whole: whether a `for` statement may run a generator function as a function.
        global_names: globals read, without builtins that nothing shadows.
        closure_names: the free variables of the original, in the order of its closure.
        written_globals, written_nonlocals: names rebound through `global` and `nonlocal`.
        location: where the function was defined.
        facts: what conversion assumed about the values of free names.
    """

    packed: bytes
    code: CodeType
    operators: str
    global_names: frozenset[str]
    closure_names: tuple[str, ...]
    written_globals: frozenset[str]
    written_nonlocals: frozenset[str]
    location: SourceLoc
    facts: dict[str, Any]
    consumer: str = ""
    whole: bool = True

    @property
    def written_names(self) -> frozenset[str]:
        """Every name of an outer scope that the function, or one in it, may rebind."""
        return self.written_globals | self.written_nonlocals

    @functools.cached_property
    def source(self) -> str:
        """The converted function as readable Python; comments name the original lines."""
        with deep_stack(RECURSION):
            return to_source(pickle.loads(self.packed), _LineComments())

    def instantiate(
        self,
        function: FunctionType,
        namespace: dict[str, Any] | None = None,
        closure: tuple[CellType, ...] | None = None,
        operators: Any = None,
        consumer: Any = None,
    ) -> FunctionType:
        """A function of the converted code.

        Args:
            function: the original; its defaults, names and annotations are kept.
            namespace: the globals to use (default: those of the original, live).
            closure: cells in the order of `closure_names` (default: those of the original).
            operators: what `ag` stands for (default: the module graphify.autograph.operators).
            consumer: what `consumer` stands for.
        """
        function = getattr(function, "__func__", function)
        cells = dict(zip(self.closure_names, closure or function.__closure__ or (), strict=True))
        cells[self.operators] = CellType(_operators() if operators is None else operators)
        cells[self.consumer] = CellType(consumer)
        space = function.__globals__ if namespace is None else namespace
        made = make_function(self.code, function, space, cells)
        if is_marked(made):
            with_attributes(made, __graphify_converted__=True)
        return made


def convert(function: Any, rewrite: bool = True, form: str = generators.EACH) -> Converted:
    """Convert a Python function.

    Args:
        function: a function, method or lambda with source text.
        rewrite: False only analyses: tree and code are those of the unconverted function.
        form: of a generator function, see converters/generators.py; ATTEMPTED of any other.

    Raises:
        SyntaxUnsupported: the source is missing or holds what cannot be converted.
    """
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        parse(function)  # says why not
    resolver = Resolver(function)
    generator = bool(function.__code__.co_flags & inspect.CO_GENERATOR)
    form = form if generator != (form == callees.ATTEMPTED) else ""
    unbound = resolver.unbound()
    key = (function.__code__, function.__code__.co_filename, rewrite, form, unbound)
    for known in _cache.get(key, ()):
        if resolver.holds(known.facts):
            return known
    with deep_stack(RECURSION):
        converted = _convert(function, resolver, rewrite, form, unbound)
    if rewrite and (config.dump or config.debug >= 2):
        config.log(2, f"--- converted {function.__qualname__} ---\n{converted.source}")
        config.write(f"{function.__name__}.converted.py", converted.source)
    if key not in _cache and len(_cache) >= MOST:
        del _cache[next(iter(_cache))]
    _cache.setdefault(key, []).append(converted)
    return converted


MOST = 4096  # codes whose conversions are kept

# Conversions by code; one code may be converted under different facts about its globals.
_cache: dict[tuple[CodeType, str, bool, str, frozenset[str]], list[Converted]] = {}


def is_converted(function: Any) -> bool:
    """Whether a function is the result of a conversion, or was defined inside one."""
    return is_marked(getattr(function, "__func__", function))


def _convert(
    function: FunctionType, resolver: Resolver, rewrite: bool, form: str, unbound: frozenset[str]
) -> Converted:
    parsed = parse(function)
    tree, code = parsed.node, function.__code__
    ctx = Context(
        Namer.of(tree),
        resolver,
        parsed.filename,
        code.co_name,
        parsed.class_name,
        form,
        unbound=unbound,
    )
    whole = generators.consumed_whole(tree)
    scope = scope_of(tree)
    closure_names = code.co_freevars
    definitions = Definitions.of(tree) if rewrite else None
    if rewrite:
        check(tree, ctx)
        for converter in PASSES:
            tree = converter.transform(tree, ctx)
    else:
        tree = names.transform(tree, ctx)
    cells = [ctx.ag, *([ctx.consumer] if form else []), *closure_names]
    compiled = compile_function(tree, parsed.filename, cells, code.co_qualname, definitions)
    return Converted(
        pickle.dumps(tree),
        compiled,
        ctx.ag,
        _globals(scope.free, function),
        closure_names,
        scope.globals,
        scope.nonlocals | (scope.remote - scope.locals),
        SourceLoc(parsed.filename, code.co_firstlineno, code.co_name),
        dict(resolver.facts),
        ctx.consumer,
        whole,
    )


def check(tree: Any, ctx: Context) -> None:
    """Refuse syntax that no converter handles, in the function and those defined in it."""
    stack = [tree]
    while stack:
        node = stack.pop()
        for kind, (what, remedy) in REFUSED.items():
            if isinstance(node, kind):
                ctx.unsupported(node, f"{what} cannot be converted", remedy)
        if not isinstance(node, gast.ClassDef):
            stack += reversed(list(gast.iter_child_nodes(node)))


def _globals(free: frozenset[str], function: FunctionType) -> frozenset[str]:
    space = function.__globals__
    return frozenset(
        name
        for name in free - set(function.__code__.co_freevars)
        if name in space or not hasattr(builtins, name)
    )


def _operators() -> Any:
    from graphify.autograph import (
        operators,  # not at the top: the operators convert callees
    )

    return operators


class _LineComments:
    """`line N` for the first statement of every original line."""

    def __init__(self) -> None:
        self.last = 0

    def __call__(self, node: Any) -> str | None:
        line = getattr(node, "lineno", None)
        if line is None or line <= self.last:
            return None
        self.last = line
        return f"line {line}"
