"""Functions of every kind: how they are made, passed, chosen, decorated and called."""

import functools
import operator
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

NO_GRADIENT = dict.fromkeys(("counts_of_calls", "operator_module"), "integers")
NO_VMAP = {"function_attributes": "a function that knows itself counts as one from outside"}
NO_VMAP |= dict.fromkeys(
    (
        "global_assigned_by_a_callee",
        "global_assigned_under_control_flow",
        "global_loop_variable",
    ),
    "each lane would assign the global",
)

RATE = 0.5
TABLE = {"gain": 2.0, "shift": -1.0}
WEIGHTS = np.array([1.0, 2.0, 4.0])
_turns = _last = 0
_level = 0.0


# --- closures --------------------------------------------------------------------------------


def closure_over_traced(x, s):
    def scaled(v):
        return v * s

    return scaled(x) + scaled(s)


def closure_over_loop_variable(x, k):
    total = x * 0
    for i in range(k):
        add = lambda v: v + i  # noqa: B023
        total = total + add(x)
    return total


def late_binding_of_closures(x):
    functions = [lambda v: v * i for i in range(3)]  # noqa: B023
    return functions[0](x) + functions[2](x)


def early_binding_by_default(x):
    functions = [lambda v, i=i: v * i for i in range(3)]
    return functions[0](x) + functions[2](x)


def closure_sees_later_assignment(x, s):
    def scaled():
        return x * factor

    factor = s
    first = scaled()
    factor = factor + 1
    return first + scaled()


def factory_of_functions(x, s):
    def polynomial(*coefficients):
        def value(v):
            total = 0.0
            for c in reversed(coefficients):
                total = total * v + c
            return total

        return value

    return polynomial(s, 2.0, 1.0)(x)


def nonlocal_in_staged_loop(x, k):
    total, turns = 0.0, 0

    def add(value):
        nonlocal total, turns
        total += value
        turns += 1

    for i in range(k):
        add(x[0] * i)
    return total, turns


def nonlocal_in_staged_branch(x, s):
    last = x

    def note(value):
        nonlocal last
        if value.sum() > s:
            last = value

    note(x * 2)
    note(x - 1)
    return last


def nonlocal_two_levels_up(x, s):
    level = s

    def outer():
        def inner():
            nonlocal level
            level = level * 2

        inner()
        inner()

    outer()
    return x + level


def counter_object_of_closures(x, s):
    def counter(start):
        value = start

        def up(by=1):
            nonlocal value
            value = value + by
            return value

        return up, lambda: value

    up, value = counter(s)
    up()
    if x.sum() > 0:
        up(2)
    return x * value()


def composition(x, s):
    def compose(*functions):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), functions)

    return compose(np.sin, lambda v: v * s, np.tanh)(x)


# --- globals ---------------------------------------------------------------------------------


def reads_globals_of_all_kinds(x):
    return x[:3] * RATE * WEIGHTS + TABLE["gain"] + len(TABLE)


def _reads_rate(x):
    return x * RATE


def callee_reads_global(x, s):
    return _reads_rate(x) if s > 0 else _reads_rate(-x)


def _count(by=1):
    global _turns
    _turns += by


def global_assigned_by_a_callee(x, s):
    global _turns
    _turns = 0
    if s > 0:
        _count()
    for i in range(12):
        if x[i % 3] > i - 6:
            _count(2)
    return x * _turns, _turns


def global_assigned_under_control_flow(x, k):
    global _level
    _level = x[0]
    if k > 1:
        _level = x[1] * 2
        _level += k
    for i in range(k):
        _level = _level * 0.5 + i
    return _level


def global_loop_variable(x, k):
    global _last
    _last = -1
    for _last in range(k):
        x = x + _last
    return x, _last


# --- arguments -------------------------------------------------------------------------------


def _with_defaults(x, scale=2.0, *, shift=1.0, power=None):
    y = x * scale + shift
    return y if power is None else y**power


def default_and_keyword_only(x, s):
    return _with_defaults(x) + _with_defaults(x, s) + _with_defaults(x, shift=s, power=2)


def positional_only(x, s):
    def f(a, b, /, c=1.0):
        return a * b + c

    return f(x, s) + f(x, s, c=s)


def star_arguments(x, y):
    def total(*arrays, **weights):
        result = arrays[0] * weights.get("first", 1.0)
        for a in arrays[1:]:
            result = result + a * weights["rest"]
        return result

    return total(x, y, x, rest=0.5) + total(*[x, y], **{"first": 2.0, "rest": 1.5})


def star_arguments_passed_on(x, s, k):
    def inner(a, b, *, c):
        return a * b + c if k > 1 else a - c

    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    return outer(x, s, c=x[0])


def mutable_default(x):
    def collect(v, into=None):
        into = [] if into is None else into
        into.append(v)
        return into

    return collect(x), collect(x * 2, [x])


def default_from_an_outer_value(x, s):
    scale = s + 1

    def f(v, by=scale):
        return v * by

    scale = 0.0
    return f(x) + scale


# --- methods and properties ------------------------------------------------------------------


