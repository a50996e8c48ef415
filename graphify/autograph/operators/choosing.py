"""What is done to a choice is done to the alternative that holds.

    best = None if s > 0 else x
    best + 1                 # where best is None: TypeError, when the run gets there; else x + 1
    best is None             # a staged truth value

`over` runs an operation under a staged `if` for each alternative that is possible. Imported for its
effect: it gives `Choice` Python's operators. `choosing` makes a built-in function do the same.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, starmap
from typing import Any

import numpy as np

from graphify import tree
from graphify.autograph.operators import listed, texts
from graphify.autograph.operators.branches import if_, if_exp
from graphify.autograph.operators.choice import (
    MOST,
    Choice,
    Facts,
    Verdict,
    has_choice,
    holds_one_of,
    possible,
)
from graphify.autograph.operators.conditions import decider, is_staged, set_truth, truth
from graphify.autograph.operators.heap import Names, State
from graphify.autograph.operators.inplace import AUGMENTED
from graphify.autograph.operators.sharing import ALIAS
from graphify.autograph.operators.state import (
    Unstageable,
    can_hold_each_other,
    carried_spec,
    fit,
    is_dynamic,
    join_dtype,
    joinable,
)
from graphify.autograph.operators.undefined import UNREACHABLE
from graphify.autograph.operators.unknown import Ended
from graphify.errors import SpecError, TraceError
from graphify.ir.sharing import is_shared
from graphify.ir.tensor import Tensor
from graphify.ir.types import BOOL, Spec, is_integer
from graphify.ir.wrapping import as_tensor, set_index
from graphify.location import here
from graphify.ops import core, effects, elementwise
from graphify.ops.convert import set_conversion
from graphify.ops.effects import Gap, Text
from graphify.ops.operators import set_spread
from graphify.ops.slices import FAR
from graphify.tracing import apart, identity, lists
from graphify.tracing.capture import frame
from graphify.tracing.tracebacks import is_users, place_of


def over(choice: Choice, function: Callable[[Any], Any]) -> Any:
    """`function` of the alternative that holds."""
    left = possible(choice)
    return _over(choice, left, function if len(left) == 1 else _at_run(function))


def _at_run(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What arrays cannot hold is refused when the run finds it, if it is None: it may never be."""

    def guarded(value: Any) -> Any:
        try:
            result = function(value)
            return as_tensor(result) if isinstance(result, np.ndarray) else result
        except SpecError as error:
            if value is not None:
                raise
            effects.raise_at(error, place_of(error), is_users(error))
            return UNREACHABLE

    return guarded


def _over(choice: Choice, left: Sequence[int], function: Callable[[Any], Any]) -> Any:
    first = choice.alternatives[left[0]]
    if len(left) == 1:
        return function(first)
    return if_exp(
        holds_one_of(choice, left[:1]),
        lambda: function(first),
        lambda: _over(choice, left[1:], function),
    )


def over_state(choice: Choice, run: Callable[..., Any], state: State, names: Names) -> State:
    """`run(alternative, *state)`, which gives the state, for the alternative that holds."""
    *others, last = possible(choice)
    final: Any = choice.alternatives[last]

    def rest(left: Sequence[int], state: State) -> State:
        if not left:
            given: State = run(final, *state)
            return given
        value = choice.alternatives[left[0]]
        return if_(
            holds_one_of(choice, left[:1]),
            lambda *s: run(value, *s),
            lambda *s: rest(left[1:], s),
            state,
            names,
        )

    return rest(others, state)


def decide(choice: Choice, test: Callable[[Any], Any]) -> Any:
    """A test of the alternative that holds: a truth value that tells which those may be."""
    left = possible(choice)
    known = {i: _known(choice.alternatives[i], test) for i in left}
    if None not in known.values():
        return holds_one_of(choice, [i for i in left if known[i]])
    answer = over(choice, test)
    if not is_staged(answer) or isinstance(answer, (Verdict, Choice)):
        return answer
    return Verdict(
        answer, *(_told(choice, [i for i in left if known[i] is not w]) for w in (False, True))
    )


def _told(choice: Choice, left: Sequence[int]) -> Facts:
    return ((choice.tag._value, frozenset(left)),)


def _known(value: Any, test: Callable[[Any], Any]) -> bool | None:
    """The answer for an alternative that needs no run."""
    try:
        with frame("trial"):
            answer = test(value)
    except (Exception, Ended):
        return None  # as an error of the path that takes it
    return answer if isinstance(answer, bool) else None


