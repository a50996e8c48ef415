"""Exceptions of a staged `try` as values: which ones may be pending, and what they hold.

    thrown = Thrown([Alternative.of(MyError("too large", x))])    # a raise that was reached
    pending(thrown).catch(lambda: MyError, True)                  # what a handler sees of it

An exception is taken apart into what stays the same in every run (its class, its strings) and the
run-time values in its arguments, its fields and its message. So branches and loops carry it like
any other value, and the handler gets an exception that holds the values of where it was raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from graphify import tree
from graphify.autograph.operators import texts
from graphify.autograph.operators.choice import Choice, possible
from graphify.autograph.operators.conditions import is_staged, truth
from graphify.autograph.operators.state import same_static
from graphify.autograph.operators.undefined import Maybe, Undefined
from graphify.autograph.operators.unknown import Unknown
from graphify.errors import REFUSALS, GraphifyError, InternalError, TraceError
from graphify.ir.context import current_builder
from graphify.ir.tensor import Tensor
from graphify.location import KnownLoc, LazyLoc, SourceLoc, here, is_internal
from graphify.ops import elementwise
from graphify.ops.effects import takes
from graphify.ops.failing import raw

Decide = Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]
NO_EXCEPTION = "exceptions must derive from BaseException"


# --- exceptions taken apart -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """A leaf of an exception that is the same in every run."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and same_static(self.value, other.value)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A leaf that is a text with gaps for run-time values."""

    pieces: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """What stays of an exception when its run-time values are taken out."""

    kind: type[BaseException]
    treedef: tree.TreeDef
    leaves: tuple[Kept | Pieces | None, ...]  # None: the next run-time value
    hidden: frozenset[str] = frozenset()  # fields that stay in the callee that raises it


class Alternative:
    """An exception that may be pending, and the staged truth value that says whether it is."""

    def __init__(
        self,
        form: Form,
        values: Sequence[Any],
        flag: Any = True,
        original: BaseException | None = None,
        location: LazyLoc | None = None,
    ) -> None:
        self.form, self.values, self.flag = form, list(values), flag
        self.original, self.location = original, location

    @classmethod
    def of(cls, error: BaseException, location: LazyLoc | None = None) -> Alternative:
        """An exception that was made while tracing."""
        error = raw(error)
        cause = error.__cause__
        parts = (error.args, texts.own_fields(error), None if cause is None else cls.of(cause))
        leaves, treedef = tree.flatten(tree.map_structure(_taken_apart, parts))
        kept: list[Kept | Pieces | None] = []
        values: list[Any] = []
        for leaf in leaves:
            if isinstance(leaf, Tensor) and leaf.is_symbolic:
                kept.append(None)
                values.append(leaf)
            elif isinstance(leaf, str) and texts.has_symbols(leaf):
                pieces, tensors = texts.pieces_of(leaf)
                kept.append(Pieces(tuple(pieces)))
                values += tensors
            else:
                kept.append(Kept(leaf))
        form = Form(type(error), treedef, tuple(kept))
        return cls(form, values, True, error if not values else None, location)

    def where(self, flag: Any) -> Alternative:
        """The same exception, pending only if another truth value holds, too."""
        both = flag if self.flag is True else self.flag if flag is True else _and(flag, self.flag)
        return Alternative(self.form, self.values, both, self.original, self.location)

    def alone(self) -> Alternative:
        """The same exception where it is known to be pending."""
        return Alternative(self.form, self.values, True, self.original, self.location)

    def build(self) -> BaseException:
        """The exception again, with the run-time values as they are here."""
        if self.original is not None:
            return self.original
        values = iter(self.values)
        leaves = [_leaf(kept, values) for kept in self.form.leaves]
        args, fields, cause = _put_together(self.form.treedef.unflatten(leaves))
        error = self.form.kind.__new__(self.form.kind, *args)
        error.args = tuple(args)
        vars(error).update(fields)
        if self.form.hidden:
            vars(error)["hidden_fields"] = self.form.hidden
        error.__cause__ = cause
        return error


def _taken_apart(leaf: Any) -> Any:
    """An exception within another one."""
    inner = isinstance(leaf, BaseException) and texts.has_symbols(leaf)
    return Alternative.of(leaf) if inner else leaf


def _put_together(parts: Any) -> Any:
    leaves, treedef = tree.flatten(parts, is_leaf=lambda part: isinstance(part, Alternative))
    built = [leaf.build() if isinstance(leaf, Alternative) else leaf for leaf in leaves]
    return treedef.unflatten(built)


def _leaf(kept: Kept | Pieces | None, values: Any) -> Any:
    if kept is None:
        return next(values)
    if isinstance(kept, Kept):
        return kept.value
    count = sum(takes(piece) for piece in kept.pieces if not isinstance(piece, str))
    return texts.joined(kept.pieces, [next(values) for _ in range(count)])


def _and(a: Any, b: Any) -> Any:
    return elementwise.logical_and(truth(a), truth(b))


