"""Special methods of the user's classes: operators and built-ins, compared with plain Python."""

import functools
import math
import operator
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphify
from graphify.errors import GraphifyError
from tests.samples.objects import Cost, Dual, Interval, Matrix, Vector, Version

ENGINES = ["reference", "native"]
NUMBERS = [np.float64(2.0), np.float64(-1.5), np.float64(0.0), 2.0, 0, np.int64(3)]


class Number:
    """Every special method, with a branch in each that only the run decides."""

    def __init__(self, v):
        self.v = v

    def _of(self, other):
        return other.v if isinstance(other, Number) else other

    def _chosen(self, other):
        return Number(self.v) if self.v > self._of(other) else Number(self._of(other))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __matmul__ = __mod__ = _chosen
    __floordiv__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __truediv__ = _chosen
    __divmod__ = _chosen

    def __pow__(self, power, mod=None):
        return self if self.v > self._of(power) else Number(self._of(power) if mod is None else mod)

    def __iadd__(self, other):
        if self.v > 0:
            self.v = self.v + self._of(other)
        return self

    def __neg__(self):
        return Number(-self.v if self.v > 0 else 7.0)

    __pos__ = __invert__ = __neg__

    def __abs__(self):
        return self.v if self.v > 0 else -self.v

    def __round__(self, digits=None):
        return Number(self.v if self.v > 1 else digits or 9)

    def __floor__(self):
        return 1 if self.v > 1 else 0

    __ceil__ = __trunc__ = __floor__

    def __lt__(self, other):
        return self.v < self._of(other) if self.v > 0 else True

    def __le__(self, other):
        return NotImplemented if isinstance(other, str) else self.v <= self._of(other)

    def __eq__(self, other):
        return self.v == self._of(other) if isinstance(other, (Number, int, float)) else False

    __hash__ = None

    def __gt__(self, other):
        return not self <= other

    def __bool__(self):
        return True if self.v > 1 else False

    def __len__(self):
        return 2 if self.v > 0 else 0

    def __contains__(self, other):
        if other > self.v:
            return True
        return 0

    def __getitem__(self, key):
        if key == 1:
            return self.v
        raise IndexError("there is no other")

    def __setitem__(self, key, value):
        self.v = value if key > 0 else self.v

    def __delitem__(self, key):
        self.v = 0.0 if key > 0 else self.v

    def __float__(self):
        return float(self.v) if self.v > 0 else 0.5

    def __int__(self):
        return int(self.v) if self.v > 1 else 4

    def __complex__(self):
        return complex(self.v, 1.0) if self.v > 0 else 1j

    def __str__(self):
        return f"<{self.v}>"


class Right:
    """A right operand: of what class the left one is counts."""

    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        if isinstance(other, np.generic):
            return other * 3 + self.v
        return other * 2 + self.v if other > 1 else self.v

    __rsub__ = __rmul__ = __radd__

    def __add__(self, other):
        return self.v * 2 + other.v

    __sub__ = __add__


class Leaves(Right):
    __array_ufunc__ = None

    def __radd__(self, other):
        return other * 3 + self.v

    __rsub__ = __rmul__ = __radd__


class Sized:
    def __init__(self, v):
        self.v = v

    def __len__(self):
        return int(abs(self.v))


class Index:
    def __init__(self, v):
        self.v = v

    def __index__(self):
        return int(abs(self.v))


BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.matmul, operator.truediv, operator.mod),
    *(operator.floordiv, operator.and_, operator.or_, operator.xor, operator.lshift),
    *(operator.rshift, operator.pow, divmod),
]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt]
UNARY = [operator.neg, operator.pos, operator.invert, abs]


def outcome(function: Any, *args: Any) -> Any:
    try:
        result = function(*args)
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return [
        None if v is None else v if isinstance(v, str) else np.asarray(v).tolist()
        for v in graphify.tree.leaves(result)
    ]


