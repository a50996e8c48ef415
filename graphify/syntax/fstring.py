"""Prints f-strings: finds quotes that none of the embedded expressions uses.

>>> import ast
>>> node = ast.parse('f"{x!r:>{w}} {{}}"', mode="eval").body
>>> fstring(node, ast.unparse)
'f"{x!r:>{w}} {{}}"'
"""

from __future__ import annotations

import ast
from collections.abc import Callable

QUOTES = ('"', "'", '"""', "'''")


def fstring(node: ast.JoinedStr, expression: Callable[[ast.expr], str]) -> str:
    """An f-string literal for a JoinedStr; `expression` prints what stands in braces."""
    pieces = [_piece(part, expression) for part in node.values]
    inside = "".join(text for text, literal in pieces if not literal)
    literal_text = "".join(text for text, literal in pieces if literal)
    free = [quote for quote in QUOTES if quote[0] not in inside] or [
        quote for quote in QUOTES if quote not in inside
    ]
    quote = next((q for q in free if q not in literal_text), (free or ['"'])[0])
    return (
        f"f{quote}"
        + "".join(_escaped(text, quote) if literal else text for text, literal in pieces)
        + quote
    )


def _piece(node: ast.expr, expression: Callable[[ast.expr], str]) -> tuple[str, bool]:
    """The text of one part, and whether it is literal."""
    if isinstance(node, ast.Constant):
        return str(node.value).replace("{", "{{").replace("}", "}}"), True
    assert isinstance(node, ast.FormattedValue)
    text = expression(node.value)
    space = " " if text.startswith("{") else ""
    conversion = "" if node.conversion == -1 else "!" + chr(node.conversion)
    return f"{{{space}{text}{conversion}{_spec(node.format_spec, expression)}}}", False


def _spec(spec: ast.expr | None, expression: Callable[[ast.expr], str]) -> str:
    if spec is None:
        return ""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
    return ":" + "".join(
        _escaped(text, "'") if literal else text
        for text, literal in (_piece(part, expression) for part in parts)
    )


def _escaped(text: str, quote: str) -> str:
    shown = "".join(c if c.isprintable() and c != "\\" else repr(c)[1:-1] for c in text)
    return shown.replace(quote[0], "\\" + quote[0]) if quote[0] in shown else shown
