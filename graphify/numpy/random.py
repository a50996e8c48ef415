"""graphify.numpy.random: NumPy's generators, eager and in graphs, bit for bit.

    gnp.random.seed(0); gnp.random.rand(3)       # the state is np.random's own
    rng = gnp.random.default_rng(0); rng.normal(size=3)

A draw is an effect: a graph draws anew at each run, in program order, from the generator's state at
that time. A generator made inside a function is made anew at each run. Native code makes most draws
by NumPy's own C functions, Python the others (engines/native/generators.py). For random numbers in
exported graphs use `graphify.random`, which is a pure function of a key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphify.errors import SpecError
from graphify.ir.assign import assign
from graphify.ir.context import current_builder
from graphify.ir.sizes import Shape
from graphify.ir.tensor import Tensor, resolve
from graphify.ir.types import DType, canonical_dtype, is_complex
from graphify.ir.wrapping import as_tensor
from graphify.numpy._table import FUNCTIONS, axis_of, finish, shape_of, to_tensor
from graphify.ops import core
from graphify.ops import random as ops

FLOAT64, INT64 = np.dtype(np.float64), np.dtype(np.int64)
_GLOBAL = ops.Source(np.random.mtrand._rand)  # np.random's own state

# distribution -> (parameters that have no default, defaults of the others, dtype)
_DISTRIBUTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any], DType]] = {
    "beta": (("a", "b"), {}, FLOAT64),
    "binomial": (("n", "p"), {}, INT64),
    "chisquare": (("df",), {}, FLOAT64),
    "exponential": ((), {"scale": 1.0}, FLOAT64),
    "f": (("dfnum", "dfden"), {}, FLOAT64),
    "gamma": (("shape",), {"scale": 1.0}, FLOAT64),
    "geometric": (("p",), {}, INT64),
    "gumbel": ((), {"loc": 0.0, "scale": 1.0}, FLOAT64),
    "hypergeometric": (("ngood", "nbad", "nsample"), {}, INT64),
    "laplace": ((), {"loc": 0.0, "scale": 1.0}, FLOAT64),
    "logistic": ((), {"loc": 0.0, "scale": 1.0}, FLOAT64),
    "lognormal": ((), {"mean": 0.0, "sigma": 1.0}, FLOAT64),
    "logseries": (("p",), {}, INT64),
    "negative_binomial": (("n", "p"), {}, INT64),
    "noncentral_chisquare": (("df", "nonc"), {}, FLOAT64),
    "noncentral_f": (("dfnum", "dfden", "nonc"), {}, FLOAT64),
    "normal": ((), {"loc": 0.0, "scale": 1.0}, FLOAT64),
    "pareto": (("a",), {}, FLOAT64),
    "poisson": ((), {"lam": 1.0}, INT64),
    "power": (("a",), {}, FLOAT64),
    "rayleigh": ((), {"scale": 1.0}, FLOAT64),
    "standard_cauchy": ((), {}, FLOAT64),
    "standard_t": (("df",), {}, FLOAT64),
    "triangular": (("left", "mode", "right"), {}, FLOAT64),
    "uniform": ((), {"low": 0.0, "high": 1.0}, FLOAT64),
    "vonmises": (("mu", "kappa"), {}, FLOAT64),
    "wald": (("mean", "scale"), {}, FLOAT64),
    "weibull": (("a",), {}, FLOAT64),
    "zipf": (("a",), {}, INT64),
}


_MOVING = {"permutation", "permuted", "choice", "weighted_choice"}  # these take any elements


def _size(size: Any) -> Shape | None:
    return None if size is None else shape_of(size, "size")


def _draw(
    source: ops.Source,
    method: str,
    params: Any,
    size: Any,
    result: DType = FLOAT64,
    shape: Shape | None = None,
    /,
    *,
    python: bool = False,
    **options: Any,
) -> Tensor:
    """One call of a generator's method.

    Args:
        shape: the result's where `size` does not say it.
        python: where nothing has a shape, NumPy gives a Python number.
    """
    tensors = [as_tensor(p) for p in params]
    for parameter in () if method in _MOVING else tensors:
        if is_complex(parameter.dtype):
            raise TypeError(f"{method}: expected real parameters, got {parameter.spec}")
    dims = _size(size)
    if shape is None:
        shape = (
            dims if dims is not None else core.broadcast_shapes(*(resolve(t).dims for t in tensors))
        )
    weak = python and dims is None and not shape
    if weak and result == np.float32:
        result = FLOAT64  # drawn as float32, given as a float
    return ops.random_draw(
        *(core.strong(t) for t in tensors),
        source=source,
        method=method,
        size=dims,
        shape=shape,
        dtype=result,
        options=tuple(sorted(options.items())),
        **({"weak": True} if weak else {}),
    )


def _bind_arguments(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], Any]:
    """The parameters of a distribution in order, and `size`, as NumPy takes them."""
    required, defaults, _ = _DISTRIBUTIONS[name]
    names = (*required, *defaults, "size")
    if len(args) > len(names):
        raise TypeError(
            f"{name}() takes at most {len(names)} positional arguments ({len(args)} given)"
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key not in names:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if key in given:
            raise TypeError(f"{name}() got multiple values for keyword argument '{key}'")
        given[key] = value
    for key in required:
        if key not in given:
            raise TypeError(f"{name}() missing required argument '{key}'")
    return [given.get(n, defaults.get(n)) for n in names[:-1]], given.get("size")


class _Distributions:
    """What legacy and new generators have in common."""

    _source: ops.Source

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle an array in place along an axis."""
        if not isinstance(x, (Tensor, np.ndarray)):
            _shuffle_sequence(self._source, x)
            return
        t = resolve(as_tensor(x))
        options: dict[str, Any] = {} if axis == 0 else {"axis": axis_of(axis, t.ndim)}
        if not t.ndim:
            raise TypeError("cannot shuffle a 0-d array")
        assign(t, _draw(self._source, "permutation", [t], None, t.dtype, t.dims, **options))

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Tensor:
        """Random elements of an array, or of arange(a)."""
        x = to_tensor(a)
        dims = _size(size) or ()
        options: dict[str, Any] = {"replace": bool(replace)}
        if isinstance(self, Generator):
            options |= {"axis": axis, "shuffle": shuffle}
        shape: Shape = dims
        if x.ndim > 1 and isinstance(self, Generator):
            at = axis_of(axis, x.ndim)
            shape = (*x.dims[:at], *dims, *x.dims[at + 1 :])
        dtype = INT64 if x.ndim == 0 else x.dtype
        if p is None:
            return _draw(
                self._source, "choice", [x], size, dtype, shape, python=not x.ndim, **options
            )
        return _Weighted(self._source, x, to_tensor(p), size, dtype, shape, options).draw()

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Tensor:
        """Counts of outcomes in `n` experiments."""
        probabilities = to_tensor(pvals)
        shape = (*(_size(size) or ()), probabilities.dims[-1])
        if size is None and to_tensor(n).ndim:
            shape = (*to_tensor(n).dims, probabilities.dims[-1])
        return _draw(self._source, "multinomial", [n, probabilities], size, INT64, shape)

    def dirichlet(self, alpha: Any, size: Any = None) -> Tensor:
        """Points of a simplex."""
        weights = to_tensor(alpha)
        return _draw(
            self._source,
            "dirichlet",
            [weights],
            size,
            FLOAT64,
            (*(_size(size) or ()), *weights.dims),
        )

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, **options: Any) -> Tensor:
        """Points of a Gaussian with a covariance."""
        center = to_tensor(mean)
        shape = (*(_size(size) or ()), *center.dims)
        return _draw(
            self._source,
            "multivariate_normal",
            [center, to_tensor(cov)],
            size,
            FLOAT64,
            shape,
            **options,
        )

    def bytes(self, length: int) -> Any:
        """Random bytes."""
        return _here(self._source, "bytes")(length)