def same(function: Any, *arguments: Any) -> None:
    """Plain and staged, with numbers of every kind."""
    for engine in ENGINES:
        staged = graphify.function(function, engine=engine)
        for args in arguments or [(x,) for x in NUMBERS]:
            want = outcome(function, *args)
            assert outcome(staged, *args) == want, (engine, args)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_binary(op: Any) -> None:
    same(lambda x: op(Number(x), Number(1.0)).v)


@pytest.mark.parametrize("op", [operator.add, operator.sub])
def test_reflected(op: Any) -> None:
    same(lambda x: (op(Number(x), 1.0).v, op(1.0, Number(x)).v, op(float(x), Number(1.0)).v))
    for x in (*NUMBERS, np.float32(1.5), np.int8(2)):
        same(lambda x: (op(x, Right(2.0)), op(Right(x), Right(2.0))), (x,))
        same(lambda x: (op(x, Leaves(2.0)), op(Leaves(x), Right(2.0))), (x,))


def test_arrays_of_objects_are_refused() -> None:
    """NumPy makes them where an array, or its scalar beside a sequence, is the left operand."""
    for other in (Right(2.0), Number(2.0)):
        with pytest.raises(GraphifyError, match="__array_ufunc__ = None"):
            graphify.function(lambda x, other=other: x + other)(np.ones(3))
    with pytest.raises(GraphifyError, match="an array of its items"):
        graphify.function(lambda x: x + Number(2.0))(np.float64(2.0))
    leaves = graphify.function(lambda x: x * Leaves(2.0))
    np.testing.assert_array_equal(leaves(np.arange(3.0)), np.arange(3.0) * Leaves(2.0))


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
def test_unary(op: Any) -> None:
    def program(x):
        result = op(Number(x))
        return getattr(result, "v", result)

    same(program)


@pytest.mark.parametrize("op", COMPARISONS, ids=lambda op: op.__name__)
def test_comparisons(op: Any) -> None:
    same(lambda x: (op(Number(x), Number(2.0)), op(Number(1), x), op(Number(x), 0)))


def test_comparison_of_other_kinds() -> None:
    same(lambda x: Number(x) == "a", *[(x,) for x in NUMBERS])
    same(lambda x: Number(x) <= "a", *[(x,) for x in NUMBERS])


def operators(x):
    t = Number(x)
    u = t
    t += 2.0
    return t.v, u is t, (-t).v, pow(t, 2.0).v, pow(t, 2, 3).v


def builtins(x):
    t = Number(x)
    return abs(t), round(t).v, round(t, 2).v, float(t), int(t), complex(t), len(t), bool(t)


def functions_of_math(x):
    t = Number(x)
    return math.sqrt(t), math.floor(t), math.ceil(t), math.trunc(t), math.hypot(t, 1.0)


def truth(x):
    t, count = Number(x), 0
    if t:
        count += 1
    if not t:
        count += 10
    while t and count < 3:
        count += 1
    both = 1 if t and x > 1 else 2
    either = 3 if t or x < 0 else 4
    assert Number(5.0)
    return count, both, either, any([t, Number(0.0)]), all([Number(3.0), t])


def operands_of_and(x):
    return (Number(x) and Number(5.0)).v, (Number(x) or Number(5.0)).v


def asserted(x):
    assert Number(x), "not a number above 1"
    return x


def membership(x):
    return x in Number(1.0), 1.0 not in Number(x), Number(x) in [Number(1.0), Number(2.0)]


def items(x):
    t = Number(x)
    t[1] = x + 1
    value = t[1]
    t[0] = 9.0
    t[1] += 2.0
    del t[0]
    return t.v, value


def no_such_item(x):
    try:
        return Number(x)[int(x)]
    except IndexError:
        return -5.0


def length(x):
    return len(Sized(x)), 1 if Sized(x) else 2, not Sized(x)


def printed(x):
    return f"{Number(x)}" == "", str(Number(1.0))


