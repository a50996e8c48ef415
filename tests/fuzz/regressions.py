"""Small programs that once did something else than NumPy; each found by random programs.

The arguments follow from the names of the parameters: x, y: vectors; w: a matrix; k: an integer
and s: a real, as 0-d arrays; kp, sp: the same as Python numbers; ks, ss: as NumPy scalars; xi, yi:
vectors of integers.
"""

import ast

from tests.fuzz.generator import Argument, Program

PARAMETERS = {
    "x": Argument("x", "vector", "float64"),
    "y": Argument("y", "vector", "float64"),
    "xi": Argument("xi", "vector", "int64"),
    "yi": Argument("yi", "vector", "int32"),
    "w": Argument("w", "matrix", "float64"),
    "k": Argument("k", "integer", "int64"),
    "kp": Argument("kp", "integer", "int64", "python"),
    "ks": Argument("ks", "integer", "int64", "scalar"),
    "s": Argument("s", "real", "float64"),
    "sp": Argument("sp", "real", "float64", "python"),
    "ss": Argument("ss", "real", "float64", "scalar"),
}

SOURCES = {
    "lists times an unsigned integer": """
def program(x, ks):
    n = ks.astype(np.uint64)
    rows = [0.5] * (n % 4 + 1)
    rows.append(x[0])
    return sum(rows), len(rows), [x[0], 2.0] * n
""",
    "names that loops in a branch swap, of one array from before": """
def program(x, y):
    a = x * 1
    b = a
    if y[0] > 0:
        for i in range(len(y)):
            for j in range(len(b)):
                a, b = b, a
    a[:1] += 1
    return a, b
""",
    "views of what a loop in a branch may have made": """
def program(x, y):
    a = x * 1
    b, c = a, a
    if y[0] > 0:
        for i in range(len(y)):
            if y[i] > 1:
                b = b * 2
        a, c = b[1:], b[:2]
    a += 1
    return a, c
""",
    "integers that are doubled so often that a compiler must not write their terms out": """
def program(xi, w):
    for i in range(len(xi)):
        for j in range(8):
            xi += xi
        if xi.mean() < 1:
            w += 1
    return xi, w
""",
    "what was an unsigned number, negated, as the start of a slice": """
def program(xi, kp):
    n = np.uint64(kp)
    return xi[-n:], xi[:-n], xi[n - 5 :: -1]
""",
    "copies and other shapes of NumPy's scalars are numbers of their own": """
def program(xi, x):
    v = np.argmax(x)
    a, b, c, d = v.copy(), np.reshape(v, ()), v.squeeze(), np.where(v > 0, v, v)
    e, f, g, h = a, b, c, d
    v += 1
    a += 10
    b += 20
    c += 30
    d += 40
    return v, a, b, c, d, e, f, g, h
""",
    "an array that is another one on one path is updated": """
def program(x):
    if x.sum() > 0:
        x = x * 2
    x += 1
    return x
""",
    "an array that is one of two is updated, and then one of the two": """
def program(x, y):
    z = x if y.sum() > 0 else y
    z[0] = 100.0
    x[1] = 50.0
    return z
""",
    "a name that may be the argument for more than one reason": """
def program(x):
    for i in range(3):
        if x[0] > 0:
            break
        x = x // 2
    x[:] *= 1.5
    return x
""",
    "an early return of what later statements update": """
def program(x, k):
    if k > 5:
        return x * 2
    elif k > 1:
        if x.sum() > 0:
            return x
        x[1] = 77.0
    x[0] = 9.0
    return x
""",
    "a while loop of no turns leaves the name to the argument": """
def program(x):
    while 0 < x.sum() < 10:
        x = x * 2
    x[0] = 8.0
    return x
""",
    "two names for what a branch makes": """
def program(x, k):
    if k > 1:
        a = b = x * 2
    else:
        a = b = x + 1
    c = a
    return a, b, c
""",
    "a loop that gives a name its own array again": """
def program(x, k):
    for i in range(12):
        x = x
    x[1] = 9.0
    return x
""",
    "a loop of no turns leaves the name to the argument": """
def program(x, k):
    v = x
    for i in range(k):
        v = v * 2
    v = v + 1
    v[0] = 7.0
    return v
""",
    "items of zip are looked up in their turn": """
def program(xi):
    for e, f in zip(xi, xi):
        xi[...] -= f
    return xi
""",
    "an element is not a view": """
def program(x):
    first = x[0]
    x[0] = x[1]
    x[1] = first
    total = x.sum()
    before = total
    total += 1
    return x, total, before
""",
    "np.int64(k) is a scalar of its own": """
def program(x, k):
    a = np.int64(k)
    b = k
    a += 3
    return a, b
""",
    "a Python number that has become a traced one comes back as it went": """
def program(x, kp):
    return x * 2, kp
""",
    "an early return under two branches": """
def program(x, y):
    a = x
    if y.mean() > 0:
        if y.all():
            return a
    return a
""",
    "the larger of two arrays is that array": """
def program(s, k):
    a = max(s, k * 1.0)
    b = max(s, s)
    b *= k
    return a, b
""",
    "an index that is a 0-d array gives a copy, a NumPy scalar a view": """
def program(w, k, ks):
    row = w[k]
    row += 100
    other = w[ks]
    other += 1000
    return w, row
""",
    "an empty mask fits an axis of any length": """
def program(x):
    x[np.zeros(0, bool)] = 3.0
    return x[np.zeros(0, bool)]
""",
    "a loop around a name that a branch made ambiguous": """
def program(x, y, k):
    if k > 0:
        x, y = y, x
    while x.sum() < -1000:
        x = x + 1
    x *= 3
    return k
""",
    "round gives a Python integer": """
def program(xi, s):
    xi += round(s)
    return xi
""",
    "a loop gives a name the array of another name": """
def program(s, k):
    first = s
    for i in range(k, 1):
        s = first
    s += s
    return first
""",
    "a part of an argument on one path": """
def program(x, y, k):
    part = x[k % 2:] if k > 0 else y[1:]
    part[0] = 7.0
    x[1] += 1.0
    y[-1] = part[1]
    return part
""",
    "parts of an array that a branch makes": """
def program(x, k):
    if k > 1:
        a = x * 2
        first, rest = a[:2], a[1:]
    else:
        first, rest = x[:2], x[2:]
    first[1] = 50.0
    rest[0] += 1.0
    return first, rest
""",
    "names change their arrays in a loop that updates one": """
def program(x, y, k):
    z = x
    for i in range(k + 3):
        x, y = y, x
        x[0] += 1.0
        if y[1] > 0:
            z = z * 2
        z[1] -= 1.0
    z[0] = 9.0
    return x, y, z
""",
    "two names for what each turn makes": """
def program(x, y, k):
    for i in range(k + 9):
        y[0] += 1.0
        x[-1] -= 2.0
        if i % 2 == k % 2:
            x = y = x + y
        elif i % 3 == 0:
            y = x.copy()
    x[0] = 3.0
    return x, y
""",
    "a chain of names in an unrolled loop": """
def program(x, y, s):
    v = x
    for e in [s, 1.0]:
        if v.sum() > e:
            v = y[1:]
            v[0] -= e
        elif y[0] > e:
            y = v
        v[:1] += 1.0
    x[0] = 5.0
    return x, y, v
""",
    "numbers that a loop leaves alone, or binds": """
def program(x):
    v = 1.5
    for i in range(12):
        v = v
        n = 3
    return v, n
""",
    "squeeze drops an axis whose length the run tells": """
def program(x):
    return np.squeeze(x[x.argsort() == 0], axis=0)
""",
    "an integer of more than 64 bits is stored as a float": """
def program(x):
    x[:2] = -(10 ** 30)
    return x
""",
    "a Python number that does not fit wraps in where": """
def program(xi, kp):
    small = xi.astype(np.uint8)
    return np.where(xi > 0, small, -1), np.where(xi > 0, small, 300 + kp)
""",
    "two names for an array before a loop, one runs after the other": """
def program(x, k):
    before = x
    for i in range(k + 9):
        x, before = x - 0.5 * (x - before) - 1, x
    before[0] = 3.0
    return x, before
""",
    "the sum of no elements": """
def program(x, y, k):
    few = x[k:2]
    few += sum(few) + sum(y[:0], 1.5)
    return few, x, sum(y[:k])
""",
    "ravel of what does not lie in order is a copy": """
def program(x, w):
    backwards, some, rows = x[::-1].ravel(), x[1:].ravel(), w[:, 1:].ravel()
    backwards[0] = 50.0
    some[0] = 60.0
    rows[0] = 70.0
    return x, w
""",
    "a view is looked at in a try statement after an update": """
def program(w, k):
    row = w[0]
    try:
        if w.shape[0] % 2 == 0:
            w[...] = 3
            row = row // 2
        else:
            row = row * k
    except LookupError:
        pass
    return row, w
""",
    "a view of a known array, as long as the run says, is returned from one branch": """
def program(x, y, k):
    v = np.zeros(x.shape)
    part = v[k:]
    if k > 2:
        v[0] = 1.0
    elif y.sum() > 50:
        raise ValueError
    else:
        return part
    return v
""",
    "ravel of a column is a copy": """
def program(w, k):
    column, row = w[:, 0].ravel(), w[0].ravel()
    w[k % 2] -= 1.0
    column[1] = 7.0
    row[0] = 9.0
    return column, row, w
""",
    "a dict that a turn makes after an exception that tracing has caught": """
def program(x, y, k):
    i = 0
    while len(x[1:]) > 3 and i < 3:
        i += 1
        if 0 < y.max() <= k:
            def count():
                nonlocal n
                return n
            n = 0
            try:
                v = 7 // 0
            except ZeroDivisionError:
                v = 99
            table = dict(u=i, n=0)
            for e in x[1:]:
                table["n"] += 1
                if e > table["u"]:
                    table["u"] = e
            n = table["u"] + v
        else:
            break
    return i
""",
    "slices of ranges": """
def program(k, x):
    total = 0
    for i in range(k + 5)[::-1]:
        total = total * 3 + i
    for i in range(1, k + 9, 2)[k:]:
        total = total * 3 + i
    for i in range(k, -7, -2)[-3:k][::2]:
        total = total * 3 + i
    some = range(0, 40, abs(k) + 1)[2:-2]
    return total, len(some), some[-1], 8 in some, x[some[0] % 3]
""",
    "a call that always raises, in a try in a branch": """
def found(limit):
    raise KeyError(limit)

def program(x, k, w):
    if k > 0:
        try:
            v = found(2)
        except KeyError:
            v = 1
        other = v
        k = -other
    for row in w:
        try:
            first = found(3)
            second = first + 1
        except KeyError:
            first = second = x[0]
        x[0] = first * second - 1
    return x, k
""",
    "places and masks behind a slice, augmented": """
def program(w, xi, x):
    w[:, xi % 2] += 1.5
    w[..., w[0] > 0] *= 2.0
    for v in x:
        w[:, [0, -1]] -= v
    w.T[:, [0]] += w[0, 0]
    return w
""",
    "the first turn is peeled off": """
def program(x):
    s = 0
    for i in range(12):
        s = s + x
    return s
""",
}


def regression(name: str) -> Program:
    """The program of a name, its arguments by the names of its parameters."""
    source = SOURCES[name].lstrip("\n")
    function = next(
        n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "program"
    )
    return Program(source, [PARAMETERS[a.arg] for a in function.args.args], seed=1)
