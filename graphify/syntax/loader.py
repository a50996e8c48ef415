"""Tree -> function, under the file name and line numbers of the original.

The tree is compiled inside a factory that binds the closure names, so that they become cells of the
code object; the factory itself never runs. Every code object made here ends its constants with
`MARK`, which is how a converted function, however deeply nested, is recognised.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterable
from types import CellType, CodeType, FunctionType
from typing import Any

import gast

MARK = "graphify: converted"

# The name that the definition binds in the factory: none that the function itself could read, or a
# recursive global function would find itself here instead of in its globals.
HIDDEN = "<function>"


def compile_function(
    tree: Any, filename: str, cells: Iterable[str], qualname: str, marked: bool = True
) -> CodeType:
    """Compile a FunctionDef or Lambda to a code object whose free names include `cells`.

    Args:
        tree: a gast FunctionDef, or a gast Lambda.
        filename: the original file, recorded in the code.
        cells: names that become closure cells; those the function does not use are left out.
        qualname: the qualified name that the code, and all code nested in it, is to show.
        marked: whether `is_marked` is to recognise functions of this code.

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
    return finish(_only_code(_only_code(code)), qualname, (MARK,) if marked else ())


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
        made.__annotate__ = original.__annotate__  # type: ignore[attr-defined]
    else:
        made.__annotations__ = original.__annotations__
    made.__dict__.update(original.__dict__)
    return made


def finish(code: CodeType, qualname: str, marks: tuple[str, ...]) -> CodeType:
    """`code` under its real name, it and the functions nested in it with the marks added.

    The body of a local class is left as it is: its methods are the user's own, and are converted
    when they are called.
    """
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return code
    consts = [
        finish(c, f"{qualname}.<locals>.{c.co_name}", marks) if isinstance(c, CodeType) else c
        for c in code.co_consts
    ]
    name = qualname.rpartition(".")[2]
    return code.replace(co_consts=(*consts, *marks), co_name=name, co_qualname=qualname)


def is_marked(function: Any) -> bool:
    """Whether a function came from `compile_function`, itself or nested in one that did."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code.co_consts[-1:] == (MARK,)


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
