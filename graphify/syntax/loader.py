"""Tree -> function, under the file name and line numbers of the original.

The tree is compiled inside a factory that binds the closure names, so that they become cells of the
code object; the factory itself never runs. Every code object made here ends its constants with
`MARK`, which is how a converted function, however deeply nested, is recognised. One that converters
made of a part of a function (a loop's body, a branch) is called as that function, and has `PART`
before the mark.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any, TypeVar

import gast

MARK = "graphify: converted"
PART = "graphify: part of a function"
F = TypeVar("F", bound=Callable[..., Any])

# The name that the definition binds in the factory: none that the function itself could read, or a
# recursive global function would find itself here instead of in its globals.
HIDDEN = "<function>"


@dataclass(frozen=True)
class Definitions:
    """The functions that the user defines inside another: names, and where bodies of lambdas lie.

    Whatever else is nested in the converted function is a part of it.
    """

    names: frozenset[str]
    lambdas: frozenset[tuple[int | None, ...]]

    @classmethod
    def of(cls, tree: Any) -> Definitions:
        nodes = list(gast.walk(tree))
        names = [n.name for n in nodes if isinstance(n, (gast.FunctionDef, gast.AsyncFunctionDef))]
        bodies = [n.body for n in nodes if isinstance(n, gast.Lambda)]
        spans = [(b.lineno, b.end_lineno, b.col_offset, b.end_col_offset) for b in bodies]
        return cls(frozenset(names), frozenset(spans))

    def hold(self, code: CodeType) -> bool:
        """Whether a code object nested in the function is one of the user's definitions."""
        if code.co_name == "<lambda>":
            return not self.lambdas.isdisjoint(code.co_positions())
        return code.co_name in self.names or code.co_name.startswith("<")


def compile_function(
    tree: Any,
    filename: str,
    cells: Iterable[str],
    qualname: str,
    definitions: Definitions | None = None,
) -> CodeType:
    """Compile a FunctionDef or Lambda to a code object whose free names include `cells`.

    Args:
        tree: a gast FunctionDef, or a gast Lambda.
        filename: the original file, recorded in the code.
        cells: names that become closure cells; those the function does not use are left out.
        qualname: the qualified name that the code, and all code nested in it, is to show.
        definitions: what the user defines in the function, if it was converted: `is_marked` is
            to recognise functions of this code.

    Returns:
        The code object of the function itself.
    """
    bare = _without_defaults(tree)
    body: list[Any] = [
        gast.Assign([_store(name)], gast.Constant(None, None), None) for name in cells
    ]
    body.append(bare if isinstance(bare, gast.FunctionDef) else gast.Expr(bare))
    factory = gast.FunctionDef("factory", _no_arguments(), body, [], None, None, [])
    module = gast.gast_to_ast(gast.Module([factory], []))
    ast.fix_missing_locations(module)
    code = compile(module, filename, "exec", dont_inherit=True)
    return finish(_only_code(_only_code(code)), qualname, definitions)


def make_function(
    code: CodeType, original: FunctionType, namespace: dict[str, Any], cells: dict[str, CellType]
) -> FunctionType:
    """A function of `code` that keeps the original's defaults, names and annotations."""
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, namespace, original.__name__, original.__defaults__, closure or None)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__qualname__ = original.__qualname__
    made.__doc__ = original.__doc__
    made.__module__ = original.__module__
    if hasattr(original, "__annotate__"):  # Python 3.14: annotations are computed on demand
        with_attributes(made, __annotate__=original.__annotate__)
    else:
        made.__annotations__ = original.__annotations__
    made.__dict__.update(original.__dict__)
    return made


def finish(
    code: CodeType, qualname: str, definitions: Definitions | None, part: bool = False
) -> CodeType:
    """`code` under its real name, it and the functions nested in it with the marks added.

    The body of a local class is left as it is: its methods are the user's own, and are converted
    when they are called.
    """
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return code
    consts = [
        _nested(c, qualname, definitions) if isinstance(c, CodeType) else c for c in code.co_consts
    ]
    if definitions is not None:
        consts += [PART, MARK] if part else [MARK]
    name = qualname.rpartition(".")[2]
    return code.replace(co_consts=tuple(consts), co_name=name, co_qualname=qualname)


def _nested(code: CodeType, qualname: str, definitions: Definitions | None) -> CodeType:
    if definitions is not None and not definitions.hold(code):
        return finish(code, qualname, definitions, part=True)
    return finish(code, f"{qualname}.<locals>.{code.co_name}", definitions)


def is_part(code: CodeType) -> bool:
    """Whether converters made this code of a part of a function of the user's."""
    return code.co_consts[-2:] == (PART, MARK)


def is_marked(function: Any) -> bool:
    """Whether a function came from `compile_function`, itself or nested in one that did."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and is_marked_code(code)


def is_marked_code(code: CodeType) -> bool:
    return code.co_consts[-1:] == (MARK,)


def _without_defaults(tree: Any) -> Any:
    """A shallow copy that evaluates nothing where it is defined: no defaults, no annotations."""
    bare, bare.args = copy.copy(tree), copy.copy(tree.args)
    bare.args.defaults = []
    bare.args.kw_defaults = [None] * len(bare.args.kwonlyargs)
    for group in ("args", "posonlyargs", "kwonlyargs"):
        setattr(bare.args, group, [_bare_argument(a) for a in getattr(bare.args, group) or []])
    bare.args.vararg = _bare_argument(bare.args.vararg)
    bare.args.kwarg = _bare_argument(bare.args.kwarg)
    if isinstance(bare, gast.FunctionDef):
        bare.name = HIDDEN
        bare.decorator_list, bare.returns, bare.type_params = [], None, []
    return bare


def _bare_argument(argument: Any) -> Any:
    if argument is None:
        return None
    bare = copy.copy(argument)
    bare.annotation = None
    return bare


def _only_code(code: CodeType) -> CodeType:
    """The one code object among the constants of another."""
    (inner,) = (c for c in code.co_consts if isinstance(c, CodeType))
    return inner


def _store(name: str) -> Any:
    return gast.Name(name, gast.Store(), None, None)


def _no_arguments() -> Any:
    return gast.arguments([], [], None, [], [], None, [])


def with_attributes(function: F, **attributes: Any) -> F:
    """Give a function attributes that its type does not have; returns the function."""
    for name, value in attributes.items():
        setattr(function, name, value)
    return function
