"""Making a failing program small: leave out statements while the failure stays.

small = shrink(difference)
print(small.program.source)
"""

import ast
import copy
from collections.abc import Iterator, Sequence

from tests.fuzz.running import Difference, compare, run_plain

BLOCKS = ("body", "orelse")
MAX_ATTEMPTS = 600


def shrink(difference: Difference, engines: Sequence[str] = ("reference",)) -> Difference:
    """The same kind of difference, shown by the smallest program that steps of `smaller` reach."""
    attempts = 0
    found = True
    while found and attempts < MAX_ATTEMPTS:
        found = False
        for source in smaller(difference.program.source):
            attempts += 1
            if len(source) >= len(difference.program.source) + 1:
                continue
            other = _still_fails(difference, source, engines)
            if other is not None:
                difference, found = other, True
                break
            if attempts >= MAX_ATTEMPTS:
                break
    return difference


def _still_fails(difference: Difference, source: str, engines: Sequence[str]) -> Difference | None:
    program = difference.program.with_source(source)
    try:
        if isinstance(run_plain(program, 0).error, NameError):
            return None
        verdict = compare(program, engines)
    except Exception:
        return None
    other = verdict.difference
    if other is None or other.kind != difference.kind:
        return None
    same_way = other.way.split(",")[0] == difference.way.split(",")[0]
    return other if same_way and _gist(other) == _gist(difference) else None


def _gist(difference: Difference) -> str:
    """The class of an unexpected error, so that shrinking does not slip to another one."""
    if difference.kind != "error":
        return ""
    return difference.text.rpartition("got ")[2].partition("(")[0]


def smaller(source: str) -> Iterator[str]:
    """Programs with one statement less, a compound one opened, or an expression cut down."""
    tree = ast.parse(source)
    for number, (node, _) in enumerate(_places(tree)):
        for replacement in _replacements(node):
            changed = copy.deepcopy(tree)
            block, position = list(_places(changed))[number][1]
            block[position : position + 1] = copy.deepcopy(replacement)
            if not block:
                block.append(ast.Pass())
            yield ast.unparse(ast.fix_missing_locations(changed)) + "\n"
    for number, expression in enumerate(_expressions(tree)):
        for child in ast.iter_child_nodes(expression):
            if isinstance(child, ast.expr) and isinstance(
                getattr(child, "ctx", None), ast.Load | None
            ):
                yield _with_expression(tree, number, child)


def _places(tree: ast.AST) -> Iterator[tuple[ast.stmt, tuple[list[ast.stmt], int]]]:
    """Every statement that may go, and where it stands; large ones first."""
    for owner in ast.walk(tree):
        for name in BLOCKS:
            block = getattr(owner, name, None)
            if isinstance(block, list) and not isinstance(owner, ast.Module):
                yield from ((node, (block, i)) for i, node in enumerate(block))


def _replacements(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, ast.Return | ast.Pass):
        return []
    found: list[list[ast.stmt]] = [[]]
    if isinstance(node, ast.If | ast.While | ast.For):
        found += [node.body, node.orelse] if node.orelse else [node.body]
    return found


def _expressions(tree: ast.AST) -> list[ast.expr]:
    kinds = (ast.BinOp, ast.Call, ast.IfExp, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.Tuple,
             ast.Subscript, ast.Attribute)  # fmt: skip
    return [
        n for n in ast.walk(tree)
        if isinstance(n, kinds) and isinstance(getattr(n, "ctx", None), ast.Load | None)
    ]  # fmt: skip


def _with_expression(tree: ast.AST, number: int, child: ast.expr) -> str:
    target = _expressions(tree)[number]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return child if node is target else self.generic_visit(node)

    memo: dict[int, object] = {id(target): target, id(child): child}
    changed = Replace().visit(copy.deepcopy(tree, memo))
    return ast.unparse(ast.fix_missing_locations(changed)) + "\n"
