"""What strings with run-time values in them can do: be joined, formatted, changed by a method.

    text(f"{x:.2f}")                # an f-string that is not printed at once
    percent("%5.2f of %d", (x, n))  # the operator %
    message.upper(), f"{message:>20}", ", ".join(parts), repr(message)

Each gives another such string, whose gaps the run fills. What needs the text while tracing (its
length, a part of it, a comparison) raises ConcreteValueNeeded at that line.
"""

from __future__ import annotations

import builtins
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from graphify.autograph.operators import texts
from graphify.autograph.operators.calls import OVERLOADS
from graphify.autograph.operators.numbers import type_name
from graphify.autograph.operators.texts import (
    CLOSE,
    OPEN,
    StagedText,
    gap_mark,
    kind_of,
    mark,
    pieces_of,
    refuse_text,
)
from graphify.ir.tensor import Tensor, resolve
from graphify.ops import operators
from graphify.ops.effects import Gap, Text

CHANGING = (
    "capitalize casefold center expandtabs ljust lower lstrip removeprefix removesuffix replace "
    "rjust rstrip strip swapcase title upper zfill"
).split()
ASKING = (
    "__contains__ __getitem__ __iter__ __len__ count encode endswith find index isalnum isalpha "
    "isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper "
    "partition rfind rindex rpartition rsplit split splitlines startswith translate __eq__ __ne__ "
    "__lt__ __le__ __gt__ __ge__ __hash__"
).split()


def text(value: Any) -> Any:
    """A string that may hold marks, as one that knows it."""
    return texts.staged(value) if type(value) is str and OPEN in value else value


def shown(value: Any, conversion: str) -> Any:
    """What `!s`, `!r` or `!a` makes of a value in an f-string, before it is formatted."""
    if conversion == "s" and (isinstance(value, str) or texts.marks_itself(value)):
        return text(str(value))
    show = {"s": texts.marked_text, "r": repr_, "a": ascii_}[conversion]
    return text(show(value))


def _whole(value: str, **how: Any) -> str:
    """A string with marks as one gap."""
    pieces, tensors = pieces_of(value)
    if not tensors:
        return str.__repr__(value)  # a debugger looks at it after the trace
    gap = Gap(how.get("spec", ""), how.get("as_repr", False), "number", Text(tuple(pieces), ""))
    if "method" in how:
        gap = Gap("", False, "number", gap.inner, how["method"])
    spec = gap.spec
    if isinstance(spec, str) and OPEN in texts.exact(spec):
        parts, others = pieces_of(spec)
        gap = Gap(Text(tuple(parts), ""), False, "number", gap.inner)
        tensors = [*tensors, *others]
    return gap_mark(gap, *tensors)


def _inserted(value: str) -> str:
    """A text that goes into another one, which code that is not converted may keep."""
    if not texts.is_asked_by_converted_code():
        texts.expect_use(value)
    return value


def _changing(name: str) -> Callable[..., Any]:
    def change(self: str, *args: Any) -> str:
        return _whole(self, method=(name, *args))

    return change


def _asking(name: str) -> Callable[..., Any]:
    return lambda self, *args: refuse_text(self)


def _install() -> None:
    for names, make in ((CHANGING, _changing), (ASKING, _asking)):
        for name in names:
            setattr(StagedText, name, make(name))
    methods: dict[str, Callable[..., Any]] = {
        "__format__": lambda self, spec: _whole(self, spec=spec) if spec else _inserted(self),
        "__repr__": lambda self: _whole(self, as_repr=True),
        "__str__": _inserted,
        "__add__": lambda self, other: text(str.__add__(self, other)),
        "__radd__": lambda self, other: text(str.__add__(other, self)),
        "__mul__": lambda self, times: text(str.__mul__(self, times)),
        "__rmul__": lambda self, times: text(str.__mul__(self, times)),
        "__mod__": lambda self, values: percent(texts.exact(self), values),
        "__bool__": lambda self: True,  # numbers have a text
        "join": lambda self, parts: text(str.join(self, parts)),
    }
    for name, method in methods.items():
        setattr(StagedText, name, method)


_install()

# --- the operator % -------------------------------------------------------------------------------