class _Layer:
    count = 3.0

    def __init__(self, weight, bias=0.5):
        self.weight = weight
        self._bias = bias

    def __call__(self, x):
        return self.activate(x * self.weight + self.bias)

    def activate(self, x):
        return np.maximum(x, 0.0)

    @property
    def bias(self):
        return self._bias

    @bias.setter
    def bias(self, value):
        self._bias = value * 2

    @staticmethod
    def softened(x):
        return x / (1 + np.abs(x))

    @classmethod
    def of_size(cls, size):
        return cls(size / cls.count)

    def __add__(self, other):
        return _Layer(self.weight + other.weight, self.bias)

    def __getitem__(self, i):
        return self.weight * i

    def __len__(self):
        return 2


class _Signed(_Layer):
    count = 2.0

    def activate(self, x):
        y = super().activate(x)
        return y if x.sum() > 0 else super().activate(-x) - y

    @property
    def bias(self):
        return super().bias + 0.25


_GLOBAL_LAYER = _Signed(1.5)


def callable_object(x, s):
    return _Layer(s)(x)


def overridden_method_and_super(x, s):
    return _Signed(s)(x)


def method_of_global_object(x):
    return _GLOBAL_LAYER(x) + _GLOBAL_LAYER.bias


def bound_method_as_value(x, s):
    f = _Layer(s).activate
    return f(x) + _Layer.activate(_Layer(1.0), -x)


def property_with_setter(x, s):
    layer = _Layer(1.0)
    layer.bias = s
    return layer(x)


def static_and_class_methods(x, s):
    return _Layer.softened(x) + _Signed.of_size(s)(x) + _Layer(1.0).softened(s)


def special_methods(x, s):
    both = _Layer(s) + _Layer(2.0)
    return both(x) + both[3] + len(both)


def attribute_changed_under_a_branch(x, s):
    layer = _Layer(1.0)
    if s > 0:
        layer.weight = s
    else:
        layer.bias = s
    return layer(x)


def getattr_by_name(x, s):
    layer = _Layer(s)
    return getattr(layer, "activate")(x) + getattr(layer, "missing", 1.0)  # noqa: B009


class _Multiplied:
    """A descriptor."""

    def __get__(self, instance, owner):
        return instance.value * 3


class _WithDescriptor:
    tripled = _Multiplied()

    def __init__(self, value):
        self.value = value

    @functools.cached_property
    def squared(self):
        return self.value**2


def descriptor_and_cached_property(x, s):
    thing = _WithDescriptor(x * s)
    return thing.tripled + thing.squared + thing.squared


@dataclass(frozen=True)
class _Line:
    slope: float
    offset: float = 1.0

    def at(self, x):
        return self.slope * x + self.offset

    def steeper(self, by):
        return _Line(self.slope * by, self.offset)


def methods_of_a_dataclass(x, s):
    line = _Line(s)
    return line.at(x) + line.steeper(2.0).at(x)


_Pair = namedtuple("_Pair", "first second")


class _NamedPair(_Pair):
    def swapped(self):
        return _NamedPair(self.second, self.first)


def methods_of_a_namedtuple(x, s):
    a, b = _NamedPair(x, s).swapped()
    return a * 2 + b


def class_defined_inside(x, s):
    class Accumulator:
        def __init__(self):
            self.total = x * 0

        def add(self, v):
            if v.sum() > 0:
                self.total = self.total + v
            return self

    return Accumulator().add(x).add(x * s).total


# --- functools -------------------------------------------------------------------------------


def _affine(a, x, b=0.0):
    return a * x + b


def partial_application(x, s):
    f = functools.partial(_affine, s, b=1.0)
    g = functools.partial(f, b=2.0)
    return f(x) + g(x)


def partial_of_a_method(x, s):
    return functools.partial(_Layer(s).activate)(x)


def reduce_over_arrays(x, y):
    return functools.reduce(lambda a, b: a * 0.5 + b, [x, y, x + y])


def map_of_user_function(x, s):
    return sum(map(lambda v: v * s if v.sum() > 0 else v, [x, -x, x * 2]))  # noqa: C417


@functools.lru_cache
def _cached_weights(n):
    return [1.0 / (i + 1) for i in range(n)]


def cached_callee(x):
    weights = _cached_weights(4)
    return sum(w * x for w in weights)


@functools.cache
def _cached_roots(n):
    return np.sqrt(np.arange(1.0, n))


def table_of_a_cached_callee(x, k):
    return x * _cached_roots(5)[k % 4]


def operator_module(k):
    return operator.add(k, 2) * operator.floordiv(k + 5, 2), operator.itemgetter(1)((k, k + 1))


# --- decorators ------------------------------------------------------------------------------