class _Weighted:
    """choice with probabilities: a keyword of NumPy's that is an operand of ours."""

    def __init__(self, source: ops.Source, *args: Any) -> None:
        self.source, self.args = source, args

    def draw(self) -> Tensor:
        x, p, size, dtype, shape, options = self.args
        adapter = _adapter(self.source)
        method, python = "weighted_choice", not x.ndim
        return _draw(adapter, method, [x, p], size, dtype, shape, python=python, **options)


class _WeightedSource(ops.Source):
    """A source whose `weighted_choice` passes its second operand as `p`."""

    def __init__(self, inner: ops.Source) -> None:
        super().__init__()
        self.inner = inner

    def current(self) -> Any:
        return self

    def shared(self, known: dict[Any, Any]) -> ops.Source:
        return _adapter(self.inner.shared(known))

    def weighted_choice(self, a: Any, p: Any, **options: Any) -> Any:
        return self.inner.current().choice(a, p=p, **options)


@functools.lru_cache(maxsize=256)
def _adapter(source: ops.Source) -> _WeightedSource:
    return _WeightedSource(source)


def _here(source: ops.Source, name: str) -> Any:
    """A method of the generator itself, outside graphs only."""
    if current_builder() is not None:
        raise SpecError(
            f"random.{name} is not supported in a graph",
            remedy="call it outside the graphify.function",
        )
    return getattr(source.current(), name)


