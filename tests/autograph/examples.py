"""Small functions, each with inputs, for the tests of the converters and their golden files."""

import numpy as np

CONSTANT = 3


def simple_relu(x):
    if x > 0:
        return x
    else:
        return 0


def early_return(x):
    """Returns early."""
    if x < 0:
        return -x
    y = x * 2
    return y


def return_in_the_middle(x):
    if x > 0:
        if x > 10:
            return "large"
        x = -x
    return x


def no_return(log, x):
    if x:
        log.append(x)


def elif_chain(x):
    if x < 0:
        kind = "negative"
    elif x == 0:
        kind = "zero"
    elif x < 10:
        kind = "small"
    else:
        kind = "large"
    return kind


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def sum_even(items):
    total = 0
    for item in items:
        if item % 2 > 0:
            continue
        total += item
    return total


def find(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            return index
    return -1


def for_else(items):
    for item in items:
        if item < 0:
            found = item
            break
    else:
        found = None
    return found


def while_else(n):
    while n > 0:
        n -= 3
        if n == 1:
            break
    else:
        return "ran out"
    return n


def nested_loops(n):
    pairs = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 3 == 0:
                continue
            pairs.append((i, j))
    return pairs


def return_from_nested(rows, wanted):
    for row in rows:
        for item in row:
            if item == wanted:
                return row
    return None


def forever(n):
    while True:
        n += 1
        if n % 7 == 0:
            return n


def loop_variable_after(n):
    for i in range(n):
        last = i * 2
    return i, last


def temporaries(items):
    total = 0
    for item in items:
        square = item * item
        if square > 4:
            square = square - 4
            total += square
    return total


def tuple_target(pairs):
    total = 0
    for a, (b, *rest) in pairs:
        total += a * b + len(rest)
    return total, a


def logical(a, b, c):
    return a and not b or c


def chained(a, b, c):
    return a < b <= c, a == b == c, a < b


def membership(x, items):
    return x in items, x not in items, x is None, x is not None


def conditional(x):
    return (x if x > 0 else -x) + (1 if x == 3 else 0)


def assertion(x):
    assert x > 0, f"{x} is not positive"
    assert x
    return x


def raises(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return np.sqrt(x)


def raises_from(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        raise ValueError("zero") from error


def reraises(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        if x == 0:
            raise
        return 0


def items(a, i, v):
    a[i] = v
    a[i + 1] += v
    a[:1] = [v, v]
    del a[-1]
    return a


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]
    i, a[i] = 0, "first"
    return a, i


class Account:
    """Something with fields."""

    def __init__(self, balance):
        self.balance = balance
        self.history = []

    def __repr__(self):
        return f"Account({self.balance}, {self.history})"

    def add(self, amount):
        self.balance += amount
        return self.balance


def attributes(account, amount):
    account.balance += amount
    account.last = amount
    for _ in range(2):
        account.balance += account.add(amount)
        account.history.append(account.balance)
    return account.balance


def calls(x):
    y = np.sin(x) + helper(x)
    print_nothing = len([x, y])
    return np.zeros(print_nothing) + max(x, y)


def helper(x, *rest, **more):
    return x + CONSTANT


def star_calls(args, named):
    return helper(*args, **named) + helper(1, *args, key=2)


def array_methods(x):
    return x.reshape(-1).sum() + x.T.shape[0] + x.astype(float).mean()


def closures(n):
    total = 0

    def add(x):
        nonlocal total
        if x > 1:
            total += x
        return total

    for i in range(n):
        add(i)
        if total > 5:
            break
    return total, add(10)


def late_binding(items):
    functions = []
    for item in items:
        twice = item * 2
        functions.append(lambda: (item, twice))
    return [f() for f in functions]


def lambdas(n):
    pick = lambda x, k=n: max(k, x)
    return [pick(i) for i in range(6)]


def comprehensions(items, low):
    squares = [x * x for x in items if x > low and x != 3]
    table = {x: -x if x > 1 else x for x in items}
    return squares, table, {x % 2 for x in items}, sum(x * low for x in items)


def with_statement(manager, x):
    with manager as value:
        if x > 0:
            return value + x
        x -= 1
    return x


def try_finally(log, x):
    try:
        if x == 0:
            return "zero"
        y = 10 // (x - 1)
    except ZeroDivisionError:
        y = 0
    else:
        y += 1
    finally:
        log.append(x)
    return y


def try_in_loop(items):
    good = bad = 0
    for item in items:
        try:
            good += 1 / item
        except ZeroDivisionError:
            bad += 1
            if bad > 1:
                break
            continue
        if good > 3:
            break
    return good, bad


def survives(items):
    seen = 0
    try:
        for item in items:
            seen += 1
            1 / item
    except ZeroDivisionError:
        return -seen
    return seen


def walrus(items):
    if (n := len(items)) and n > 2:
        return n
    while (last := items.pop()) > 0:
        n += last
    return n, last


def matching(command):
    match command:
        case [a, b] if a > b:
            result = a
        case {"x": x, **rest}:
            result = x if rest else None
        case int() | float():
            if command > 3:
                return "number"
            result = -1
        case _:
            result = "other"
    return result


def delete(n):
    x = n
    for i in range(n):
        if i == 2:
            del x
    return x


def slices(a, n):
    total = a[1:n].sum() + a[::2].sum()
    if n > 1:
        a[n - 1 :] = total
        a[..., None][0] += 1
    return a


def annotated(x: int) -> int:
    y: int = x + 1
    z: int
    if y > 2:
        z = y
    else:
        z = 0
    return z


def newton(x):
    guess = x / 2
    for _ in range(20):
        better = (guess + x / guess) / 2
        if abs(better - guess) < 1e-9:
            return better
        guess = better
    return guess


def fizzbuzz(n):
    words = []
    for i in range(1, n):
        if i % 15 == 0:
            words.append("FizzBuzz")
        elif i % 3 == 0:
            words.append("Fizz")
        elif i % 5 == 0:
            words.append("Buzz")
        else:
            words.append(str(i))
    return ", ".join(words)


class Opened:
    def __enter__(self):
        return 5

    def __exit__(self, *details):
        return False

    def __repr__(self):
        return "Opened()"


ARRAY = np.arange(6.0)

# (function, inputs, inputs, ...)
EXAMPLES = [
    (simple_relu, (2,), (-2,)),
    (early_return, (2,), (-2,)),
    (return_in_the_middle, (20,), (2,), (-2,)),
    (no_return, ([], 1), ([], 0)),
    (elif_chain, (-1,), (0,), (5,), (50,)),
    (collatz, (1,), (7,)),
    (sum_even, ([1, 2, 3, 4],), ([],)),
    (find, ("abc", "b"), ("abc", "x"), ("", "x")),
    (for_else, ([1, -2, 3],), ([1],), ([],)),
    (while_else, (0,), (9,), (10,)),
    (nested_loops, (0,), (5,)),
    (return_from_nested, ([[1, 2], [3, 4]], 3), ([[1]], 3)),
    (forever, (0,), (7,)),
    (loop_variable_after, (3,), (0,)),
    (temporaries, ([1, 2, 3],), ([],)),
    (tuple_target, ([(1, (2, 3)), (4, (5,))],), ([],)),
    (logical, (1, 0, 5), (0, 0, 5), (1, 1, 0)),
    (chained, (1, 2, 3), (3, 2, 1), (2, 2, 2)),
    (membership, (1, [1]), (2, [1]), (None, ())),
    (conditional, (3,), (-3,)),
    (assertion, (1,), (0,)),
    (raises, (4.0,), (-1.0,)),
    (raises_from, (1,), (0,)),
    (reraises, (1,), (0,)),
    (items, ([1, 2, 3, 4], 1, 9), ([1, 2], 1, 9)),
    (
        swap,
        ([1, 2, 3], 1, 2),
    ),
    (attributes, (Account(1), 2)),
    (calls, (0.5,)),
    (star_calls, ((1, 2), {"a": 3})),
    (array_methods, (np.ones((2, 3)),)),
    (closures, (3,), (9,)),
    (late_binding, ([1, 2, 3],), ([],)),
    (lambdas, (3,)),
    (comprehensions, ([1, 2, 3, 4], 1)),
    (with_statement, (Opened(), 1), (Opened(), 0)),
    (try_finally, ([], 0), ([], 1), ([], 5)),
    (try_in_loop, ([1, 0, 2],), ([0, 0, 5],), ([1, 1, 1, 1, 1],)),
    (survives, ([1, 2],), ([1, 2, 0, 3],)),
    (walrus, ([1, 2, 3],), ([-1, 1],), ([],)),
    (matching, ([3, 1],), ([1, 3],), ({"x": 1, "y": 2},), (5,), (1,), ("s",)),
    (delete, (2,), (5,)),
    (slices, (ARRAY, 4), (ARRAY, 1)),
    (annotated, (0,), (5,)),
    (newton, (2.0,)),
    (fizzbuzz, (16,)),
]
