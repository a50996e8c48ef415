"""Random programs that make much of the rest of the language.

    program = language_program(7)

They are random programs (see generator.py) with lists that grow, comprehensions, exceptions that
are caught, None until something is found, objects as state, recursion, functions chosen by a
condition, decorators, keyword arguments, dataclasses, context managers, updates of parts,
assignment expressions, and loops that end in the middle. Each comes from a template:
`$v` is a new name whose value the rest of the program uses, other names with `$` are new, too, and
`«»` are braces.
"""

import re
from typing import Any

from tests.fuzz.generator import Program, Writer, indented
from tests.fuzz.kinds import Rejected, Samples

HEAD = """import contextlib, dataclasses, functools, warnings
from collections import namedtuple


class Box:
    def __init__(self, value):
        self.value = value
        self.count = 0

    def add(self, value):
        self.value = self.value + value
        self.count += 1
        return self


class Missing(Exception):
    pass


class Pair:
    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def of(self, other):
        return other if isinstance(other, Pair) else Pair(other)

    def __add__(self, other):
        other = self.of(other)
        return Pair(self.x + other.x, self.y + other.y)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, (int, float)):
            return Pair(self.x * other, self.y * other)
        if not isinstance(other, Pair):
            return NotImplemented
        return Pair(self.x * other.x, self.x * other.y + self.y * other.x)

    def __truediv__(self, other):
        if other.x == 0:
            raise ZeroDivisionError("pair")
        return Pair(self.x / other.x, self.y)

    def __neg__(self):
        return Pair(-self.x, -self.y)

    def __abs__(self):
        return -self if self.x < 0 else self

    def __iadd__(self, other):
        if self.x < 5:
            self.x = self.x + self.of(other).x
        return self

    def __lt__(self, other):
        return self.x < self.of(other).x

    def __eq__(self, other):
        return self.x == self.of(other).x

    def __bool__(self):
        return True if self.x > 1 else False

    def __len__(self):
        return 2 if self.x > 0 else 1

    def __getitem__(self, place):
        if place > 1:
            raise IndexError("pair")
        return self.x if place == 0 else self.y

    def __setitem__(self, place, value):
        if place == 0:
            self.x = value
        else:
            self.y = value

    def __contains__(self, value):
        return bool(self.x == value) or bool(self.y == value)

    def __float__(self):
        return float(self.x + self.y)


State = namedtuple("State", "place speed")


@dataclasses.dataclass
class Count:
    n: int = 0
    total: float = 0.0

    @property
    def mean(self):
        return self.total / self.n if self.n else 0.0

    @classmethod
    def of(cls, values):
        made = cls()
        for value in values:
            made.note(value)
        return made

    @staticmethod
    def half(value):
        return value * 0.5

    def note(self, value):
        self.n += 1
        self.total = self.total + value


FACTOR = 1.5


def doubling(function):
    @functools.wraps(function)
    def doubled(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return doubled


@doubling
def weighed(first, second=1, *others, scale=1.0, **more):
    total = first - second
    for other in others:
        total = total + other
    return (total + sum(more.values())) * scale * FACTOR


@functools.lru_cache(maxsize=None)
def table_of(n):
    return np.array([1.0, 2.5, n * 0.5])


@contextlib.contextmanager
def counted(box):
    box.count += 1
    yield box
    box.count += 2


def power(base, n):
    if n <= 0:
        return 1
    half = power(base, n // 2)
    return half * half * (base if n % 2 == 1 else 1)


def steps(n, limit):
    if n <= 1 or limit <= 0:
        return 0
    return 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1, limit - 1)


def even(n):
    return True if n <= 0 else odd(n - 1)


def odd(n):
    return False if n <= 0 else even(n - 1)


def found(values, limit):
    for i, value in enumerate(values):
        if value > limit:
            return i
    raise Missing("nothing above", limit)
"""