def extremes(x):
    numbers = [Number(x), Number(1.0), Number(x * x)]
    return max(numbers).v, min(numbers).v, sum(numbers, Number(0.0)).v


def in_order(x):
    objects = sorted([Version(x, 1.0), Version(1.0, 2.0), Version(x, 0.5)])
    back = sorted([Cost(x, 0.0), Cost(1.0, 0.0)], reverse=True)
    return [v.minor for v in objects], back[0].steps


def reduced(x):
    numbers = [Dual(x, 1.0), Dual(2.0), Dual(x)]
    by_method = functools.reduce(Dual.__add__, numbers)
    return functools.reduce(operator.mul, numbers).slope, by_method.value


def ordered(x):
    a, b = Version(x, 1.0), Version(1.0, 2.0)
    same_ = Cost(x, 1) == Cost(2.0, 1), Cost(x, 1) != Cost(2.0, 1), Cost(x, 1) <= Cost(2.0, 0)
    return a < b, a <= b, a > b, a >= b, a == b, a != b, same_


class Twice(Dual):
    def __add__(self, other):
        whole = super().__add__(other)
        return Twice(whole.value * 2, whole.slope)


def inherited(x):
    return (Twice(x) + Dual(1.0)).value, (Dual(1.0) + Twice(x)).value, abs(Twice(x)).value


def in_loops(x):
    total, place = Dual(0.0), Vector(x, 0.0)
    for i in range(int(abs(x)) + 20):
        total = total * 0.5 + Dual(x, i)
        place = place / 2.0 + Vector(1.0, x)
    return total.slope, tuple(place)


def under_a_branch(x):
    place = Vector(x, 0.0)
    if x > 0:
        place = place + Vector(0.0, x)
    else:
        place = place * 3.0
    return tuple(place * 2.0)


def unequal_classes(x):
    return Vector(x, 1.0) == Dual(x), Dual(x) != 3


@pytest.mark.parametrize(
    "program",
    [
        *(operators, builtins, functions_of_math, truth, operands_of_and, asserted, membership),
        *(items, no_such_item, length, extremes, in_order, reduced, ordered, inherited),
        *(in_loops, under_a_branch, unequal_classes),
    ],
    ids=lambda f: f.__name__,
)
def test_programs(program: Any) -> None:
    same(program)


def test_ranges_and_conversions_by_index() -> None:
    same(lambda x: (math.factorial(Index(x)), int(Index(x)), operator.index(Index(x))))


@pytest.mark.parametrize("method", ["__bool__", "__float__", "__int__", "__len__"])
def test_results_that_python_refuses(method: str) -> None:
    """A method that gives a value of a wrong class is the TypeError that Python makes of it."""
    asks = {"__bool__": bool, "__float__": float, "__int__": int, "__len__": len}[method]
    kind = type("Wrong", (), {method: lambda self: self.v * 0.5})

    def program(x):
        wrong = kind()
        wrong.v = x
        return asks(wrong)

    for engine in ENGINES:
        if method == "__float__":  # NumPy's float64 is a float
            assert graphify.function(program, engine=engine)(np.float64(3.0)) == 1.5
            with pytest.raises(TypeError):
                graphify.function(program, engine=engine)(np.float32(3.0))
            continue
        with pytest.raises(TypeError):
            program(np.float64(3.0))
        with pytest.raises(TypeError):
            graphify.function(program, engine=engine)(np.float64(3.0))


def test_negative_length() -> None:
    same(lambda x: len(type("Short", (), {"__len__": lambda self: int(x) - 3})()))


