"""Generators: functions that yield, generator expressions, iter and next, itertools around them."""

import itertools

import numpy as np

NO_GRADIENT = {
    "generator_of_integers": "integers",
    "collatz_generator_counted": "integers",
    "any_and_all_of_generators": "truth values",
    "prime_generator": "integers",
    "generator_expression_counts": "integers",
}


def _positive(values):
    for v in values:
        if v > 0:
            yield v


def _naturals(start=0, step=1):
    n = start
    while True:
        yield n
        n += step


def _halvings(value, least=0.1):
    while value > least:
        yield value
        value = value / 2


def generator_consumed_by_for(x):
    total = 0.0
    for v in _positive(x):
        total = total + v * v
    return total


def generator_with_yields_in_both_branches(x, s):
    def clipped(limit):
        for v in x:
            if v > limit:
                yield limit
            elif v < -limit:
                yield -limit
            else:
                yield v

    out = np.zeros_like(x)
    i = 0
    for v in clipped(abs(s)):
        out[i] = v
        i += 1
    return out


def generator_of_staged_while(s):
    total, weight = 0.0, 1.0
    for v in _halvings(abs(s) + 3.0, least=0.2):
        total += weight * v
        weight = -weight
    return total


def infinite_generator_left_by_staged_break(s):
    value = abs(s) + 20.0
    for n in _naturals(1):
        value = value / n
        if value < 0.5:
            break
    return value * n


def generator_left_by_return(x, s):
    for v in _positive(x):
        if v > s:
            return v * 10
    return s


def generator_with_else(x):
    for v in _positive(x):
        if v > 100:
            found = v
            break
    else:
        found = x[0]
    return found


def generator_with_continue(x):
    total = 0.0
    for i, v in enumerate(_positive(x)):
        if i == 1:
            continue
        total += v * (i + 1)
    return total


def generator_of_integers(k):
    def divisors(n):
        d = 1
        while d <= n:
            if n % d == 0:
                yield d
            d += 1

    return sum(divisors(abs(k) + 12))


def collatz_generator_counted(k):
    def steps(n):
        while n != 1:
            yield n
            n = n // 2 if n % 2 == 0 else 3 * n + 1

    longest = 0
    for length, n in enumerate(steps(abs(k) + 7), start=1):
        longest = max(longest, n) + 0 * length
    return longest


def nested_generators(w):
    def rows():
        for row in w:
            yield row * 2

    def elements():
        for row in rows():
            for v in row:
                yield v

    total = 0.0
    for v in elements():
        total = total * 0.9 + v
    return total


def generator_pipeline(x, s):
    def scaled(values, by):
        for v in values:
            yield v * by

    def shifted(values, by):
        for v in values:
            yield v + by

    return sum(shifted(scaled(_positive(x), s), 1.0))


def yield_from_generators(x, y):
    def both():
        yield from x
        yield from _positive(y)
        yield 1.0

    total = 0.0
    for v in both():
        total = total / 2 + v
    return total


def yield_from_gives_a_value(x):
    def part(values):
        count = 0
        for v in values:
            yield v
            count += 1
        return count

    def whole():
        first = yield from part(x)
        second = yield from part(x[1:])
        yield first * 100.0 + second

    return sum(whole())


def yield_inside_static_loop(x):
    def powers():
        for p in (1, 2, 3):
            yield p, x**p

    total = np.zeros_like(x)
    for p, values in powers():
        total = total + values / p
    return total


def generator_with_state_of_its_own(x):
    def running():
        mean, count = 0.0, 0
        for v in x:
            count += 1
            mean += (v - mean) / count
            yield mean

    last = 0.0
    for mean in running():
        last = last * 0.5 + mean
    return last


def generator_updates_nonlocal(x):
    seen = 0.0

    def watched():
        nonlocal seen
        for v in x:
            seen += abs(v)
            yield v

    total = 0.0
    for v in watched():
        total += v / (seen + 1)
    return total, seen


def generator_under_staged_branch(x, s):
    if s > 0:
        total = sum(_positive(x))
    else:
        total = 0.0
        for v in x:
            for h in _halvings(abs(v), least=0.5):
                total += h
    return total


def generator_in_staged_loop(w, s):
    total = 0.0
    for row in w:
        for v in _positive(row):
            if v > s:
                break
            total += v
    return total


def generator_method(x):
    return sum(v * w for v, w in _Series(x, 0.5).terms())