LISTS = """
$l = []
for $e in {a}:
    if $e > {s}:
        $l.append($e)
$v = len($l)

$l = [{s}]
for $e in {a}:
    if $e > {s}:
        $l.append($e * 2)
$v = sum($l)

$l = []
for $e in {a}:
    $l.append($e + {s})
$v = np.array($l)

$l = []
for $e in {a}:
    while $l and $l[-1] > $e:
        $l.pop()
    $l.append($e)
$v = len($l)

$l = [0.5]
for $e in {a}:
    if $e < {s}:
        $l.insert(0, $e)
$v = $l[0] + len($l)

$l = [{s}, 1.5]
for $e in {a}:
    $l.append($l[-1] + $l[-2] * $e)
$v = np.array($l).sum()

$l = [1]
$n = {i}
while len($l) < 9 and $n != 1:
    $n = $n // 2 if $n % 2 == 0 else 3 * $n + 1
    $l.append($n)
$v = np.array($l)

$l = [0, 3]
$v = 0
while $l and $v < 12:
    $n = $l.pop(0)
    $v += 1
    if $n < {i}:
        $l.extend([$n + 1, $n + 2])

$l = [[], []]
for $e in {a}:
    $l[0 if $e > {s} else 1].append($e)
$v = len($l[0]) - len($l[1])

$l = [v for v in {a} if v > {s}]
$v = max($l) if $l else {s}

$l = sorted([v * {s} for v in {a}])
$v = $l[0] - $l[-1]

$v = np.array([v * v for v in {a}] + [1.0])

$v = np.array([[u - v for v in {a}] for u in {a}])

$v = sum([v for v in {a} if v > 0 and v < {s}])
"""

QUEUES = """
$q = deque(maxlen=3)
$v = 0.0
for $e in {a}:
    $q.append($e)
    $v = max($v, sum($q) / len($q))

$q = deque([{s}])
$v = 0
while $q and $v < 9:
    $n = $q.popleft()
    $v += 1
    if $n < {s}:
        $q.append($n + 1)
        $q.appendleft($n + 2)

$q = deque()
for $e in {a}:
    while $q and $q[-1] <= $e:
        $q.pop()
    $q.append($e)
$v = len($q)

$q = []
for $e in {a}:
    if $e > {s}:
        heapq.heappush($q, $e)
$v = heapq.heappop($q) if $q else {s}

$q = [({s}, 0)]
$v = 0
while $q and $v < 7:
    $d, $n = heapq.heappop($q)
    $v += 1
    if $d < {s}:
        heapq.heappush($q, ($d + 1, $v))
        heapq.heappush($q, ($d + 2, $n))

$q = []
for $e in {a}:
    bisect.insort($q, $e)
$v = $q[{i} % len($q)] + bisect.bisect($q, {s})

$q = [0.5] * ({i} % 4 + 1)
for $n in range(len($q)):
    $q[$n] = $q[$n - 1] * 2 + {s}
$v = $q[-1] - len($q)

$q = [{s}, 1.5] * ({i} % 3)
$q.append(2.0)
$v = sum($q)
"""

FOUND = """
$b = None
for $e in {a}:
    if $b is None or $e < $b:
        $b = $e
$v = $b

$b = None
for $e in {a}:
    if $e > {s}:
        $b = $e
        break
$v = {s} if $b is None else $b

$b = None
if {c}:
    $b = {s}
$v = 0.0 if $b is None else $b * 2

$b = 'up' if {c} else 'down'
$v = {s} if $b == 'up' else 2.5

for $e in {a}:
    if $e > {s}:
        $v = 1
        break
else:
    $v = 0
"""

