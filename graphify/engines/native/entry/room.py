"""The base class of `graphify.Function`: an object with room for an entry point in machine code.

    class Function(Room): ...

CPython calls an object through the address that stands at a fixed place in it, if the class says
so. `Room` reserves two words: that address, and the table that the entry point works by. Both are
0 at first, and until `vectorcall.py` fills them calls go to `__call__` as with any class. Nothing
here needs LLVM, so that importing graphify does not load it.

`Quick` is what the entry point must know about a trace to run it without Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphify.engines.native.entry import capi

ENTRY, TABLE, SIZE = 16, 24, 32  # words of a Room, and its end


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]


_DEFAULT, _BASETYPE = 1 << 18, 1 << 10
_slots = (_Slot * 1)(_Slot(0, None))
_spec = _Spec(b"graphify.Room", SIZE, 0, _DEFAULT | _BASETYPE, _slots)  # CPython may keep the name


def _make_room() -> type:
    if not capi.is_cpython() or object.__basicsize__ != ENTRY:
        return object
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(
        ("PyType_FromSpec", ctypes.pythonapi)
    )
    room: type = make(ctypes.byref(_spec))
    return room


if TYPE_CHECKING:

    class Room:
        """An object with two words that CPython knows nothing of."""

else:
    Room = _make_room()


@dataclass(frozen=True, slots=True)
class Read:
    """Where an object is found at each call.

    Attributes:
        kind: "argument", position `key` (keyword arguments follow the positional ones, and then
            come the elements of `Quick.opened`); "element", the same for what no caller passes;
            "fixed", the object `holder`; "item", the value of `key` in the dict `holder`; "word",
            the object whose address stands at the address `key`, in memory that `holder` keeps.
    """

    kind: str
    holder: Any
    key: Any


ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "ABSENT"})()


@dataclass(frozen=True, slots=True)
class Word:
    """What stands in a word of memory."""

    value: int


@dataclass(frozen=True, slots=True)
class Same:
    """A trace holds only while the object `expected` is found there (ABSENT: none), or, for a
    Python number, one of the same type and value.

    A `Word` is compared as it is: not everything in memory is the address of an object.
    """

    read: Read
    expected: Any


@dataclass(frozen=True, slots=True)
class Input:
    """An array parameter.

    Attributes:
        read: where it is.
        kind: class of the object there, if it is not an np.ndarray; float, int, complex and the
            classes of NumPy's scalars for numbers that stand for arrays without axes.
        in_order: whether it must lie in memory in C order.
        scattered: whether it did not in the call that was described.
    """

    read: Read
    kind: type
    in_order: bool = False
    scattered: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A container: its elements have positions, as arguments do.

    Attributes:
        read: where it is.
        kind: its class: tuple or a namedtuple, list, dict.
        count: how many elements it must have.
        keys: of a dict, all strings, in order.
    """

    read: Read
    kind: type
    count: int
    keys: tuple[str, ...] = ()


@dataclass(slots=True)
class Quick:
    """A trace as the entry point knows it.

    Attributes:
        count: positional arguments of a call.
        inputs: one per parameter of the graph.
        same: what else must be as it was, arguments that are no arrays included.
        outputs: for each leaf of the result, the graph's result that it is.
        numbers: results of the graph that become Python numbers: float, int or complex for each.
        structure: None for a single leaf, tuple, list, or a function that makes the result of the
            list of leaves.
        names: of the keyword arguments, in order.
        opened: containers that are taken apart, each after the one it is in.
        with_inputs: whether `structure` is called with a second list as well: the arguments that
            are inputs, and then all that was passed. It may give NotImplemented: the call is then
            made by way of Python.
        ask: called at each call of this kind; unless it gives True, the call is made by way of
            Python.
    """

    count: int
    inputs: Sequence[Input]
    same: Sequence[Same]
    outputs: Sequence[int]
    structure: Any
    numbers: Mapping[int, type] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    opened: Sequence[Opened] = ()
    with_inputs: bool = False
    ask: Callable[[], bool] | None = None