class _Series:
    def __init__(self, values, decay):
        self.values, self.decay = values, decay

    def terms(self):
        weight = 1.0
        for v in self.values:
            yield v, weight
            weight = weight * self.decay

    def __iter__(self):
        for v, weight in self.terms():
            yield v * weight


def object_with_generator_as_iter(x):
    total = 0.0
    for v in _Series(x, 0.8):
        total += v
    return total + sum(_Series(x, 0.1))


class _Node:
    def __init__(self, value, *children):
        self.value, self.children = value, children

    def walk(self):
        yield self.value
        for child in self.children:
            yield from child.walk()


def recursive_generator_over_a_tree(x, s):
    tree = _Node(s, _Node(x[0], _Node(x[1])), _Node(x[2] * s))
    total = 0.0
    for v in tree.walk():
        total = total * 2 + v
    return total


class _Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


def iterator_class(x):
    total = 0.0
    for i in _Countdown(3):
        total = total * 2 + x[i]
    return total + next(_Countdown(2)) + next(_Countdown(0), 7)


class _Shrinking:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        return self

    def __next__(self):
        if abs(self.value) < 0.3:
            raise StopIteration
        self.value = self.value / 2
        return self.value


def taken_whole_from_an_iterator_class(s):
    return sum(list(_Shrinking(s))), sum(_Shrinking(s)), max(_Shrinking(s), default=0.0)


def next_of_an_iterator_class_with_default(s):
    late = _Shrinking(s / 100)
    return next(_Shrinking(s), -1.0), next(late, -1.0), late.value


def next_of_generator(x):
    values = _naturals(1, 2)
    first, second = next(values), next(values)
    for third in values:
        break
    return x * (first + 10 * second + 100 * third + 1000 * next(values))


def next_with_default(x, s):
    return next((v for v in x if v > s), s)


def next_of_exhausted(x):
    values = (v for v in x)
    total = sum(values)
    return total + next(values, 5.0)


def iterator_of_array(x):
    values = iter(x)
    first = next(values)
    second = next(values)
    rest = 0.0
    for v in values:
        rest += v * first
    return rest + second + next(values, 1.0)


def iterator_advanced_under_conditions(x, y):
    values = iter(y)
    total = 0.0
    for i in range(3):
        if x[i] > 0:
            total += next(values) * (i + 1)
    return total + next(values)


def iterator_in_staged_loop(x):
    pairs = iter(x)
    total = 0.0
    while True:
        a = next(pairs, None)
        if a is None:
            break
        total = total / 2 + a
    return total


def iterator_until_sentinel(x):
    stack = [3, 2, 1, 0, 9]
    total = 0.0
    for i in iter(lambda: stack.pop(0), 0):
        total = total * 2 + x[i]
    return total


def unpacked_generator(x):
    a, b, *rest = (v * v for v in x[:4])
    return a - b + max(rest, key=lambda v: -v) + sum([*(v + 1 for v in x[:2])])


def generator_expression_sum(x, y):
    return sum(a * b for a, b in zip(x, y))


def generator_expression_with_filter(x, s):
    return sum(v * v for v in x if v > s if v < 2.0)


def generator_expression_counts(x):
    return sum(1 for v in x if v > 0)


def generator_expression_of_two_loops(x, y):
    return sum(a * b for a in x if a > 0 for b in y if b > a)


def generator_expression_bound_late(x, s):
    values = (v * scale for v in x)
    scale = s + 1
    return sum(values)


def any_and_all_of_generators(x, s):
    return any(v > s for v in x), all(v > s for v in x), any(v > 99 for v in x)


def max_and_min_of_generators(x, s):
    return (
        max(v * s for v in x) - min(abs(v) for v in x),
        max((abs(v) for v in x if v > 50), default=s),
        min((v for v in x), key=lambda v: (v - s) ** 2),
    )


def list_and_dict_of_generators(x):
    table = dict((name, v * 2) for name, v in zip("abc", x))
    squares = list(v * v for v in x[:3])
    return table["a"] + table["c"], squares[1], tuple(i for i in range(3))


def enumerate_generator(x):
    total = 0.0
    for i, v in enumerate(_positive(x), start=1):
        total += i * v
    return total


def zip_generator_with_array(x, y):
    total = 0.0
    for v, w in zip(_positive(x), y):
        total += v * w
    return total


def zip_array_with_infinite_generator(x):
    return sum(v * n for v, n in zip(x, _naturals(1)))


def zip_two_static_generators(x):
    total = x.sum()
    for a, b in zip(_naturals(1), (i * i for i in range(3))):
        total = total * a + b
    return total