def refuse_hidden(error: BaseException, name: str | None = None) -> None:
    """Refuse to read a field that stays in the callee that raises an exception, or to raise it
    again without its fields."""
    hidden = sorted(vars(error).get("hidden_fields", ()))
    if hidden and (name is None or name in hidden):
        raise TraceError(
            f"the field '{name or hidden[0]}' of a {type(error).__name__} that a call raises does "
            "not come out of the call",
            location=here(),
            remedy="write the raise statement within the try statement, or let the call return "
            "the value",
        )


class Thrown:
    """The exceptions one of which is pending."""

    def __init__(self, alternatives: Sequence[Alternative]) -> None:
        self.alternatives = list(alternatives)


class _Fixed:
    """What an alternative is besides its values: a key of the tree."""

    def __init__(self, alternative: Alternative) -> None:
        self.form = alternative.form
        self.original, self.location = alternative.original, alternative.location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fixed) and self.form == other.form

    def __hash__(self) -> int:
        return hash(self.form.kind)


def _open(alternative: Any) -> tuple[tuple[Any, ...], list[Any]]:
    return (_Fixed(alternative),), [alternative.flag, *alternative.values]


def _build(keys: tuple[Any, ...], children: list[Any]) -> Alternative:
    (fixed,), (flag, *values) = keys, children
    return Alternative(fixed.form, values, flag, fixed.original, fixed.location)


tree.register(Alternative, _open, _build)
tree.register(
    Thrown, lambda thrown: ((), list(thrown.alternatives)), lambda keys, children: Thrown(children)
)

# --- handlers -------------------------------------------------------------------------------------


class Pending:
    """What a `try` statement has to decide on; handlers take from it in turn."""

    def __init__(self, alternatives: list[Alternative]) -> None:
        self.rest = alternatives

    def catch(self, kinds: Callable[[], Any], named: bool) -> Catch:
        """What a handler of some classes catches; `named`: it looks at the exception."""
        wanted = kinds() if self.rest else ()
        matches = [a for a in self.rest if _matches(a, wanted)]
        rest = [a for a in self.rest if not any(a is m for m in matches)]
        caught = Catch(matches, not rest, named)
        self.rest = rest
        return caught

    def thrown(self) -> Thrown:
        """Everything that no handler took, for the statement around; a refusal at once."""
        for alternative in self.rest:
            if (refusal := _refusal(alternative)) is not None:
                raise refusal
        return Thrown(self.rest)


def pending(*errors: Any) -> Pending:
    """What the exceptions of a `try` body are when it is over. A refusal to go on with the trace is
    the only one: it may have left the body from within a branch, with values of that."""
    alternatives = [a for error in errors for a in _alternatives(error)]
    return Pending([a for a in alternatives if _refusal(a)] or alternatives)


def _refusal(alternative: Alternative) -> BaseException | None:
    refused = isinstance(alternative.original, REFUSALS) and current_builder() is not None
    return alternative.original if refused else None


def _alternatives(error: Any) -> list[Alternative]:
    match error:
        case Undefined():
            return []
        case Maybe(value=value, bound=bound):
            return [a.where(bound) for a in _alternatives(value)]
        case Choice(tag=tag, alternatives=values):
            return [
                a.where(elementwise.equal(tag, k))
                for k, value in enumerate(values)
                for a in _alternatives(value)
            ]
        case Thrown(alternatives=values):
            return [a for value in values for a in _alternatives(value)]
    assert isinstance(error, Alternative), error
    return [error] if error.flag is not False else []


def _matches(alternative: Alternative, wanted: Any) -> bool:
    """Whether an `except` clause of some classes catches an exception. It catches no refusal to go
    on with the trace, unless it asks for errors of graphify: plain Python might not have failed."""
    kind = alternative.form.kind
    if issubclass(kind, Unknown):
        return False
    refused = issubclass(kind, REFUSALS) and current_builder() is not None
    if refused and not any(issubclass(k, GraphifyError) for k in classes(wanted)):
        return False
    if wanted is None:
        return True
    if alternative.original is not None:
        return _python_matches(alternative.original, wanted)
    return any(issubclass(kind, k) for k in classes(wanted))


def _python_matches(error: BaseException, wanted: Any) -> bool:
    """Python's own answer, complaints about what is no class included."""
    trace, context = error.__traceback__, error.__context__
    try:
        raise error
    except wanted:
        return True
    except BaseException as other:
        if other is not error:
            raise
        return False
    finally:
        error.__traceback__, error.__context__ = trace, context


def classes(kinds: Any) -> tuple[type, ...]:
    """The classes in an `except` clause, whose tuples may be nested; what is no class is Python's
    to complain about."""
    if isinstance(kinds, tuple):
        return tuple(kind for item in kinds for kind in classes(item))
    return (BaseException,) if kinds is None else (kinds,) if isinstance(kinds, type) else ()


