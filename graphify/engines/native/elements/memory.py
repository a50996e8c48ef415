"""Elements from memory and back: contiguous runs, strided and indexed lanes, masked edges.

    x = load(f, np.dtype(np.float32), pointer, 16)             # 16 neighbours
    y = gather(f, x.dtype, base, index)                        # base[index[lane]]
    store(f, y, pointer, mask=inside)                          # nothing is written elsewhere

A bool is a byte, true unless zero, written as 0 or 1. Complex numbers are interleaved pairs: two
vector loads and shuffles take them apart. Lanes that a mask leaves out are zero in registers, and
their memory is not touched. Memory is only taken to be aligned to one part.
"""

from __future__ import annotations

from graphify.engines.native.elements.element import Element, part_type, splat
from graphify.engines.native.llvm import BIT, I8, I32, I64, PTR, VOID, Function, Type, V
from graphify.ir.types import BOOL, DType, is_complex

_LINE = 64  # bytes of a cache line, and of the widest register


def memory_type(dtype: DType) -> Type:
    """The scalar type of one part in memory."""
    return I8 if dtype == BOOL else part_type(dtype)


def load(f: Function, dtype: DType, pointer: V, lanes: int, *, mask: V | None = None) -> Element:
    """The element at `pointer` and those that follow it, one per lane."""
    type = memory_type(dtype).of(lanes)
    if is_complex(dtype):
        return Element(dtype, _load_pairs(f, type, pointer, mask))
    return _from_memory(f, dtype, _load(f, type, pointer, mask))


def load_splat(f: Function, dtype: DType, pointer: V, lanes: int) -> Element:
    """The one element at `pointer`, in every lane."""
    return splat(f, load(f, dtype, pointer, 1), lanes)


def store(
    f: Function, x: Element, pointer: V, *, mask: V | None = None, nontemporal: bool = False
) -> None:
    """Write the lanes to the element at `pointer` and those that follow it.

    Args:
        nontemporal: past the caches; the pointer must be aligned to the vector, up to 64 bytes,
            and the caller fences. Ignored with a mask.
    """
    if not is_complex(x.dtype):
        _store(f, _to_memory(f, x), pointer, mask, nontemporal)
        return
    re, im = x.parts
    if x.lanes == 1:
        _store(f, re, pointer, mask, False)
        _store(f, im, f.at(pointer, re.type, 1), mask, False)
        return
    for half, (low, part_mask) in enumerate(_interleaved(f, re, im, mask)):
        at = f.at(pointer, low.type, half)
        _store(f, low, at, part_mask, nontemporal)


def gather(f: Function, dtype: DType, base: V, index: V, mask: V | None = None) -> Element:
    """`base[index]` per lane; the index (i64) counts elements."""
    type = memory_type(dtype).of(index.type.lanes)
    if not is_complex(dtype):
        return _from_memory(f, dtype, _gather(f, type, _address(f, type, base, index), mask))
    address = _address(f, type, base, _doubled(f, index))
    parts = [_gather(f, type, a, mask) for a in (address, _next(f, type, address))]
    return Element(dtype, tuple(parts))


def scatter(f: Function, x: Element, base: V, index: V, mask: V | None = None) -> None:
    """`base[index] = x` per lane; of lanes with one index the last wins."""
    if not is_complex(x.dtype):
        value = _to_memory(f, x)
        _scatter(f, value, _address(f, value.type, base, index), mask)
        return
    re, im = x.parts
    address = _address(f, re.type, base, _doubled(f, index))
    _scatter(f, re, address, mask)
    _scatter(f, im, _next(f, re.type, address), mask)


# --- between register and memory forms ----------------------------------------------------------


def _from_memory(f: Function, dtype: DType, x: V) -> Element:
    if dtype == BOOL:  # any byte but zero is true
        x = f.icmp("ne", x, f.const(x.type, 0))
    return Element(dtype, (x,))


def _to_memory(f: Function, x: Element) -> V:
    if x.dtype == BOOL:
        return f.convert("zext", x.value, I8.of(x.lanes))
    return x.value


# --- one part -----------------------------------------------------------------------------------


def _load(f: Function, type: Type, pointer: V, mask: V | None) -> V:
    if mask is None:
        return f.load(type, pointer, align=type.bytes)
    if type.lanes > 1:
        return f.masked_load(type, pointer, mask, align=type.bytes)
    return _when_loaded(f, type, pointer, mask)


def _when_loaded(f: Function, type: Type, pointer: V, mask: V) -> V:
    """A scalar load under a condition: from a zero of our own where it does not hold."""
    zero = f.alloca(type)
    f.store(f.const(type, 0), zero)
    return f.load(type, f.select(mask, pointer, zero), align=type.bytes)