EXCEPTIONS = """
try:
    $v = {a}[{i} * 2]
except IndexError:
    $v = {a}[0]

try:
    $v = found({a}, {s})
except Missing:
    $v = -1

$v = 0
for $e in {a}:
    try:
        $v += found({a}, $e)
    except Missing as error:
        $v += 10
    finally:
        $v += 1

try:
    if {c}:
        raise ValueError({s})
    $v = 1.5
except (KeyError, ValueError):
    $v = {s} * 1.0

$v = 0
try:
    for $n in range({i} + 2):
        $v = $v + 1
        if {a}[$n] > {s}:
            raise Missing
    $v = $v + 100
except Missing:
    $v = $v + 50

try:
    $v = 7 // {i}
except ZeroDivisionError:
    $v = 99

try:
    $v = found({a}, {s})
except Missing:
    $v = -1
else:
    $v = $v * 2
"""

OBJECTS_AND_FUNCTIONS = """
$o = Box({s})
for $e in {a}:
    if $e > 0:
        $o.add($e)
$v = $o.value * 1.0

$o = Box(0)
for $e in {a}:
    $o.count += 1
    if $o.count > {i}:
        break
$v = $o.count

$o = Box([{s}, {s}])
for $n in range({i} + 2):
    $o.value = [$o.value[1], $o.value[0] + 1]
$v = $o.value[0]

$o, $p = Box({s}), Box({s})
for $e in {a}:
    if $e > {s}:
        $o, $p = $p, $o
    $o.count += 1
$v = $o.count

$f = np.sin if {c} else np.cos
$v = $f({a})

$f = lambda $e: $e * {s}
$g = (lambda $e: $e + 1) if {c} else $f
$v = $g({s})

$v = power({s}, {i})

$v = steps({i} + 3, 20)

$v = even({i})

$n = 0
def $f($e):
    nonlocal $n
    $n = $n + 1
    return $e > {s}
while $n < 7 and not $f({a}[$n % 3]):
    pass
$v = $n
"""

OPERATORS = """
$o = Pair({s}, 1.0)
$o = abs($o * $o + Pair({s})) + 0.5
$v = $o.x * 1.0

$o = Pair({s})
for $e in {a}:
    $o = $o + $e if $e > 0 else -$o
$v = $o.x

$o = Pair({s}, {s})
for $e in {a}:
    if Pair($e) < $o:
        $o = Pair($e, $o.y + 1)
$v = $o.y

$o = Pair({s})
$n = 0
while not $o and $n < 6:
    $o += 1
    $n += 1
$v = $n + len($o)

$o = Pair({s}, 2.0)
$o[{i} % 2] = {s}
$o[1] += 1
$v = $o[0] if {s} in $o else $o[1]

$o = Pair({s}, 2.0)
try:
    $v = (Pair({s}) / $o)[{i} % 3] * 1.0
except (ZeroDivisionError, IndexError):
    $v = -1.0

$o, $p = Pair({s}), Pair({s}, 3.0)
$v = float($o or $p) + float($p and $o)

$v = float(max(Pair($e, 1.0) for $e in {a})) + float(sum([Pair({s}), Pair(1.0)], Pair(0.5)))

$o = [Pair($e) for $e in {a}]
$v = 1 if $o[0] == $o[-1] else 2 if $o[0] != {s} else 3

$o = Pair({s})
$p = $o
if {c}:
    $p = Pair(2.0, {s})
$p += 1
$p.y = 4.0
$v = $o.x + $o.y
"""

ASSIGNMENTS_AND_JUMPS = """
if ($n := {s}) > {s}:
    $v = $n + 1
else:
    $v = $n

$n = 40.0
while ($n := $n / 2) > abs({i}) + 1:
    pass
$v = $n

$v = 0
while True:
    $v += 1
    if $v > {i} or {a}[$v % 3] > {s}:
        break

$v = 0.0
for $e in {a}:
    if $e < 0:
        continue
    for $u in {a}:
        if $u > $e:
            break
        $v = $v + $u * $e
    else:
        $v = $v - 1

$e, *$r = {a}
$v = $e + len($r)

$v = {s}
with np.errstate(all='ignore'):
    if {c}:
        $v = $v / ({s} + 0.25)

$d = dict(u={s}, n=0)
for $e in {a}:
    $d['n'] += 1
    if $e > $d['u']:
        $d['u'] = $e
$v = $d['n'] + $d['u']
"""