def is_(a: Any, b: Any) -> Any:
    """`a is b`."""
    a, b = listed.identity(a), listed.identity(b)
    if isinstance(b, (Choice, Tensor)) and not isinstance(a, Choice):
        a, b = b, a
    if isinstance(b, bool) and isinstance(a, Tensor) and a.spec.weak and a.dtype == BOOL:
        return a if b else not_true(a)  # there is but one True
    if a is b or not isinstance(a, Choice):
        _check_identity(a, b)
        return a is b
    if isinstance(b, bool):
        return decide(a, lambda value: is_(value, b))
    for i in possible(a):
        _check_identity(a.alternatives[i], b)
    return holds_one_of(a, [i for i in possible(a) if _is_one(a.alternatives[i], b)])


def _check_identity(a: Any, b: Any) -> None:
    """Refuse to say whether two arrays are one where only the run knows."""
    a = listed.identity(a)
    if a is not b and isinstance(b, Choice) or _may_be_one(a, b):
        raise Unstageable(
            "`is` compares things of which only the run knows whether they are one",
            location=here(),
            remedy="compare with None, or keep a flag that says which it is",
        )


def _may_be_one(a: Any, b: Any) -> bool:
    if a is b or not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return identity.may_be_one(a, b)
    seen = any(t._view is not None and t._view[0] is ALIAS for t in (a, b))
    return seen or any(is_shared(t) for t in (a, b) if t._base is None)


def not_true(value: Tensor) -> Tensor:
    return core.cast(elementwise.logical_not(value), dtype=BOOL, weak=True)


def _is_one(a: Any, b: Any) -> bool:
    a = listed.identity(a)
    return a is b or isinstance(a, str) and isinstance(b, str) and a == b


def is_choice(value: Any) -> bool:
    return type(value) is Choice


def choosing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that works on the alternatives of its arguments."""

    @functools.wraps(function)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        return apply(function, args, kwargs)

    return chosen


def apply(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`, each argument being the alternative that holds."""
    for position, argument in enumerate(args):
        if type(argument) is Choice:
            before, after = args[:position], args[position + 1 :]
            return over(argument, lambda a: apply(function, (*before, a, *after), kwargs))  # noqa: B023
    for name, argument in kwargs.items():
        if type(argument) is Choice:
            return over(argument, lambda a: apply(function, args, {**kwargs, name: a}))  # noqa: B023
    return function(*args, **kwargs)


