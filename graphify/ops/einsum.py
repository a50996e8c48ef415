"""Einsum: sums of products over named axes, and its derivatives by algebra of the names.

    einsum(a, b, subscripts="ij,jk->ik")

The attribute is canonical: letters only, no spaces, no ellipsis, the result always spelled out
(`canonical` makes it so). A letter may repeat inside an operand (a diagonal) and be missing from
the result (a sum); an axis of length one broadcasts against the same letter elsewhere.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphify.errors import ShapeError
from graphify.ir.op import defop
from graphify.ir.sizes import Dim, Shape, decide_equal
from graphify.ir.tensor import Tensor
from graphify.ir.types import Spec, is_complex
from graphify.ops import core
from graphify.ops.linalg import common
from graphify.ops.shape import iota, transpose

# --- subscripts -----------------------------------------------------------------------------------


def canonical(subscripts: str, ranks: Sequence[int]) -> str:
    """Subscripts without spaces or ellipses and with an explicit result.

    Raises:
        ValueError: malformed subscripts, or ones that do not fit the operands' ranks.
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(
            f"einsum: argument 1 'subscripts': expected {len(ranks)} terms, one for each operand, "
            f"got {len(terms)} in {subscripts!r}"
        )
    for term in (*terms, right):
        _check_term(term, subscripts)
    unused = [c for c in string.ascii_letters if c not in text]
    widest = max(
        (rank - len(t) + 3 for t, rank in zip(terms, ranks, strict=True) if "..." in t), default=0
    )
    dots = "".join(unused[: max(widest, 0)])
    expanded = [_expand(t, rank, dots, subscripts) for t, rank in zip(terms, ranks, strict=True)]
    if arrow:
        result = right.replace("...", dots)
        if dots and "..." not in right:
            raise ValueError(
                f"einsum: the result of {subscripts!r} must have an ellipsis as its operands do"
            )
    else:
        letters = "".join(expanded)
        result = dots + "".join(
            sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1)
        )
    _check_result(result, expanded, subscripts)
    return ",".join(expanded) + "->" + result


def _check_term(term: str, subscripts: str) -> None:
    letters = term.replace("...", "", 1)
    bad = [c for c in letters if c not in string.ascii_letters]
    if bad:
        raise ValueError(
            f"einsum: argument 1 'subscripts': invalid character {bad[0]!r} in {subscripts!r}; "
            "expected letters, ',', '...' and '->'"
        )


def _expand(term: str, rank: int, dots: str, subscripts: str) -> str:
    letters = term.replace("...", "")
    if "..." in term:
        missing = rank - len(letters)
        if missing < 0:
            raise ValueError(
                f"einsum: {term!r} in {subscripts!r} has more letters than its "
                f"operand has axes ({rank})"
            )
        return term.replace("...", dots[len(dots) - missing :])
    if len(letters) != rank:
        raise ValueError(
            f"einsum: {term!r} in {subscripts!r}: expected {rank} letters, one for each axis"
        )
    return term


def _check_result(result: str, terms: Sequence[str], subscripts: str) -> None:
    known = "".join(terms)
    for letter in result:
        if letter not in known:
            raise ValueError(
                f"einsum: {subscripts!r}: the result has {letter!r}, which no operand has"
            )
        if result.count(letter) > 1:
            raise ValueError(f"einsum: {subscripts!r}: the result has {letter!r} more than once")


def _parts(subscripts: str) -> tuple[list[str], str]:
    left, _, right = subscripts.partition("->")
    return left.split(","), right


def _lengths(terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, Dim]:
    """The length of each letter's axis."""
    lengths: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        own: dict[str, Dim] = {}
        for letter, dim in zip(term, shape, strict=True):
            if decide_equal(own.setdefault(letter, dim), dim) is False:
                raise ShapeError(
                    f"einsum: operand axes {letter!r} of one operand have lengths "
                    f"{own[letter]} and {dim}"
                )
            known = lengths.setdefault(letter, dim)
            if known == 1:
                lengths[letter] = dim
            elif dim != 1 and isinstance(known, int) and isinstance(dim, int) and dim != known:
                raise ShapeError(f"einsum: axes {letter!r} have lengths {known} and {dim}")
            elif isinstance(dim, int) and dim != 1:
                lengths[letter] = dim
    return lengths


# --- the op ---------------------------------------------------------------------------------------


def _spec(*specs: Spec, subscripts: str) -> Spec:
    terms, result = _parts(subscripts)
    lengths = _lengths(terms, [s.shape for s in specs])
    return Spec(tuple(lengths[letter] for letter in result), specs[0].dtype)