def _shuffle_sequence(source: ops.Source, x: Any) -> None:
    if current_builder() is None and not any(isinstance(item, Tensor) for item in x):
        source.current().shuffle(x)
        return
    raise SpecError(
        "shuffle: expected an array in a graph, got a Python list", remedy="use np.array(list)"
    )


def _distribution(name: str) -> Callable[..., Tensor]:
    dtype = _DISTRIBUTIONS[name][2]

    def method(self: _Distributions, *args: Any, **kwargs: Any) -> Tensor:
        params, size = _bind_arguments(name, args, kwargs)
        return _draw(self._source, name, params, size, dtype, python=True)

    method.__name__ = name
    method.__doc__ = f"Draws as numpy.random's `{name}` does."
    return method


for _name in _DISTRIBUTIONS:
    setattr(_Distributions, _name, _distribution(_name))


class RandomState(_Distributions):
    """NumPy's legacy generator."""

    def __init__(self, seed: Any = None) -> None:
        self._source = _made(np.random.RandomState, seed)

    def seed(self, seed: Any = None) -> None:
        """Restart the stream."""
        _seed(self._source, seed)

    def rand(self, *args: Any) -> Tensor:
        """Uniform in [0, 1); the arguments are the shape."""
        return _draw(self._source, "random_sample", [], args or None, python=True)

    def randn(self, *args: Any) -> Tensor:
        """Standard normal; the arguments are the shape."""
        return _draw(self._source, "standard_normal", [], args or None, python=True)

    def random(self, size: Any = None) -> Tensor:
        """Uniform in [0, 1)."""
        return _draw(self._source, "random_sample", [], size, python=True)

    random_sample = ranf = sample = random

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Tensor:
        """Integers in [low, high)."""
        return _integers(self._source, "randint", low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Tensor:
        """Integers in [low, high], which NumPy deprecates in favour of randint."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, core.strong(to_tensor(high) + 1), size, np.int64)

    def standard_normal(self, size: Any = None) -> Tensor:
        """Normal of mean 0 and deviation 1."""
        return _draw(self._source, "standard_normal", [], size, python=True)

    def standard_exponential(self, size: Any = None) -> Tensor:
        """Exponential of scale 1."""
        return _draw(self._source, "standard_exponential", [], size, python=True)

    def standard_gamma(self, shape: Any, size: Any = None) -> Tensor:
        """Gamma of scale 1."""
        return _draw(self._source, "standard_gamma", [shape], size, python=True)

    def permutation(self, x: Any) -> Tensor:
        """A shuffled copy, or a shuffled arange(x)."""
        return _permutation(self._source, x)

    def get_state(self, legacy: bool = True) -> Any:
        """The state of the generator."""
        return _here(self._source, "get_state")(legacy)

    def set_state(self, state: Any) -> None:
        """Continue from a state."""
        _here(self._source, "set_state")(state)


class Generator(_Distributions):
    """NumPy's generator; `default_rng` makes one."""

    def __init__(self, bit_generator: Any) -> None:
        if isinstance(bit_generator, ops.Source):
            self._source = bit_generator
        else:
            self._source = ops.Source(np.random.Generator(bit_generator))

    @property
    def bit_generator(self) -> Any:
        """NumPy's bit generator, outside graphs only."""
        return _here(self._source, "bit_generator")

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Uniform in [0, 1)."""
        return self._float("random", [], size, dtype, out)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Normal of mean 0 and deviation 1."""
        return self._float("standard_normal", [], size, dtype, out)

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Exponential of scale 1."""
        return self._float("standard_exponential", [], size, dtype, out, method=method)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        """Gamma of scale 1."""
        return self._float("standard_gamma", [shape], size, dtype, out)

    def _float(
        self, name: str, params: Any, size: Any, dtype: Any, out: Any, **options: Any
    ) -> Any:
        target = canonical_dtype(dtype)
        if target not in (np.float32, np.float64):
            raise SpecError(f"Unsupported dtype {target!r} for {name}")
        if out is not None and size is None:
            size = tuple(resolve(as_tensor(out)).dims)
        drawn = _draw(
            self._source, name, params, size, target, dtype=target, python=True, **options
        )
        return finish(drawn, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Tensor:
        """Integers in [low, high), or in [low, high] with `endpoint`."""
        return _integers(self._source, "integers", low, high, size, dtype, endpoint=bool(endpoint))

    def permutation(self, x: Any, axis: int = 0) -> Tensor:
        """A copy shuffled along an axis, or a shuffled arange(x)."""
        return _permutation(self._source, x, **({} if axis == 0 else {"axis": axis}))

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """A copy in which each lane is shuffled on its own."""
        t = to_tensor(x)
        return finish(_draw(self._source, "permuted", [t], None, t.dtype, t.dims, axis=axis), out)

    def multivariate_hypergeometric(self, *args: Any, **kwargs: Any) -> Any:
        """Draws without replacement from a collection, outside graphs only."""
        return _here(self._source, "multivariate_hypergeometric")(*args, **kwargs)

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of independent streams, outside graphs only."""
        return [Generator(ops.Source(child)) for child in _here(self._source, "spawn")(n_children)]


def _permutation(source: ops.Source, x: Any, **options: Any) -> Tensor:
    t = to_tensor(x)
    if t.ndim:
        return _draw(source, "permutation", [t], None, t.dtype, t.dims, **options)
    from graphify.ops.shape import as_dim

    if t.dtype.kind not in "iu":
        raise IndexError("x must be an integer or at least 1-dimensional")
    return _draw(source, "permutation", [t], None, INT64, (as_dim(x if isinstance(x, int) else t),))


def _integers(
    source: ops.Source, name: str, low: Any, high: Any, size: Any, dtype: Any, **options: Any
) -> Tensor:
    target = canonical_dtype(dtype)
    if target.kind not in "iub":
        raise SpecError(f"Unsupported dtype {target!r} for {name}")
    bounds = [low] if high is None else [low, high]
    for bound in bounds:
        if as_tensor(bound).dtype.kind not in "iubf":
            raise SpecError(f"{name}: expected integer bounds, got {as_tensor(bound).dtype.name}")
    python = dtype is int or dtype is bool
    return _draw(source, name, bounds, size, target, dtype=target, python=python, **options)


def _made(make: Any, seed: Any) -> ops.Source:
    """A generator from a seed: now, or in a graph at each run."""
    if current_builder() is None:
        return ops.Source(make(_plain_seed(seed)))
    source = ops.Source(make=make)
    _seed(source, seed)
    return source


def _plain_seed(seed: Any) -> Any:
    if isinstance(seed, Tensor):
        array = seed.numpy()
        return array[()] if array.ndim == 0 else array
    return seed


def _seed(source: ops.Source, seed: Any) -> None:
    if isinstance(seed, (Tensor, np.ndarray)):
        ops.random_seed(core.strong(as_tensor(seed)), source=source)
        return
    plain = seed is None or isinstance(seed, int)
    ops.random_seed(source=source, seed=seed if plain else ops.Held(seed))


# --- the module's functions -----------------------------------------------------------------------


def default_rng(seed: Any = None) -> Generator:
    """A new generator; a NumPy generator is wrapped, and shares its state."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, np.random.Generator):
        known: Generator = as_generator(seed)
        return known
    return Generator(_made(np.random.default_rng, seed))


@functools.lru_cache(maxsize=256)
def as_generator(generator: Any) -> Any:
    """graphify's view of a NumPy generator: the same state, draws that graphs record."""
    if generator is np.random.mtrand._rand:
        return _legacy
    if isinstance(generator, np.random.Generator):
        return Generator(ops.Source(generator))
    if isinstance(generator, np.random.RandomState):
        known = RandomState.__new__(RandomState)
        known._source = ops.Source(generator)
        return known
    raise SpecError(f"expected a NumPy Generator or RandomState, got {type(generator).__name__}")


_legacy = RandomState.__new__(RandomState)
_legacy._source = _GLOBAL
_FUNCTIONS = (
    *_DISTRIBUTIONS,
    *[
        "bytes",
        "choice",
        "dirichlet",
        "get_state",
        "multinomial",
        "multivariate_normal",
        "permutation",
        "rand",
        "randint",
        "randn",
    ],
    *[
        "random",
        "random_integers",
        "random_sample",
        "ranf",
        "sample",
        "seed",
        "set_state",
        "shuffle",
    ],
    *["standard_exponential", "standard_gamma", "standard_normal"],
)
for _name in _FUNCTIONS:
    globals()[_name] = getattr(_legacy, _name)
    FUNCTIONS[getattr(np.random, _name)] = getattr(_legacy, _name)
BitGenerator, SeedSequence = np.random.BitGenerator, np.random.SeedSequence
MT19937, PCG64, PCG64DXSM = np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM
Philox, SFC64 = np.random.Philox, np.random.SFC64
FUNCTIONS[np.random.default_rng] = default_rng
FUNCTIONS[np.random.RandomState] = RandomState
FUNCTIONS[np.random.Generator] = Generator
