"""while and for loops with break, continue, return and else; zip, enumerate, reversed, range."""

import numpy as np

NO_GRADIENT = {
    "collatz": "integers",
    "first_negative": "integers",
    "while_else": "integers",
    "fibonacci": "integers",
    "gcd": "integers",
    "while_true": "integers",
}


def newton_sqrt(s):
    guess = np.abs(s) + 1.0
    while np.abs(guess * guess - np.abs(s)) > 1e-9:
        guess = (guess + np.abs(s) / guess) / 2
    return guess


def collatz(k):
    steps = 0
    k = k + 3
    while k != 1:
        if k % 2 == 0:
            k = k // 2
        else:
            k = 3 * k + 1
        steps += 1
    return steps


def double_until(x, s):
    while np.abs(x).sum() < 100:
        x = x * 2 + 1
    return x


def sum_of_rows(w):
    total = np.zeros(w.shape[1])
    for row in w:
        total = total + row
    return total


def range_of_traced(x, k):
    y = x
    for i in range(k):
        y = y + i
    return y


def range_with_step(x, k):
    total = 0
    for i in range(1, k + 7, 2):
        total += i
    return x * total


def backwards(x):
    y = np.zeros_like(x)
    for i in range(len(x) - 1, -1, -1):
        y[len(x) - 1 - i] = x[i]
    return y


def first_negative(x):
    found = -1
    for i in range(len(x)):
        if x[i] < 0:
            found = i
            break
    return found


def for_else(x, s):
    for v in x:
        if v > s:
            result = v
            break
    else:
        result = s * 1.0
    return result


def skip_negatives(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total += v
    return total


def return_from_loop(x, s):
    for v in x:
        if v > s:
            return v * 2
    return s * 1.0


def while_else(k):
    n = 0
    while n < k:
        n += 1
        if n == 2:
            break
    else:
        n = n + 100
    return n


def zipped(x, y):
    total = 0.0
    for a, b in zip(x, y):
        total += a * b
    return total


def enumerated(x):
    total = 0.0
    for i, v in enumerate(x):
        total += i * v
    return total


def enumerate_from(x):
    total = 0.0
    for i, v in enumerate(x, 1):
        total += v / i
    return total


def reversed_horner(x, s):
    value = 0.0
    for c in reversed(x):
        value = value * s + c
    return value


def nested_loops(w):
    total = 0.0
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            if w[i, j] > 0:
                total += w[i, j]
    return total


def fibonacci(k):
    a, b = 0, 1
    for _ in range(k + 5):
        a, b = b, a + b
    return a


def power_iteration(w):
    a = w.T @ w
    v = np.ones(a.shape[0])
    for _ in range(20):
        v = a @ v
        v = v / np.sqrt((v * v).sum())
    return v @ a @ v


def gcd(k):
    a, b = k + 12, 18
    while b:
        a, b = b, a % b
    return a


def while_true(k):
    n = k
    while True:
        n += 3
        if n > 10:
            break
    return n