def _store(f: Function, x: V, pointer: V, mask: V | None, nontemporal: bool) -> None:
    type = x.type
    if mask is None:
        align = min(type.bytes * type.lanes, _LINE) if nontemporal else type.bytes
        extra = f", !nontemporal {_one(f)}" if nontemporal else ""
        f.store(x, pointer, align=align, extra=extra)
    elif type.lanes > 1:
        f.masked_store(x, pointer, mask, align=type.bytes)
    else:
        with f.when(mask):
            f.store(x, pointer, align=type.bytes)


def _one(f: Function) -> str:
    return f.module.metadata("!{i32 1}")


# --- interleaved pairs --------------------------------------------------------------------------


def _load_pairs(f: Function, type: Type, pointer: V, mask: V | None) -> tuple[V, V]:
    """Real and imaginary parts, from two loads of neighbours."""
    lanes = type.lanes
    if lanes == 1:
        return _load(f, type, pointer, mask), _load(f, type, f.at(pointer, type, 1), mask)
    masks = _mask_halves(f, mask, lanes)
    low = _load(f, type, pointer, masks[0])
    high = _load(f, type, f.at(pointer, type, 1), masks[1])
    even = shuffle(f, low, high, [2 * i for i in range(lanes)])
    odd = shuffle(f, low, high, [2 * i + 1 for i in range(lanes)])
    return even, odd


def _interleaved(f: Function, re: V, im: V, mask: V | None) -> list[tuple[V, V | None]]:
    """The two vectors re0 im0 re1 im1 ... with their masks."""
    lanes = re.type.lanes
    order = [i // 2 + (lanes if i % 2 else 0) for i in range(2 * lanes)]
    halves = [shuffle(f, re, im, part) for part in (order[:lanes], order[lanes:])]
    return list(zip(halves, _mask_halves(f, mask, lanes), strict=True))


def _mask_halves(f: Function, mask: V | None, lanes: int) -> tuple[V | None, V | None]:
    """A mask of elements as two masks of parts."""
    if mask is None:
        return None, None
    doubled = [i // 2 for i in range(2 * lanes)]
    return shuffle(f, mask, mask, doubled[:lanes]), shuffle(f, mask, mask, doubled[lanes:])


def shuffle(f: Function, a: V, b: V, order: list[int]) -> V:
    """The lanes `order` of the vector `a` followed by `b`."""
    type = a.type.of(len(order))
    picks = ", ".join(f"i32 {i}" for i in order)
    return f.op(type, f"shufflevector {a}, {b}, <{len(order)} x i32> <{picks}>")


# --- indexed lanes ------------------------------------------------------------------------------


def _address(f: Function, type: Type, base: V, index: V) -> V:
    text = f"getelementptr {type.scalar}, {base}, {index}"
    return f.op(PTR.of(index.type.lanes), text)


def _next(f: Function, type: Type, address: V) -> V:
    text = f"getelementptr {type.scalar}, {address}, i64 1"
    return f.op(address.type, text)


def _doubled(f: Function, index: V) -> V:
    return f.shl(index, f.const(index.type, 1))


def _gather(f: Function, type: Type, address: V, mask: V | None) -> V:
    if type.lanes == 1:
        return _load(f, type, address, mask)
    name = f"llvm.masked.gather.{type.suffix}.{address.type.suffix}"
    mask = mask or f.const(BIT.of(type.lanes), True)
    f.module.declare(name, type, [address.type, I32, mask.type, type])
    text = f"call {type} @{name}({address}, i32 {type.bytes}, {mask}, {type} zeroinitializer)"
    return f.op(type, text)


def _scatter(f: Function, x: V, address: V, mask: V | None) -> None:
    if x.type.lanes == 1:
        _store(f, x, address, mask, False)
        return
    name = f"llvm.masked.scatter.{x.type.suffix}.{address.type.suffix}"
    mask = mask or f.const(BIT.of(x.type.lanes), True)
    f.module.declare(name, VOID, [x.type, address.type, I32, mask.type])
    f.line(f"call void @{name}({x}, {address}, i32 {x.type.bytes}, {mask})")


def lane_indices(f: Function, start: V, stride: V | int, lanes: int) -> V:
    """`start + lane * stride` as i64, for strided gathers."""
    step = V(I64, str(stride)) if isinstance(stride, int) else stride
    if lanes == 1:
        return start
    offsets = f.mul(f.iota(I64.of(lanes)), f.splat(step, lanes))
    return f.add(f.splat(start, lanes), offsets)