def _doubled(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


def _shifted(by):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            return result + by if by > 0 else result

        return wrapper

    return decorate


class _Counted:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.count = function, 0

    def __call__(self, *args):
        self.count = self.count + 1
        return self.function(*args)


@_doubled
@_shifted(0.5)
def _decorated(x, s):
    if s > 0:
        return x * s
    return x - s


def user_decorators(x, s):
    return _decorated(x, s)


@_doubled
def decorated_itself(x, s):
    return x + s if s > 0 else x - s


def decorator_made_of_traced(x, s):
    @_shifted(2.0)
    def f(v):
        return v * s

    return f(x)


def decorator_that_is_a_class(x, s):
    @_Counted
    def f(v):
        return v * s if v.sum() > 0 else v

    return f(x) + f(-x), f.count


def counts_of_calls(k):
    @_Counted
    def f(v):
        return v + 1

    for _ in range(k):
        f(k)
    return f.count


# --- functions as values ---------------------------------------------------------------------


def _rising(x):
    return np.exp(x * 0.1)


def _falling(x):
    return 1 / (1 + x * x)


def function_as_argument(x, s):
    def twice(f, v):
        return f(f(v))

    return twice(_falling, x) + twice(lambda v: v * s, x)


def function_chosen_by_condition(x, s):
    f = _rising if s > 0 else _falling
    return f(x)


def function_chosen_by_statement(x, s):
    if x.sum() > s:
        f = np.sin
    elif s > 0:
        f = _rising
    else:
        f = lambda v: v * s
    return f(x) + f(s)


def function_chosen_in_a_loop(x, k):
    f, g = _rising, _falling
    for i in range(3):
        x = f(x) if i < k else g(x)
        f, g = g, f
    return x


def method_chosen_by_condition(x, s):
    layer = _Signed(2.0)
    f = layer.activate if s > 0 else layer
    return f(x)


def table_of_functions(x, kp):
    table = {"up": _rising, "down": _falling, "same": lambda v: v}
    return table[["up", "down", "same"][kp % 3]](x)


def pipeline_of_functions(x, s):
    steps = [_rising, lambda v: v * s, np.tanh]
    for step in steps:
        x = step(x)
    return x


def function_returned_by_a_callee(x, s):
    def chosen():
        if s > 0:
            return _rising
        return _falling

    return chosen()(x)


def two_lambdas_in_one_line(x, s):
    f, g = (lambda v: v * s), (lambda v: v + s if s > 0 else v)
    return f(x) - g(x)


def lambda_called_at_once(x, s):
    return (lambda v, by=2.0: v * by + s)(x)


def lambda_with_star_arguments(x, y):
    f = lambda *args, **kwargs: args[0] * kwargs["by"] + args[-1]
    return f(x, y, by=3.0)


def conditional_lambda_body(x, s):
    f = lambda v: v if s > 1 else (v * 2 if s > 0 else -v)
    return f(x)


def function_attributes(x):
    def f(v):
        return v * f.scale

    f.scale = 3.0
    return f(x)


def callback_with_state(x, k):
    history = []

    def callback(step, value):
        if step % 2 == 0:
            history.append(value.sum())

    for step in range(4):
        x = x * 0.5 + k
        callback(step, x)
    return x, history


def higher_order_derivative_rule(x, s):
    def difference(f, h):
        return lambda v: (f(v + h) - f(v - h)) / (2 * h)

    return difference(difference(lambda v: v**3 * s, 0.25), 0.25)(x)


class Average:
    """Its methods are named as those of arrays and dicts."""

    def __init__(self):
        self.count, self.total = 0, 0.0

    def put(self, value):
        if value > 0:
            self.count += 1
            self.total = self.total + value

    def mean(self):
        if self.count == 0:
            return 0.0
        return self.total / self.count

    def get(self, limit, default):
        return self.total if self.total > limit else default


def methods_named_as_those_of_arrays(x, s):
    average = Average()
    for v in x:
        average.put(v)
    return average.mean() + average.get(s, 1.0)


@functools.singledispatch
def _magnitude(value):
    return -1.0


@_magnitude.register
def _(value: np.ndarray):
    return np.abs(value).max() if value.ndim else np.abs(value)


@_magnitude.register(int)
@_magnitude.register(float)
def _(value):
    return value * 2.0 if value > 0 else value * 0.5


class _Tariff:
    @functools.singledispatchmethod
    def price(self, value):
        return value * 0.0

    @price.register
    def _(self, value: float):
        return value * 3.0 if value > 1 else value

    @price.register
    def _(self, value: list):
        return sum(value)


def dispatched_by_the_class_of_its_argument(x, s, k):
    return _magnitude(x), _magnitude(float(s)), _magnitude(int(k)), _magnitude("none")


def method_dispatched_by_the_class_of_its_argument(x, s):
    tariff = _Tariff()
    return tariff.price(x), tariff.price(float(s)), tariff.price([x[0], s])


class _Weighted:
    """Its methods are called as NumPy's are."""

    def __init__(self, weight):
        self.weight, self.count = weight, 0

    def sum(self, values):
        total = 0.0
        for v in values:
            if v > 0:
                self.count += 1
                total += self.weight * v
        return total

    @staticmethod
    def mean(values, s):
        return values.mean() if s > 0 else -values.mean()


def methods_named_as_numpys(x, s):
    weighted = [_Weighted(2.0), _Weighted(3.0)]
    total = weighted[0].sum(x) + weighted[1].sum(-x)
    return total * weighted[0].count + _Weighted.mean(x, s) + weighted[1].count