FUNCTIONS = """
$v = weighed({s}, scale={s})

$v = weighed({s}, {i}, 2.0, {s}, u={s}, w=0.5)

$f = functools.partial(weighed, {s}, scale=0.5)
$v = $f({i}) - $f()

$v = table_of(3)[{i} % 3] * {s}

$c = Count.of({a})
$v = $c.mean + Count.half({s})

$c = Count()
for $e in {a}:
    if $e > {s}:
        $c.note($e)
    else:
        $c = dataclasses.replace($c, total=$c.total - 1.0)
$v = $c.total + $c.n

$t = State({s}, 1.0)
for $e in {a}:
    $t = $t._replace(place=$t.place + $t.speed * 0.5, speed=$e)
$v = $t.place - $t.speed

$o = Box({s})
with counted($o) as $p:
    $p.value = $p.value * 2
    if {c}:
        $p.count += 4
$v = $o.value + $o.count

$o = Box(0.5)
try:
    with counted($o), contextlib.suppress(Missing):
        $o.value = found({a}, {s})
        $o.count += 8
except Missing:
    $o.count -= 1
$v = $o.value * 1.0 + $o.count
"""

NUMBERS_AND_PARTS = """
$q, $r = divmod({i}, 3)
$v = $q * 10 + $r

$q, $r = divmod({s}, 0.75)
$v = $q + $r

$v = pow({i} % 3, 2) + round({s} * 1.0) + int({s} > 0) + abs({i})

$v = int({s}) + float({i}) + bool({s})

$v = {i} if {s} in {a} else -{i}

$v = 0 < {s} <= 2 < {i} + 3

$v = not {c} or {s} < {i} and {c}

$v = ({s} and {i}) or 2.5

$v = len({a}) + sum({a}) - max({a}) + min({s}, {i}, 4)

assert {i} < 10_000, f"«{s}» of «{i}»"
$v = {s}

$u = {a} * 1.0
np.add.at($u, [0, 1, 0], {s})
$v = $u

$u = np.zeros(np.shape({a}))
np.multiply({a}, {s}, out=$u)
$v = $u - 1

$u = {a} * 1.0
$u[$u > {s}] = 0.5
$u[1:] -= 1
$v = $u[::-1]

$u = {a} * 1.0
for $n in range(len($u) - 1):
    $u[$n + 1] = $u[$n] * 0.5 + $u[$n + 1]
$v = $u

$u = {a} * 1.0
$n = {i} % 3
$u[:$n], $u[$n] = 2.0, {s}
$v = $u[$n - 1 : $n + 2].sum()

$u = np.outer({a}, {a}) * 0.5
$n = {i} % 2
$u[[0, $n]] = $u[[$n, 0]]
$u[$n, 1:] += $u[0, :-1]
$v = $u.sum(axis=0)

$u = [{s}, {i}, 0.5]
del $u[0]
$u[-1] += {s}
$v = $u[0] + $u[-1]

$d = «$n: $e * {s} for $n, $e in enumerate({a}) if $n != 1»
$v = $d[0] + len($d)

$v = 0
for $n in range({i} % 7, -2, -2):
    $v = $v * 2 + $n

for $n, ($e, $u) in enumerate(zip({a}, reversed({a}))):
    if $e + $u > {s}:
        break
$v = $n * $e

for $n in 'abc':
    if $n == 'b' and {c}:
        break
$v = 1 if $n == 'b' else 2
"""

ASSIGNING_COMPREHENSIONS = """
$l = [$u for $e in {a} if ($u := $e * {s}) > 0]
$v = sum($l) + $u

$u = 0.0
$l = [($u := $u + $e) for $e in {a}]
$v = np.array($l) + $u

$v = $u if any(($u := $e) > {s} for $e in {a}) else {s}

$v = next(($u for $e in {a} if ($u := $e * $e) > {s}), 0.5)

$l = [{s} if ($n := {i} + $e) < 0 else 1.0 for $e in range(4)]
$v = $l[-1] + $n
"""