@pytest.mark.parametrize("engine", ENGINES)
def test_objects_from_outside(engine: str) -> None:
    """Their fields are read at each run: arrays as hidden inputs, numbers under guards."""
    scale, matrix = Dual(2.0, 1.0), Matrix(np.zeros(3))

    @graphify.function(engine=engine)
    def scaled(x):
        return (scale * Dual(x)).value

    @graphify.function(engine=engine)
    def written(x):
        matrix[1] = x
        matrix[2] += x
        return matrix[0] + matrix[2]

    assert scaled(np.float64(3.0)) == 6.0
    scale.value = 5.0
    assert scaled(np.float64(3.0)) == 15.0
    for turn in (1.0, 2.0, 3.0):
        matrix.array[0] = turn
        matrix.array = matrix.array.copy()
        assert written(np.float64(1.0)) == turn + turn
    assert matrix.array.tolist() == [3.0, 1.0, 3.0] and matrix.writes == 6


@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_and_results(engine: str) -> None:
    @graphify.function(engine=engine)
    def moved(a, b):
        return a + b * 2.0, abs(a)

    place, size = moved(Vector(np.float64(3.0), 4.0), Vector(1.0, np.float64(2.0)))
    assert (place.x, place.y, size) == (5.0, 8.0, 5.0)


def test_classes_are_as_they_were_after_a_trace() -> None:
    classes = [Dual, Version, Cost, Interval, Matrix]
    before = [dict(vars(kind)) for kind in classes]

    @graphify.function
    def program(x, fails):
        total = Dual(x) + Dual(1.0)
        verdict = Version(x, 0.0) != Version(1.0, 0.0), Cost(x) < Cost(1.0)
        if fails:
            raise KeyError("while tracing")
        return total.value, verdict, Interval(0.0, 1.0).low, Matrix(np.zeros(2))[0]

    program(np.float64(1.0), False)
    with pytest.raises(KeyError):
        program(np.float64(1.0), True)
    for kind, attributes in zip(classes, before, strict=True):
        assert dict(vars(kind)) == attributes and list(vars(kind)) == list(attributes)


class Equal:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v if self.v > 0 else False


class Opposite(Equal):
    def __eq__(self, other):
        return self.v == -other.v


def test_what_a_class_inherits_is_no_stand_in_after_a_trace() -> None:
    before = [dict(vars(kind)) for kind in (Equal, Opposite)]
    program = lambda x: (Equal(x) != Equal(2.0), Opposite(x) != Equal(2.0))  # noqa: E731
    for _ in range(3):
        same(program)
    assert [dict(vars(kind)) for kind in (Equal, Opposite)] == before


def test_plain_code_in_other_threads() -> None:
    """While one thread traces, the class does in others what it always does."""
    wrong, over = [], threading.Event()

    def plain() -> None:
        while not over.is_set():
            result = Dual(2.0, 1.0) * Dual(3.0, 0.5) + 1
            if type(result.value) is not float or (result.value, result.slope) != (7.0, 4.0):
                wrong.append(result)

    def traced(n: int) -> None:
        @graphify.function(engine="reference")
        def program(x):
            t = Dual(x, 1.0)
            for _ in range(3):
                t = abs(t * t - 1.0)
            return t.value

        program(np.float64(n))

    threads = [threading.Thread(target=plain) for _ in range(2)]
    tracing = [threading.Thread(target=lambda: [traced(n) for n in range(4)]) for _ in range(2)]
    for thread in (*threads, *tracing):
        thread.start()
    for thread in tracing:
        thread.join()
    over.set()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("engine", ENGINES)
def test_gradients_and_lanes(engine: str) -> None:
    def program(x):
        t = Dual(x, 1.0)
        t = abs(t) * t + 2.0
        return t.slope * x if t else t.value * x

    staged = graphify.function(program, engine=engine)
    points = np.array([1.3, -0.7, -2.0, 0.4])
    np.testing.assert_allclose(graphify.vmap(staged)(points), [program(x) for x in points])
    for x in points:
        h = 1e-6
        want = (program(x + h) - program(x - h)) / (2 * h)
        np.testing.assert_allclose(graphify.grad(staged)(x), want, rtol=1e-6)