_CONVERSION = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?P<dot>\.(?:\*|\d*))?[hlL]?"
    r"(?P<type>[a-zA-Z%])"
)


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    given = values if isinstance(values, (tuple, Mapping)) else (values,)
    items = list(given.values()) if isinstance(given, Mapping) else list(given)
    if not isinstance(template, str) or not any(map(_staged, items)):
        return template % values
    if "*" in template:
        return refuse_text(texts.marked_text(items))
    rest = iter(items)
    pieces: list[str] = []
    last = 0
    for found in _CONVERSION.finditer(template):
        pieces.append(template[last : found.start()])
        last = found.end()
        if found["type"] == "%":
            pieces.append("%")
            continue
        value = given[found["key"]] if isinstance(given, Mapping) else _next(rest)
        spec = f"%{found['flags']}{found['width']}{found['dot'] or ''}{found['type']}"
        pieces.append(_converted(spec, value))
    if not isinstance(given, Mapping) and next(rest, rest) is not rest:
        raise TypeError("not all arguments converted during string formatting")
    return text("".join([*pieces, template[last:]]))


def _next(rest: Any) -> Any:
    for value in rest:
        return value
    raise TypeError("not enough arguments for format string")


def _staged(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_symbolic or texts.has_symbols(value)


def _converted(spec: str, value: Any) -> str:
    if isinstance(value, Tensor) and value.is_symbolic:
        return gap_mark(Gap(spec, False, kind_of(value), percent=True), resolve(value))
    if not _staged(value):
        return spec % (value,)
    pieces, tensors = pieces_of(repr_(value) if spec[-1] == "r" else value)
    if not tensors:  # those of an exception that its text leaves out
        return (spec[:-1] + "s") % (pieces[0] if pieces else "",)
    return gap_mark(
        Gap(spec[:-1] + "s", False, "number", Text(tuple(pieces), ""), (), True), *tensors
    )


# --- the method format ----------------------------------------------------------------------------


class _Formatter(string.Formatter):
    """Formats as the method does; a container with symbolic tensors in it is one text."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return value if conversion is None else shown(value, conversion)

    def format_field(self, value: Any, spec: str) -> Any:
        if not spec and texts.has_symbols(value):
            return shown(value, "s")
        return format(value, spec)


def formatted(template: str, /, *args: Any, **kwargs: Any) -> Any:
    """`template.format(...)`."""
    return _formatted(template, args, kwargs)


def _formatted(template: str, args: Any, values: Mapping[str, Any]) -> Any:
    if not any(map(_staged, (*args, *values.values()))):
        return text(template.format(*args, **values))
    try:
        whole = text(_Formatter().vformat(texts.exact(template), args, values))
    except (LookupError, ValueError):
        template.format(*args, **values)  # says it in Python's words
        raise
    texts.expect_use(whole, False)  # the formatter keeps none
    return whole


def formatted_map(template: str, values: Mapping[str, Any], /) -> Any:
    """`template.format_map(values)`."""
    return _formatted(template, (), values)


OVERLOADS.update({str.format: formatted, str.format_map: formatted_map})

# --- repr -----------------------------------------------------------------------------------------


def repr_(value: Any) -> Any:
    """The built-in repr, called as a value."""
    if isinstance(value, Tensor) and value.is_symbolic:
        return mark(value, as_repr=True)
    return text(texts.shown_to_user(builtins.repr, texts._marked(value)))


def ascii_(value: Any) -> Any:
    """The built-in ascii."""
    if not _staged(value):
        return ascii(value)
    shown = texts.exact(repr_(value))
    return text(
        "".join(c if c in (OPEN, CLOSE) else c if c.isascii() else ascii(c)[1:-1] for c in shown)
    )


def _asked(tensor: Tensor) -> str | None:
    """The repr of a symbolic tensor is a mark where user code asks for it."""
    return mark(tensor, as_repr=True) if texts.asked_by_user(3) else None


operators.set_repr_hook(_asked)

# --- integers in other bases ----------------------------------------------------------------------


def _in_base(function: Any, spec: str) -> Callable[[Any], Any]:
    def shown(number: Any) -> Any:
        if not (isinstance(number, Tensor) and number.is_symbolic):
            return function(number)
        if number.dtype.kind not in "iu" and not (number.dtype.kind == "b" and number.spec.weak):
            raise TypeError(f"'{type_name(number)}' object cannot be interpreted as an integer")
        return mark(number, spec)

    return shown


OVERLOADS.update(
    {
        repr: repr_,
        ascii: ascii_,
        bin: _in_base(bin, "#b"),
        oct: _in_base(oct, "#o"),
        hex: _in_base(hex, "#x"),
    }
)
bin, oct, hex = (OVERLOADS[f] for f in (bin, oct, hex))