class Catch:
    """Whether a handler is entered: the test of an `if` that runs its body for each exception."""

    def __init__(self, matches: list[Alternative], certain: bool, named: bool) -> None:
        self.matches, self.certain = matches, certain
        if not named and len(matches) > 1:
            self.matches = [_merged(matches)]
        self.current: Alternative | None = None

    @property
    def exception(self) -> BaseException:
        """What the handler handles."""
        assert self.current is not None
        return self.current.build()

    def __bool__(self) -> bool:
        return bool(self.matches)

    def branch(self, decide: Decide, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """`yes` for the exceptions that are caught, each for itself, else `no`."""
        return self._from(0, decide, yes, no)

    def _from(self, k: int, decide: Decide, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        if k == len(self.matches):
            return no()
        found = self.matches[k]
        last = self.certain and k == len(self.matches) - 1
        if last or not is_staged(found.flag):
            return self._handle(found, yes)
        others = lambda: self._from(k + 1, decide, yes, no)
        return decide(found.flag, lambda: self._handle(found, yes), others)

    def _handle(self, found: Alternative, body: Callable[[], Any]) -> Any:
        self.current = found
        if found.original is None or current_builder() is not None:
            return body()
        trace = found.original.__traceback__
        try:
            raise found.original
        except BaseException:
            found.original.__traceback__ = trace
            return body()  # so that sys.exc_info() and __context__ are Python's


def _merged(matches: list[Alternative]) -> Alternative:
    """One alternative that stands for several, of which only whether they are pending matters."""
    flag = matches[0].flag
    for other in matches[1:]:
        flag = True if True in (flag is True, other.flag is True) else _or(flag, other.flag)
    first = matches[0]
    return Alternative(first.form, first.values, flag, first.original, first.location)


def _or(a: Any, b: Any) -> Any:
    return elementwise.logical_or(truth(a), truth(b))


# --- raising --------------------------------------------------------------------------------------


def thrown(exception: Any, cause: Any = None) -> Thrown:
    """A raise statement within a `try`; at once where nothing is traced."""
    if isinstance(exception, Catch):  # a bare `raise`
        assert exception.current is not None
        if current_builder() is not None:
            return Thrown([exception.current.alone()])
        exception = exception.exception
    if type(exception) is Choice:
        return _one_of(exception, cause)
    if type(cause) is Choice:
        raise TraceError(
            "only the run knows the cause of an exception that a try statement may catch",
            location=here(),
            remedy="raise it in each branch of an if statement",
        )
    error = exception() if isinstance(exception, type) else exception
    cause = cause() if isinstance(cause, type) else cause
    if current_builder() is None or not isinstance(error, BaseException):
        throw(error, cause)
    if cause is not None:
        error.__cause__ = cause
    return Thrown([Alternative.of(error, here())])


def _one_of(choice: Choice, cause: Any) -> Thrown:
    """What a raise statement raises that is given one of several exceptions, or None."""
    left, found = possible(choice), []
    for k in left:
        one = choice.alternatives[k]
        parts = thrown(TypeError(NO_EXCEPTION) if one is None else one, cause).alternatives
        flag = True if len(left) == 1 else elementwise.equal(choice.tag, k)
        found += [part if flag is True else part.where(flag) for part in parts]
    return Thrown(found)


def caught(error: BaseException, passed_on: bool = False) -> Thrown:
    """What Python itself has raised in the body of a `try`.

    Args:
        passed_on: no handler is asked, as in `finally`. A jump out of that may drop an exception,
            but not a refusal to go on with the trace.
    """
    builder = current_builder()
    tracing = builder is not None
    refused = passed_on and isinstance(error, REFUSALS)
    stops = tracing and (refused or isinstance(error, KeyboardInterrupt))  # Ctrl-C ends the trace
    if stops or isinstance(error, Unknown):
        raise error
    if builder is not None:
        builder.outermost.has_caught = True
        place = getattr(error, "location", None)
        location = KnownLoc(place) if isinstance(place, SourceLoc) else here()
        return Thrown([Alternative.of(_checked(error), location)])
    form = Form(type(error), tree.LEAF, ())
    return Thrown([Alternative(form, (), True, error)])


_NO_INDEX = "only integers, slices"  # as NumPy begins; it drops what an index says of itself


def _checked(error: BaseException) -> BaseException:
    """An exception, unless graphify itself is broken, or NumPy has been given an index that stands
    for several: no handler is to hide that."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    own = trace is not None and is_internal(trace.tb_frame.f_code.co_filename)
    if type(error) is NameError and own:
        raise InternalError(str(error)) from error
    if type(error) is IndexError and not own and str(error).startswith(_NO_INDEX):
        raise TraceError(
            "an array that only tracing knows gets an index that is none, or one of several kinds",
            location=here(),
            remedy="make an array of the function's own of it, np.array(table), or an int of the "
            "index, int(k)",
        ) from error
    return error


def throw(error: Any, cause: Any = None) -> NoReturn:
    if cause is None:
        raise error
    raise error from cause