def test_methods_that_are_not_converted() -> None:
    class Plain:
        def __init__(self, v):
            self.v = v

        @graphify.autograph.do_not_convert
        def __add__(self, other):
            return self.v + other

        @graphify.autograph.do_not_convert
        def __lt__(self, other):
            return True if self.v < other else False

    assert graphify.function(lambda x: Plain(x) + 1.0)(np.float64(2.0)) == 3.0
    with pytest.raises(GraphifyError):
        graphify.function(lambda x: Plain(x) < 1.0)(np.float64(2.0))


def test_numbers_that_code_in_c_needs_are_refused() -> None:
    """Python itself takes nothing but a string's or an int's own value here."""
    with pytest.raises(GraphifyError, match=r"only known when the graph runs"):
        graphify.function(lambda x: [1, 2, 3][Index(x)])(np.float64(2.0))
    with pytest.raises(GraphifyError, match=r"several texts"):
        graphify.function(lambda x: print(_Named(x)))(np.float64(2.0))


class _Named:
    def __init__(self, v):
        self.v = v

    def __str__(self):
        return f"small {self.v}" if self.v < 1 else f"{self.v} is large"


def test_texts(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x):
        print(Number(x), f"{Number(x * 2)}!", [Dual(1.0)][0])
        return x

    for x in (np.float64(1.5), np.float64(-2.0)):
        program(x)
        want = capsys.readouterr().out
        graphify.function(program)(x)
        assert capsys.readouterr().out == want


@dataclass
class Checked:
    """Its fields are there only where its checks have been passed."""

    low: Any
    high: Any

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("empty")
        self.middle = (self.low + self.high) / 2


@dataclass
class Busy:
    """With attributes that are no fields, one of them no array either."""

    low: Any

    def __post_init__(self):
        self.twice = self.low * 2
        self.lock = threading.Lock()


def test_attributes_that_are_no_fields() -> None:
    for engine in ENGINES:
        staged = graphify.function(lambda c: c.twice + c.low, engine=engine)
        assert staged(Busy(np.float64(3.0))) == 9.0
        assert graphify.function(lambda c: c, engine=engine)(Busy(np.float64(3.0))).twice == 6.0
        square = graphify.function(lambda c: c.low**2, engine=engine)
        assert graphify.grad(square)(Busy(np.float64(3.0))).low == 6.0


def made_under_branches(x):
    found = Checked(x, x + 1) if x > 0 else None
    if found is None:
        found = Checked(x, 9.0)
    for i in range(3):
        if x > i:
            found = Checked(found.low, found.high + x * x)
    return found.middle, found.high


def caught(x):
    try:
        return Checked(x, 1.0).middle
    except ValueError:
        return -1.0


def test_objects_whose_init_may_raise() -> None:
    same(made_under_branches)
    same(caught)


# --- objects in containers ------------------------------------------------------------------------


class Held:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Held(self.v + (other.v if isinstance(other, Held) else other))


def replaced_in_a_list(x):
    l = [Held(x), Held(2.0)]
    p = l[0]
    if x > 0:
        l[0] = Held(x * 3)
    l[0].v += 10
    return l[0].v + l[1].v, p.v


def two_names_of_a_list(x):
    l = [Held(x), Held(2.0)]
    m = l
    for i in range(12):
        l[i % 2] = l[i % 2] + l[(i + 1) % 2].v * 0.1
        if l[0].v > 5:
            m[1] = Held(0.5)
    return l[0].v, m[1].v


def an_old_one_under_another_name(x):
    l = [Held(x)]
    q = l[0]
    for i in range(12):
        if x > i:
            l[0] = Held(l[0].v + 1)
            l[0].v *= 2
    q.v = -1.0
    return l[0].v, q.v


def in_lists_of_lists(x):
    l = [[Held(x)], [Held(1.0)]]
    if x > 0:
        l[0][0] = Held(5.0)
        l[1] = [Held(7.0)]
    return l[0][0].v, l[1][0].v