GROUPS = (
    *(FUNCTIONS, NUMBERS_AND_PARTS, ASSIGNING_COMPREHENSIONS),
    *(LISTS, QUEUES, FOUND, EXCEPTIONS),
    *(OBJECTS_AND_FUNCTIONS, OPERATORS, ASSIGNMENTS_AND_JUMPS),
)
SNIPPETS = [snippet.strip("\n") for group in GROUPS for snippet in group.split("\n\n")]


def language_program(seed: int) -> Program:
    """The program of a seed, always the same."""
    attempt = 0
    while True:
        try:
            return LanguageWriter(seed, attempt).program()
        except Rejected:
            attempt += 1


class LanguageWriter(Writer):
    """Writes programs with statements of all kinds."""

    joins = True

    def program(self) -> Program:
        program = super().program()
        return program.with_source(f"{HEAD}\n\n{program.source}")

    def statement(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        if self.statements < self.MAX_STATEMENTS and self.rng.random() < 0.35:
            forms = [self.snippet, self.snippet, self.snippet, self.attempt]
            return self.one_of(forms, samples, depth, loop)
        return super().statement(samples, depth, loop)

    def snippet(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """Statements from a template; their value goes to a name that has that kind, if there is
        one, else it is a new one's."""
        text = self.rng.choice(SNIPPETS)
        if "nonlocal" in text and self.nested:
            raise Rejected("nested names")
        for name in dict.fromkeys(re.findall(r"\$\w", text)):
            text = text.replace(name, self.fresh(name[1]) if name != "$v" else "$v")
        value = self.fresh("v")
        text = self.expressions.fill(text.replace("$v", value), samples, 1)
        text = text.replace("«", "{").replace("»", "}")
        values = [self.executed(text, environment)[value] for environment in samples.environments]
        inside = samples.child()
        inside.bind(value, values)
        kind = inside.kind(value)
        alike = [n for n in samples.names() if n[0] == "v" and samples.kind(n) == kind]
        lines = text.split("\n")
        if alike and self.rng.random() < 0.8:
            return [*lines, f"{self.rng.choice(alike)} = {value}"]
        samples.bind(value, values)
        return lines

    def executed(self, text: str, environment: dict[str, Any]) -> dict[str, Any]:
        """The names after some statements, which may rebind names of a function around them."""
        from tests.fuzz.generator import _run

        if "nonlocal" in text:
            text = "\n".join(["def around():", *indented(text.split("\n")), "    return locals()"])
            return dict(_run(f"{HEAD}\n{text}\nnames = around()", environment)["names"])
        return _run(f"{HEAD}\n{text}", environment)

    def attempt(self, samples: Samples, depth: int, loop: bool) -> list[str]:
        """A try statement around other statements, one of which may raise."""
        if depth <= 0:
            raise Rejected("too deep")
        kinds = ["IndexError", "(IndexError, Missing)", "Missing", "Exception", "LookupError"]
        body = self.block(samples.child(), depth - 1, loop)
        test = self.expressions.checked_condition(samples)
        place = self.rng.randrange(len(body) + 1) if all(line[0] != " " for line in body) else 0
        raising = [f"if {test}:", "    raise Missing('here')"]
        lines = ["try:", *indented([*body[:place], *raising, *body[place:]])]
        lines += [f"except {self.rng.choice(kinds)}:"]
        lines += indented(self.block(samples.child(), depth - 1, loop))
        if self.rng.random() < 0.3:
            lines += ["else:", *indented(self.block(samples.child(), depth - 1, loop))]
        if self.rng.random() < 0.3:
            lines += ["finally:", *indented(self.block(samples.child(), 0, False))]
        return lines