def map_and_filter_of_generators(x, s):
    kept = filter(lambda v: v < 2.0, map(lambda v: v * s, _positive(x)))
    return sum(kept)


def map_over_array(x):
    return sum(map(np.sin, x)) + max(map(lambda v: v * v, x))


def count_beside_an_array(x):
    total = 0.0
    for i, v in zip(itertools.count(1), x):
        total += v / i
    return total


def count_left_by_staged_break(s):
    total = abs(s) + 1
    for i in itertools.count(2):
        total = total * i
        if total > 500:
            break
    return total


def islice_of_generator(x, s):
    return sum(itertools.islice(_positive(x), 2)) + sum(
        itertools.islice((v * s for v in x), 1, 4, 2)
    )


def chain_of_iterables(x, y):
    total = 0.0
    for v in itertools.chain(x, [1.0, 2.0], _positive(y)):
        total = total * 0.5 + v
    return total


def takewhile_and_dropwhile(x, s):
    head = sum(itertools.takewhile(lambda v: v < s + 1, x))
    return head - sum(itertools.dropwhile(lambda v: v < s + 1, x))


def accumulate_of_array(x):
    last = 0.0
    for partial in itertools.accumulate(x):
        last = last + partial
    for product in itertools.accumulate(x, lambda a, b: a * b * 0.5):
        last = last + product
    return last


def pairwise_of_array(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


def product_of_static_ranges(x):
    total = 0.0
    for i, j in itertools.product(range(2), range(3)):
        total += x[i] * x[j] / (1 + j)
    return total


def generator_with_match(x, k):
    def chosen():
        for v in x:
            match k:
                case 0:
                    yield v
                case 1 | 2:
                    yield v * 2
                    yield -v
                case _ if v > 0:
                    yield v * 3

    total = 0.0
    for v in chosen():
        total = total * 0.7 + v
    return total


def generator_consumed_in_a_branch(x, s):
    values = (v * v for v in x)
    if s > 0:
        return sum(values)
    return s


def membership_in_generator(x, s):
    if 1 in (round(v) for v in x):
        return s * 2
    return s


def reduce_and_fromiter_of_generators(x):
    array = np.fromiter((v * 2 for v in x[:3]), float)
    return array * sum(v for v in x)


def islice_with_staged_stop(x, k):
    return sum(itertools.islice((v * v for v in x), abs(k)))


def prime_generator(k):
    def primes():
        n = 2
        while True:
            d = 2
            while d * d <= n:
                if n % d == 0:
                    break
                d += 1
            else:
                yield n
            n += 1

    total = 0
    for p in primes():
        if p > abs(k) * 5 + 3:
            break
        total += p
    return total


def generator_of_chunks(x):
    def chunks(values, size):
        for i in range(0, len(values), size):
            yield values[i : i + size]

    return sum(chunk.max() for chunk in chunks(x, 2))


def generator_of_tagged_values(x):
    def tagged():
        for v in x:
            if v > 0:
                yield "gain", v
            else:
                yield "loss", v

    gain, loss = 0.0, 0.0
    for kind, v in tagged():
        if kind == "gain":
            gain += v
        else:
            loss += v
    return gain, loss


def generators_nested_in_each_other(x):
    return sum(sum(a * b for b in x if b > a) for a in x)


def generator_yields_views(x):
    y = x.copy()

    def halves():
        yield y[:2]
        yield y[2:]

    for part in halves():
        part *= 2
        part += part.sum()
    return y


def max_of_pairs_from_nested_loops(x):
    def pairs():
        for i in range(len(x)):
            for j in range(i):
                yield i, j, x[i] * x[j]

    return max(product for i, j, product in pairs() if i == j + 1)


def enumerate_zip_of_generator(x, k):
    def evens(limit):
        n = 0
        while n < limit:
            yield n
            n += 2

    total = 0.0
    for i, (n, v) in enumerate(zip(evens(abs(k) + 6), x)):
        total += n * v * (i + 1)
    return total


def return_from_nested_generators(x, s):
    for a in (v for v in x if v > s):
        for b in (v for v in x if v < s):
            if a * b < 0:
                return a - b
    return s


def counting_leaves_the_start_alone(x, k):
    total = 0.0
    for i in itertools.islice(itertools.count(k), 4):
        total = total * 0.5 + i
    for i, v in enumerate((v for v in x), start=k):
        total = total + i * v
    for v in itertools.islice(x, abs(k) % 2, None, abs(k) + 1):
        total = total - v
    return total, k