def in_a_dict(x):
    d = {}
    d["k"] = [Held(x)]
    for i in range(12):
        d["k"][0] = d["k"][0] + i
        d["n"] = i
    return d["k"][0].v, d["n"]


def simulated_in_lists(x):
    ps = [Held(x + i) for i in range(3)]
    vs = [Held(0.1 * i) for i in range(3)]
    for t in range(30):
        for n in range(3):
            ps[n] = ps[n] + vs[n]
        if ps[0].v > 2:
            vs[0] = Held(-vs[0].v)
    return [p.v for p in ps]


def lists_made_anew(x):
    ps = [Held(x + i) for i in range(3)]
    t = 0
    while ps[0].v < 20 and t < 50:
        ps = [ps[2] + 1.0, ps[0] + 0.5, ps[1]]
        t += 1
    return [p.v for p in ps], t


def on_a_stack(x):
    st = []
    st.append(Held(x))
    if x > 0:
        st[-1] = st[-1] + 5.0
    y = st.pop()
    return y.v, len(st)


def none_or_an_object(x):
    l = [Held(x), None]
    if x > 0:
        l[1] = Held(x * 2)
    return l[0].v if l[1] is None else l[1].v


def one_object_in_two_places(x):
    a = Held(x)
    l = [a, a]
    if x > 0:
        l[0] = Held(3.0)
    l[1].v = 50.0
    return l[0].v, a.v


def with_arrays_inside(x):
    l = [Held(np.array([x, 1.0]))]
    for i in range(12):
        w = l[0].v
        l[0] = Held(w * 0.5)
        l[0].v[0] += 1.0
        if x > i:
            w[1] = 7.0
    return l[0].v


def changed_or_replaced(x):
    out = Held(0.0)
    l = [out]
    for v in [x, 1.0, 2.0] * 4:
        if v > 1:
            l[0].v += v
        else:
            l[0] = Held(l[0].v - 1)
    return out.v, l[0].v


class Table(dict):
    pass


def in_a_table_of_the_users(x):
    table = Table(a=Held(x), b=Held(1.0))
    if x > 0:
        table["a"] = Held(x * 3)
    return table["a"].v + table["b"].v


CONTAINERS = [
    in_a_table_of_the_users,
    replaced_in_a_list,
    two_names_of_a_list,
    an_old_one_under_another_name,
    in_lists_of_lists,
    in_a_dict,
    simulated_in_lists,
    lists_made_anew,
    on_a_stack,
    none_or_an_object,
    one_object_in_two_places,
    with_arrays_inside,
    changed_or_replaced,
]


@pytest.mark.parametrize("program", CONTAINERS, ids=lambda f: f.__name__)
def test_new_objects_in_containers(program: Any) -> None:
    """Staged branches and loops put objects that they make into lists and dicts from outside."""
    same(program, *[(np.float64(x),) for x in (2.0, -1.0, 7.5)])


def test_derivatives_of_objects_in_containers() -> None:
    def program(x, n):
        places, speeds = [Held(x + i) for i in range(3)], [Held(0.1 * i) for i in range(3)]
        for _ in range(n):
            for k in range(3):
                places[k] = places[k] + speeds[k]
            if places[0].v > 2:
                speeds[0] = Held(-speeds[0].v * x)
        return places[0].v * places[1].v + places[2].v

    points, h = np.array([1.9, -0.3, 2.5]), 1e-6
    for engine in ENGINES:
        staged = graphify.function(program, engine=engine)
        lanes = graphify.vmap(lambda x, staged=staged: staged(x, 9))(points)
        np.testing.assert_allclose(lanes, [program(x, 9) for x in points])
        for x in points:
            want = (program(x + h, 9) - program(x - h, 9)) / (2 * h)
            got = graphify.grad(staged)(np.float64(x), np.int64(9))
            np.testing.assert_allclose(got, want, rtol=1e-6)