def has_choices(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return any(type(a) is Choice for a in args) or any(type(a) is Choice for a in kwargs.values())


# --- elements of lists --------------------------------------------------------------------------

MOST_ELEMENTS = 16


def _element(values: Any, key: Any) -> Any:
    """`names[k]`: an element of a list of texts, functions and the like is one of several, and so
    is a container that will be changed (see apart.py)."""
    if not isinstance(key, slice) and _are_many_lists(values) and values.place is not None:
        error = apart.instead_of_lists(_too_many(values), values.place)
        if (apart.is_kept() or not _are_alike(list(values))) and apart.helps(error):
            raise error
    if isinstance(key, slice) or not _is_one_of(list(values)):
        try:
            return lists.growing(values)[key]
        except Unstageable as error:
            if apart.can_change(values):
                apart.instead_of(error, [here()])
            raise
    if len(values) > MOST_ELEMENTS or key.ndim or key.dtype.kind not in "iu":
        raise _refused(f"is looked up in a list of {len(values)} by {key.spec}")
    inside = elementwise.logical_and(key >= -len(values), key < len(values))
    missing = effects.Raise(IndexError, ("list index out of range",))
    effects.assert_(inside, exception=missing)
    place = elementwise.where(key < 0, key + len(values), key)
    return Choice(core.cast(place, dtype=np.dtype(np.int64), weak=True), list(values), key)


def _are_many_lists(values: Any) -> bool:
    """Whether elements are so many lists that they are better kept as the rows of a buffer."""
    if not isinstance(values, lists.List) or len(values) <= MOST:
        return False
    return all(isinstance(value, lists.List) for value in values)


def _too_many(values: list[Any]) -> TraceError:
    return TraceError(
        f"one of {len(values)} containers or arrays in a list is picked by an index that only "
        f"the run knows, and changes or has no elements yet; {MOST_ELEMENTS} are the most",
        location=here(),
        remedy="keep what they hold in one array, with an axis for the index",
    )


def _is_one_of(values: list[Any]) -> bool:
    """Whether one element is told from the others by branches, and not looked up in a stack."""
    if not _are_alike(values) or any(isinstance(value, listed.Listed) for value in values):
        return True
    kept = apart.is_kept() and apart.can_change(values)
    if kept and len(values) > MOST_ELEMENTS:
        raise _too_many(values)
    return kept or len(values) <= MOST_ELEMENTS and _may_differ(values)


def _are_alike(values: list[Any]) -> bool:
    """Whether elements can be stacked: numbers or arrays of one rank, in containers of one form."""
    taken = [tree.flatten(value) for value in values]
    first = taken[0] if taken else ([], tree.LEAF)
    return all(
        treedef == first[1]
        and all(map(is_dynamic, leaves))
        and all(map(joinable, first[0], leaves))
        for leaves, treedef in taken
    )


def _may_differ(values: list[Any]) -> bool:
    """Whether there are lists of run-time length, which may have room for more than each other."""
    if not any(isinstance(value, lists.List) and lists.is_grown(value) for value in values):
        return False
    shapes = {tuple(buffer.dims for buffer in value.grown.buffers) for value in values}
    return len(shapes) > 1


# --- Python's operators -------------------------------------------------------------------------

_BINARY = ("add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift").split()
_COMPARISONS = "eq ne lt le gt ge".split()
_UNARY = "neg pos abs invert".split()


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: apply(function, (self, other), {})


def _in_place(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """An operation that changes containers and arrays; a choice of such stays what it is."""

    def only_change(value: Any, other: Any) -> None:
        function(value, other)

    def change(self: Choice, other: Any) -> Any:
        if not all(_changes_in_place(self.alternatives[i]) for i in possible(self)):
            return apply(function, (self, other), {})
        apply(only_change, (self, other), {})
        return self

    return change


def _changes_in_place(value: Any) -> bool:
    return isinstance(value, (list, dict, set)) or isinstance(value, Tensor) and value.ndim > 0


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda self, other: over(self, lambda value: function(other, value))


def _comparison(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def compare(self: Choice, other: Any) -> Any:
        if type(other) is Choice:
            return over(other, lambda value: compare(self, value))
        return decide(self, lambda value: function(value, other))

    return compare


def _truth(choice: Choice) -> Any:
    def of(value: Any) -> Any:
        value = decider(value)
        return truth(value) if is_staged(value) else bool(value)

    return decide(choice, of)


def _items(choice: Choice) -> Iterator[Any]:
    """For unpacking: the items, where all alternatives have equally many."""
    lengths = {_length(choice.alternatives[i]) for i in possible(choice)}
    (length,) = lengths if len(lengths) == 1 else (None,)
    if length is None:
        raise _refused("is iterated, and has not one length whichever kind it is")
    return (over(choice, lambda value: list(value)[i]) for i in range(length))  # noqa: B023


def _length(value: Any) -> int | None:
    if isinstance(value, Tensor):
        return value.dims[0] if value.ndim and isinstance(value.dims[0], int) else None
    return len(value) if hasattr(value, "__len__") else None


def _attribute(choice: Choice, name: str) -> Any:
    if name.startswith("__"):  # Python's protocols: those that choices have are below
        raise AttributeError(name)
    return over(choice, lambda value: getattr(value, name))


def _text(choice: Choice, spec: str = "", as_repr: bool = False) -> str:
    """The mark of the text: of what tracing knows, or of what the run has."""
    options: list[Any] = []
    values: list[Tensor] = []
    for alternative in choice.alternatives:
        if texts.has_symbols(alternative) or is_staged(alternative):
            show = repr if as_repr else lambda value: format(value, spec)
            pieces, inside = texts.pieces_of(texts.shown_to_user(show, alternative))
            options.append(Text(tuple(pieces), ""))
            values += inside
        elif alternative is None or isinstance(alternative, (bool, int, float, str)):
            options.append(alternative)
        else:
            raise _refused("becomes a text")
    gap = Gap(spec, as_repr, "choice", options=tuple(options))
    return texts.gap_mark(gap, choice.tag, *values)


def _refused(what: str) -> Unstageable:
    return Unstageable(
        f"a value whose kind only the run tells {what}",
        location=here(),
        remedy="ask for its kind first, as in `if value is None: ... else: ...`",
    )


def _refusal(what: str) -> Callable[..., Any]:
    def refuse(choice: Choice, *args: Any) -> Any:
        raise _refused(what)

    return refuse


def _as_tensor(choice: Choice) -> Tensor:
    """Where only an array will do."""
    from graphify.ir.wrapping import as_tensor

    result: Tensor | Choice = joined(over(choice, as_tensor))
    if isinstance(result, Choice):
        raise _refused("is taken for one array")
    return result


def _index(choice: Choice) -> Any:
    """Where an integer of any class will do: Python's int."""
    if not all(_is_integer(choice.alternatives[i]) for i in possible(choice)):
        return choice
    return over(choice, _whole)


def _is_integer(value: Any) -> bool:
    spec = carried_spec(value) if is_dynamic(value) else Spec((), BOOL)
    return is_integer(spec.dtype) and not spec.ndim


def _whole(number: Any) -> Tensor:
    number = as_tensor(number)
    if number.dtype == np.uint64:
        number = elementwise.minimum(number, np.uint64(FAR))  # all that is farther is out of range
    return core.cast(number, dtype=np.dtype(np.int64), weak=True)


def joined(value: Any) -> Any:
    """A value with choices of numbers, or of arrays of one rank, as arrays that can hold each of
    them, as one that is made of several can."""
    if not has_choice(tree.flatten(value)[1]):
        return value
    leaves, treedef = tree.flatten(value, lambda part: isinstance(part, Choice))
    return treedef.unflatten([_joined(x) if isinstance(x, Choice) else x for x in leaves])


def _joined(choice: Choice) -> Any:
    alternatives = [choice.alternatives[i] for i in possible(choice)]
    if not all(map(is_dynamic, alternatives)):
        return choice
    specs = [carried_spec(each) for each in alternatives]
    alike = len({(spec.ndim, spec.dtype == BOOL) for spec in specs}) == 1
    if not alike or not all(starmap(can_hold_each_other, combinations(alternatives, 2))):
        return choice
    dtype, weak = specs[0].dtype, specs[0].weak
    for spec in specs[1:]:
        dtype, weak = join_dtype(Spec((), dtype, weak), spec)
    return over(choice, lambda each: fit(each, Spec(carried_spec(each).shape, dtype, weak)))


def _install() -> None:
    special: dict[str, Any] = {
        "__getattr__": _attribute,
        "__getitem__": _binary(operator.getitem),
        "__call__": lambda self, *a, **k: over(self, lambda f: f(*a, **k)),
        "__iter__": _items,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "__hash__": _refusal("is used as a key"),
        "__index__": _refusal("is used as an index of a list"),
        "__str__": _text,
        "__format__": _text,
        "marked": lambda choice: _text(choice, as_repr=True),
        "__repr__": lambda choice: (
            _text(choice, as_repr=True)
            if texts.asked_by_user(2)
            else f"<choice of {len(choice.alternatives)}>"
        ),
        "__len__": _refusal("is asked for its length"),
        "__bool__": _refusal("is asked for its truth by Python"),
    }
    for name in _BINARY:
        plain, short = getattr(operator, name), name.rstrip("_")
        special[f"__{short}__"], special[f"__r{short}__"] = _binary(plain), _reflected(plain)
    special |= {f"__{name}__": _comparison(getattr(operator, name)) for name in _COMPARISONS}
    for change in AUGMENTED.values():
        special[f"__{getattr(change, '__name__')}__"] = _in_place(change)  # noqa: B009  # mypy
    for name in _UNARY:
        plain = getattr(operator, name)
        special[f"__{name}__"] = lambda self, plain=plain: over(self, plain)
    for name, method in special.items():
        setattr(Choice, name, method)
    set_truth(Choice, _truth)
    set_conversion(Choice, _as_tensor)
    set_index(Choice, _index)
    set_spread(Choice, over)
    lists.set_element_hook(_element)


def _array_ufunc(self: Choice, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    return apply(getattr(ufunc, method), inputs, kwargs)


def _array_function(self: Choice, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if has_choices(args, kwargs):
        return apply(function, args, kwargs)
    return over_leaves(function, args, kwargs)


def over_leaves(function: Any, args: Any, kwargs: Any) -> Any:
    """Choices inside of lists, as in np.stack([a, b])."""
    leaves, treedef = tree.flatten((args, kwargs), is_leaf=is_choice)

    def run(*leaves: Any) -> Any:
        given, named = treedef.unflatten(leaves)
        return function(*given, **named)

    return apply(run, leaves, {})


_install()
