"""Results of a function from those of its graph, by one Python expression made beforehand.

    build = builder(outputs, treedef, numbers)
    build([y, gradient])      # (y, {"w": gradient, "name": "relu"})

That is (r[0], {s[0]: r[1], s[1]: s[2]}): a call costs a tenth of a walk along the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from graphify.api.passed import NotQuick
from graphify.api.writing import Output
from graphify.ir.tensor import Tensor
from graphify.tree import TreeDef


def builder(
    outputs: Sequence[Output], treedef: TreeDef, numbers: Collection[int] = ()
) -> Callable[..., Any]:
    """What makes the function's result of the graph's results, and of its arguments as tensors.

    Args:
        numbers: results that are Python numbers already.
    """
    known: list[Any] = []  # what the expression refers to
    leaves = iter([_leaf(output, known, numbers) for output in outputs])
    text = _text(treedef, leaves, known)
    try:
        made: Callable[..., Any] = eval(f"lambda r, a=(): {text}", {"s": known, "number": _number})
    except (SyntaxError, MemoryError, RecursionError):  # nested too deeply for an expression
        raise NotQuick from None
    return made


def _leaf(output: Output, known: list[Any], numbers: Collection[int]) -> str:
    origin = output.origin
    if output.index is None:
        return _known(output.static, known)
    if origin is not None:
        is_argument = isinstance(origin.thing, int) and not origin.views
        return f"a[{origin.thing}]" if is_argument else f"{_known(origin.find, known)}(a)"
    result = f"r[{output.index}]"
    return f"number({result})" if output.weak and output.index not in numbers else result


def _known(thing: Any, known: list[Any]) -> str:
    known.append(thing)
    return f"s[{len(known) - 1}]"


def _text(treedef: TreeDef, leaves: Iterator[str], known: list[Any]) -> str:
    if treedef.kind is None:
        return next(leaves)
    children = [_text(child, leaves, known) for child in treedef.children]
    if treedef.kind is tuple:
        return "(" + "".join(f"{child}, " for child in children) + ")"
    if treedef.kind is list:
        return "[" + ", ".join(children) + "]"
    if treedef.kind is dict:
        pairs = zip(treedef.keys, children, strict=True)
        return "{" + ", ".join(f"{_known(key, known)}: {child}" for key, child in pairs) + "}"
    # One level at a time: the children stand for leaves.
    flat = TreeDef(treedef.kind, treedef.keys, (TreeDef(None),) * len(children))
    return f"{_known(flat.unflatten, known)}([{', '.join(children)}])"


def _number(result: Any) -> Any:
    return result.numpy().item() if isinstance(result, Tensor) else result
