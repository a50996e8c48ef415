"""Which nodes cannot fail when the graph runs: only those may run where the program would not.

    cannot_fail(node)      # True: exp(x). False: x[i], an int power, a reshape to an unknown size

Also the questions about shapes that such answers are made of. Answers are cautious: True is a
proof, False may only mean that nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphify.ir.graph import Node
from graphify.ir.sizes import Dim, Shape, decide_equal, decide_less, not_negative, product
from graphify.ir.types import is_integer


def stretches(dims: Shape, target: Shape) -> bool:
    """Whether broadcasting to `target` needs no check when the graph runs."""
    pairs = zip(reversed(dims), reversed(target), strict=False)
    return len(dims) <= len(target) and all(a == b or a == 1 for a, b in pairs)


def is_range(entry: Any) -> bool:
    """Whether an entry of a slice's key is a range: (start, count, step)."""
    return type(entry) is tuple and entry[0] != "at"


def key_in_range(key: Any, dims: Shape, promised: bool = False) -> bool:
    """Whether every integer of a slice's key is known to be in range.

    Ranges that a program writes are cut to the axis. Ones of ours are not (`promised`): they fit
    where they were recorded, but need not in a place that the program does not get to.
    """
    axis = 0
    for entry in key:
        if entry is None:
            continue
        if not is_range(entry):
            if not _in_range(entry, dims[axis]):
                return False
        elif promised and not _fits(entry, dims[axis]):
            return False
        axis += 1
    return True


def _fits(entry: tuple[Dim, Dim, Dim], dim: Dim) -> bool:
    """Whether a range is known to end within an axis."""
    start, count, step = entry
    if step == 1:
        return not_negative(start) and decide_less(dim, start + count) is False
    return all(_in_range(end, dim) for end in (start, start + (count - 1) * step))


def _in_range(index: Any, dim: Dim) -> bool:
    if type(index) is tuple:  # a traced integer
        return False
    return decide_less(index, 0) is False and decide_less(index, dim) is True


def cannot_fail(node: Node) -> bool:
    """Whether the node's own evaluation can raise nothing, whatever its operands hold."""
    if node.effects or node.specs and node.specs[0].weak and "python" in node.op.extra:
        return False  # Python's integers raise OverflowError where 64 bits do not hold them
    rule = _SAFE.get(node.op.name)
    if rule is not None:
        return rule(node)
    if "ufunc" in node.op.extra or node.op.extra.get("elementwise"):
        return all(stretches(v.spec.shape, node.specs[0].shape) for v in node.inputs)
    return False


def _always(node: Node) -> bool:
    return True


def _safe_reshape(node: Node) -> bool:
    count = product(node.inputs[0].spec.shape)
    return decide_equal(count, product(node.specs[0].shape)) is True


def _safe_broadcast(node: Node) -> bool:
    given, target = node.inputs[0].spec.shape, node.specs[0].shape
    return stretches(given, target) and all(d in given or not_negative(d) for d in target)


def _safe_power(node: Node) -> bool:
    # NumPy refuses integers to negative integer powers.
    shapes = all(stretches(v.spec.shape, node.specs[0].shape) for v in node.inputs)
    return shapes and not is_integer(node.specs[0].dtype)


def _safe_concatenate(node: Node) -> bool:
    axis = node.attrs["axis"]
    first = node.inputs[0].spec.shape
    return all(
        dim == first[a]
        for value in node.inputs
        for a, dim in enumerate(value.spec.shape)
        if a != axis
    )


def _safe_matmul(node: Node) -> bool:
    a, b = (value.spec.shape for value in node.inputs)
    lead = node.specs[0].shape[: max(len(a), len(b)) - 2]
    inner = a[-1] == (b[-2] if len(b) > 1 else b[0])
    return inner and stretches(a[:-2], lead) and stretches(b[:-2], lead)


def _safe_slice(node: Node) -> bool:
    return key_in_range(node.attrs["key"], node.inputs[0].spec.shape, node.in_bounds)


def _safe_update(node: Node) -> bool:
    x, new, *_ = (value.spec.shape for value in node.inputs)
    key = node.attrs["key"]
    if not key_in_range(key, x, node.in_bounds):
        return False
    target = [1 if e is None else e[1] for e in key if e is None or is_range(e)]
    used = sum(entry is not None for entry in key)
    return stretches(new, (*target, *x[used:]))


def _safe_extreme(node: Node) -> bool:
    # NumPy has no maximum of nothing.
    dims = node.inputs[0].spec.shape
    return all(isinstance(dims[a], int) and dims[a] for a in node.attrs["axes"])


def _safe_iota(node: Node) -> bool:
    return not_negative(node.attrs["length"])


def _safe_convolution(node: Node) -> bool:
    # Channels and lengths that are known have been compared already.
    a, b = (value.spec.shape for value in node.inputs)
    lengths = (*node.attrs["size"], *a[1:], *(b[1:] if a[0] == b[0] else b))
    return all(isinstance(dim, int) for dim in lengths)


def _safe_windows(node: Node) -> bool:
    return not_negative(node.attrs["size"])


_SAFE: dict[str, Callable[[Node], bool]] = {
    **dict.fromkeys(("constant", "as_size", "size_value", "cast", "copy"), _always),
    **dict.fromkeys(("failure", "failure_text"), _always),
    **dict.fromkeys(("identity", "stop_gradient", "custom_gradient"), _always),
    **dict.fromkeys(("transpose", "flip", "sum_to", "diagonal", "argsort", "sort"), _always),
    **dict.fromkeys(("reduce_sum", "reduce_prod", "reduce_any", "reduce_all"), _always),
    **dict.fromkeys(("cumsum", "cumprod"), _always),
    "reshape": _safe_reshape,
    "broadcast_to": _safe_broadcast,
    "power": _safe_power,
    "concatenate": _safe_concatenate,
    "matmul": _safe_matmul,
    "slice": _safe_slice,
    "slice_update": _safe_update,
    "reduce_max": _safe_extreme,
    "reduce_min": _safe_extreme,
    "iota": _safe_iota,
    **dict.fromkeys(("convolution", "convolution_input"), _safe_convolution),
    "convolution_kernel": _safe_convolution,
    **dict.fromkeys(("window_sum", "window_spread"), _safe_windows),
}