def _conjugate(x: Tensor) -> Tensor:
    return x.conj() if is_complex(x.dtype) else x


def _vjp(g: Tensor, y: Tensor, *xs: Tensor, subscripts: str) -> list[Tensor]:
    terms, result = _parts(subscripts)
    lengths = _lengths(terms, [x.dims for x in xs])
    grads = []
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        others = [t for i, t in enumerate(terms) if i != k]
        known = set(result).union(*others)
        wanted = "".join(dict.fromkeys(term))
        kept = "".join(c for c in wanted if c in known)
        factors = [_conjugate(other) for i, other in enumerate(xs) if i != k]
        grad = einsum(g, *factors, subscripts=",".join([result, *others]) + "->" + kept)
        grad = _add_axes(grad, kept, wanted, lengths)
        grads.append(core.unbroadcast(_off_diagonal(grad, wanted, term, lengths), x))
    return grads


def _add_axes(x: Tensor, have: str, wanted: str, lengths: dict[str, Dim]) -> Tensor:
    """`x` with axes `have` broadcast along the missing ones of `wanted`."""
    dims = dict(zip(have, x.dims, strict=True))
    shape = tuple(dims.get(c, 1) for c in wanted)
    x = core.reshape(x, shape=shape) if shape != x.dims else x
    full = tuple(lengths[c] for c in wanted)
    return x if x.dims == full else core.broadcast_to(x, shape=full)


def _off_diagonal(x: Tensor, have: str, term: str, lengths: dict[str, Dim]) -> Tensor:
    """Spread axes `have` to the diagonals of a term with repeated letters; zero elsewhere."""
    from graphify.ops.elementwise import equal, logical_and, where

    if have == term:
        return x
    rank = len(term)
    first = {c: term.index(c) for c in have}
    shape: list[Dim] = [1] * rank
    for c in have:
        shape[first[c]] = lengths[c]
    spread = transpose(x, axes=tuple(sorted(range(len(have)), key=lambda a: first[have[a]])))
    spread = core.reshape(spread, shape=tuple(shape))
    mask = None
    for axis, c in enumerate(term):
        if axis != first[c]:
            here = equal(_along(axis, rank, lengths[c]), _along(first[c], rank, lengths[c]))
            mask = here if mask is None else logical_and(mask, here)
    return where(mask, spread, core.zeros_like(spread))


def _along(axis: int, rank: int, length: Dim) -> Tensor:
    """0, 1, ... along one axis of `rank`."""
    shape = tuple(length if a == axis else 1 for a in range(rank))
    return core.reshape(iota(length=length, dtype=np.dtype(np.int64)), shape=shape)


def _vmap(args: Sequence[Tensor], batched: Sequence[bool], subscripts: str) -> Any:
    terms, result = _parts(subscripts)
    letter = next(c for c in string.ascii_letters if c not in subscripts)
    new = [letter + t if b else t for t, b in zip(terms, batched, strict=True)]
    return einsum(*args, subscripts=",".join(new) + "->" + letter + result)


def _samples() -> Any:
    rng = np.random.default_rng(0)

    def case(subscripts: str, *shapes: tuple[int, ...], dtype: str = "d") -> Any:
        arrays = [rng.normal(size=s) for s in shapes]
        arrays = [a + 1j * rng.normal(size=a.shape) for a in arrays] if dtype in "FD" else arrays
        return tuple(a.astype(dtype) for a in arrays), {"subscripts": subscripts}

    return [
        case("ij,jk->ik", (2, 3), (3, 4)),
        case("ij,jk->ik", (2, 3), (3, 4), dtype="f"),
        case("ij,jk->ki", (2, 3), (3, 4), dtype="D"),
        case("ii->i", (3, 3)),
        case("iji->j", (3, 2, 3)),
        case("ii->", (3, 3)),
        case("ij->", (2, 3)),
        case("i,j->ij", (2,), (3,)),
        case("bij,bjk,k->bi", (2, 3, 4), (2, 4, 3), (3,)),
        case("ij,ij->i", (2, 3), (1, 3)),
        case("iij,jk->k", (2, 2, 3), (3, 4)),
        ((np.arange(6).reshape(2, 3), np.arange(3)), {"subscripts": "ij,j->i"}),
    ]


einsum = defop(
    "einsum",
    spec=_spec,
    eval=lambda *xs, subscripts: np.einsum(subscripts, *xs),
    convert=common,
    vjp=_vjp,
    jvp="multilinear",
    vmap=_vmap,
    tf="einsum",
    sample=_samples,
    doc="numpy.einsum with its subscripts spelled out",
)
