"""Lists that grow, shrink and change in staged branches and loops; stacks, queues and classics."""

import heapq
import operator
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

RAGGED = "as many elements as the values say"
INTEGERS = "integers"

NO_GRADIENT = {
    "positions_of_negatives": INTEGERS,
    "merge_of_sorted": "equal numbers may change places",
    "sieve_of_primes": INTEGERS,
    "run_lengths": INTEGERS,
    "runs_as_pairs": INTEGERS,
    "dict_of_counts": INTEGERS,
    "bracket_depth": INTEGERS,
    "breadth_first_order": INTEGERS,
    "depth_first_visits": INTEGERS,
    "next_greater_element": INTEGERS,
    "digits_of": INTEGERS,
    "common_subsequence_by_rows": INTEGERS,
    "collatz_path": INTEGERS,
    "queue_of_numbers": INTEGERS,
    "stack_of_pairs": INTEGERS,
    "length_after_branches": INTEGERS,
    "removed_and_counted": INTEGERS,
    "grows_in_nested_loops": INTEGERS,
    "groups_by_sign": "two lists of run-time length",
    "returned_list": "a list of run-time length",
    "list_in_a_dict": "a list of run-time length",
    "appended_in_a_callee": "a list of run-time length",
    "two_names_for_a_list": "a list of run-time length",
    "popped_and_returned": "a list of run-time length",
    "sorted_list": "a list of run-time length",
    "extended_under_a_condition": "a list of run-time length",
    "inserted_in_order": "a list of run-time length",
    "list_of_numbers": INTEGERS,
    "edit_distance_by_a_table": INTEGERS,
    "neighbours_in_adjacency_lists": INTEGERS,
    "pascals_triangle": INTEGERS,
    "cells_of_a_grid": INTEGERS,
}
NO_VMAP = {
    "positions_of_negatives": RAGGED,
    "appended_if_positive": RAGGED,
    "neighbours_in_adjacency_lists": RAGGED,
    "pascals_triangle": RAGGED,
    "sieve_of_primes": RAGGED,
    "run_lengths": RAGGED,
    "runs_as_pairs": RAGGED,
    "merge_of_sorted": "lengths are Python's",
    "euler_to_tolerance": RAGGED,
    "newton_history": RAGGED,
    "digits_of": RAGGED,
    "collatz_path": RAGGED,
    "groups_by_sign": RAGGED,
    "returned_list": RAGGED,
    "list_in_a_dict": RAGGED,
    "appended_in_a_callee": RAGGED,
    "two_names_for_a_list": RAGGED,
    "popped_and_returned": RAGGED,
    "sorted_list": RAGGED,
    "extended_under_a_condition": RAGGED,
    "rows_stacked": RAGGED,
    "until_break": RAGGED,
    "slices_of_a_list": RAGGED,
    "reversed_list": RAGGED,
    "concatenated_lists": RAGGED,
    "indexed_by_a_list_of_places": RAGGED,
}

Step = namedtuple("Step", ["at", "value"])


@dataclass
class Point:
    x: float
    y: float


def appended_if_positive(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    return np.array(kept)


def positions_of_negatives(x):
    found = []
    for i in range(len(x)):
        if x[i] < 0:
            found.append(i)
    return np.array(found, dtype=int)


def returned_list(x, s):
    big = []
    for v in x:
        if v > s:
            big.append(v * 2)
    return big


def every_turn_appends(x):
    total, sums = 0.0, []
    for v in x:
        total = total + v
        sums.append(total)
    return np.array(sums)


def history_of_states(x, s):
    state, history = x * 1.0, []
    for _ in range(10):
        state = state * 0.5 + s
        history.append(state)
    return np.stack(history)


def rows_stacked(w):
    rows = [w[0] * 0]
    for row in w:
        if row.sum() > 0:
            rows.append(row * 2)
    return np.stack(rows).sum(axis=0), np.concatenate(rows), len(rows)


def length_after_branches(x, k):
    names = [1]
    if x.sum() > 0:
        names.append(2)
    if k > 2:
        names.append(3)
        names.append(4)
    else:
        names.pop()
    return len(names)


def last_and_first(x):
    kept = [0.0]
    for v in x:
        if v > 0:
            kept.append(v)
    return kept[0] + kept[-1] * 3


def popped_sum(x):
    values = [1.0, 2.0]
    for v in x:
        if v > 0:
            values.append(v)
    return values.pop() + values.pop(0) * 2 + len(values)


def popped_and_returned(x):
    values = [0.5]
    for v in x:
        values.append(v)
        if v < 0:
            values.pop()
    return values


def stack_of_pairs(k):
    total, stack = 0, [(0, 1)]
    while stack:
        depth, value = stack.pop()
        total += value
        if depth < k:
            stack.append((depth + 1, value * 2))
            stack.append((depth + 2, value + 1))
    return total


def queue_of_numbers(k):
    queue, order = [1], 0
    while queue:
        n = queue.pop(0)
        order = order * 3 + n
        if n < k + 2:
            queue.append(n + 1)
            if n % 2 == 0:
                queue.append(n + 3)
    return order


def extremes_of_pairs(x, s):
    pairs = [(int(v), v) for v in x if v > s]
    pairs.append((0, s))
    return max(pairs), min(pairs)


def sum_and_extremes(x):
    kept = [0.25]
    for v in x:
        if v > 0:
            kept.append(v)
    return sum(kept) + max(kept) * 2 - min(kept)


def numpy_reductions(x):
    kept = [1.0]
    for v in x:
        if v < 0:
            kept.append(v)
    return np.sum(kept) + np.mean(kept) - np.prod(kept) * 0.5


def loop_over_a_grown_list(x, s):
    kept = []
    for v in x:
        if v > s:
            kept.append(v)
    total = 0.0
    for i, v in enumerate(kept):
        total = total + i * v
    return total


def zipped_lists(x, y):
    left, right = [], []
    for a, b in zip(x, y):
        if a > b:
            left.append(a)
            right.append(b)
    total = 0.0
    for a, b in zip(left, right):
        total = total + a * b
    return total


def reversed_list(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v)
    back = []
    for v in reversed(kept):
        back.append(v)
    return np.array(back)


def changed_elements(x, k):
    values = []
    for v in x:
        values.append(v)
    values[0] = 10.0
    values[-1] = values[-1] * 2
    values[k % len(x)] += 1.0
    return np.array(values)


def extended_under_a_condition(x, s):
    values = [0.0]
    if s > 0:
        values.extend([s * 1.0, 2.0])
    values += [5.0]
    values.extend(x)
    return values


def concatenated_lists(x):
    low, high = [], []
    for v in x:
        if v < 0:
            low.append(v)
        else:
            high.append(v)
    return np.array(low + [0.0] + high)


def inserted_in_order(x):
    ordered = []
    for v in x:
        place = 0
        for other in ordered:
            if other < v:
                place += 1
        ordered.insert(place, v)
    return ordered


def removed_and_counted(x, k):
    numbers = [1, 2, 3, 2]
    if x.sum() > 0:
        numbers.append(2)
    numbers.remove(2)
    return numbers.count(2), numbers.index(3), k in numbers, 7 not in numbers


def sorted_list(x):
    kept = [0.0]
    for v in x:
        if v > -1:
            kept.append(v)
    kept.sort()
    return kept, sorted(kept, reverse=True)[0]


def slices_of_a_list(x):
    kept = [0.0, 0.0]
    for v in x:
        if v > 0:
            kept.append(v)
    return np.array(kept[1:]), sum(kept[:-1]), len(kept[::2])


def groups_by_sign(x):
    low, high = [], []
    for v in x:
        group = low if v < 0 else None
        if group is None:
            high.append(v)
        else:
            low.append(v)
    return low, high


def list_in_a_dict(x):
    found = {"values": [], "count": 0}
    for v in x:
        if v > 0:
            found["values"].append(v)
            found["count"] += 1
    return found


def _keep(values, v):
    if v > 0:
        values.append(v)
    return len(values)


def appended_in_a_callee(x):
    values, longest = [], 0
    for v in x:
        longest = _keep(values, v)
    return values, longest


def two_names_for_a_list(x):
    values = []
    other = values
    for v in x:
        if v > 0:
            values += [v]
    other.append(1.0)
    return values, len(other)


def list_in_an_object(x, s):
    class Recorder:
        def __init__(self):
            self.seen = []

        def see(self, v):
            if v > s:
                self.seen.append(v)

    recorder = Recorder()
    for v in x:
        recorder.see(v)
    return sum(recorder.seen)


def list_of_namedtuples(x):
    steps = []
    for i in range(len(x)):
        if x[i] > 0:
            steps.append(Step(i, x[i] * 2))
    total = 0.0
    for step in steps:
        total = total + step.at * step.value
    return total


def list_of_dataclasses(x, y):
    points = [Point(1.0, 2.0)]
    for a, b in zip(x, y):
        if a < b:
            points.append(Point(a, b))
    last = points[-1]
    return last.x * last.y + points[0].y


def list_of_dicts(x):
    records = []
    for v in x:
        if v > 0:
            records.append({"value": v, "square": v * v})
    return sum([r["square"] for r in records])


def started_anew_in_a_loop(w):
    best = 0.0
    for row in w:
        run = []
        for v in row:
            if v > 0:
                run.append(v)
            else:
                run = []
        best = np.maximum(best, sum(run))
    return best


def grows_in_nested_loops(k):
    pairs = []
    for i in range(k + 2):
        for j in range(i):
            if (i + j) % 2:
                pairs.append(i * j)
    return len(pairs), sum(pairs)


def until_break(x, s):
    taken = []
    for v in x:
        if v > s + 1:
            break
        taken.append(v)
    else:
        taken.append(100.0)
    return np.array(taken)


def cleared_list(x):
    values = [1.0]
    for v in x:
        values.append(v)
        if v < 0:
            values.clear()
            values.append(0.5)
    return sum(values)


def deleted_elements(x):
    values = [3.0, 4.0, 5.0]
    if x.sum() > 0:
        values.append(6.0)
    del values[1]
    return values[0] + values[1] * 2 + len(values)


def chosen_by_a_staged_index(x, k):
    parts = [x * 2, x + 1, x - 3]
    return parts[k % 3]


def list_of_numbers(k):
    numbers = []
    for i in range(10):
        if i % 3 == k % 3:
            numbers.append(i)
    return sum(numbers), max(numbers), any(numbers), all(numbers)


def matrix_from_rows(w, s):
    rows = []
    for row in w:
        rows.append(row / (1 + np.abs(s)))
    return np.array(rows) @ np.ones(w.shape[1])


def mean_of_the_largest(x):
    values = []
    for v in x:
        values.append(v)
    values.sort(reverse=True)
    return (values[0] + values[1]) / 2


def unpacked_into_a_list(x):
    kept = [v for v in x if v > 0]
    framed = [0.0, *kept, *kept[:1], 1.0]
    return framed[1] + framed[-1] + sum(framed)


def whole_contents_replaced(x):
    values = [1.0]
    other = values
    for v in x:
        values.append(v)
    values[:] = [v * 2 for v in values if v > 0]
    return sum(other)


def dict_of_counts(xi):
    counts = {"even": 0, "odd": 0, "negative": 0}
    for v in xi:
        if v % 2 == 0:
            counts["even"] += 1
        else:
            counts["odd"] += 1
        if v < 0:
            counts["negative"] += 1
    return counts


def dict_of_lists(x):
    groups = {"low": [], "high": []}
    for v in x:
        groups["high"].append(v * 2)
        if v < 0:
            groups.setdefault("low", []).append(v)
    groups.setdefault("low", []).append(-1.0)
    return sum(groups["low"]) * len(groups) + sum(groups["high"])


def dict_items_in_a_loop(x, s):
    weights = {"a": 0.5, "b": s * 1.0, "c": 2.0}
    total = 0.0
    for v in x:
        for name, weight in weights.items():
            if v > 0 and name != "b":
                total = total + v * weight
        weights["b"] = weights["b"] * 0.5
    return total, weights["b"]


def window_of_the_last_three(x):
    window, largest = [], -100.0
    for v in x:
        window.append(v)
        if len(window) > 3:
            window.pop(0)
        largest = np.maximum(largest, sum(window))
    return largest


def undo_stack(x, s):
    state, history = s * 1.0, []
    for v in x:
        if v > 0:
            history.append(state)
            state = state + v
        elif history:
            state = history.pop()
    return state + len(history)


def bracket_depth(xi):
    open_at, deepest = [], 0
    for i in range(len(xi)):
        if xi[i] > 0:
            open_at.append(i)
        elif len(open_at) > 0:
            open_at.pop()
        deepest = max(deepest, len(open_at))
    return deepest, len(open_at)


def interpolated_table(x, s):
    knots = []
    for i in range(len(x)):
        if i % 2 == 0 or x[i] > 0:
            knots.append((i * 1.0, x[i]))
    value = 0.0
    for k in range(len(knots) - 1):
        left, right = knots[k], knots[k + 1]
        value = value + (right[0] - left[0]) * (left[1] + right[1]) / 2
    return value * s


def results_of_a_while_loop_in_a_branch(s):
    steps = []
    if s > 0:
        y = s * 1.0
        while y < 10:
            steps.append(y)
            y = y * 1.7 + 0.3
    else:
        steps.append(-s)
    return sum(steps), len(steps)


# --- classics -------------------------------------------------------------------------------------


def sieve_of_primes(k):
    limit = 20 + k
    composite = np.zeros(limit + 1, dtype=bool)
    primes = []
    for n in range(2, limit + 1):
        if not composite[n]:
            primes.append(n)
            for m in range(n * n, limit + 1, n):
                composite[m] = True
    return np.array(primes)


def run_lengths(xi):
    values, lengths = [], []
    for v in xi % 2:
        if len(values) > 0 and values[-1] == v:
            lengths[-1] += 1
        else:
            values.append(v)
            lengths.append(1)
    return np.array(values), np.array(lengths)


def runs_as_pairs(xi):
    runs = []
    for v in xi % 2:
        if runs and runs[-1][0] == v:
            runs[-1][1] += 1
        else:
            runs.append([v, 1])
    return np.array([v * n for v, n in runs]), max(n for _, n in runs)


def compared_lists(x, s):
    above, below = [v for v in x if v > s], [-v for v in x if v < s]
    if above == below:
        return x.sum()
    return x[0] * 2.0 if above < below else x[0] - len(below)


def breadth_first_order(w):
    n = min(w.shape[0], w.shape[1])
    distance = np.full(n, -1)
    distance[0] = 0
    queue = [0]
    while queue:
        node = queue.pop(0)
        for other in range(n):
            if w[node, other] > -0.5 and distance[other] < 0:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def depth_first_visits(w):
    n = min(w.shape[0], w.shape[1])
    seen = np.zeros(n, dtype=bool)
    stack = [0]
    visits = 0
    while len(stack) > 0:
        node = stack.pop()
        if seen[node]:
            continue
        seen[node] = True
        visits += 1
        for other in range(n):
            if w[node, other] > 0 and not seen[other]:
                stack.append(other)
    return visits, seen


def next_greater_element(x):
    greater = np.full(len(x), -1)
    waiting = []
    for i in range(len(x)):
        while waiting and x[waiting[-1]] < x[i]:
            greater[waiting.pop()] = i
        waiting.append(i)
    return greater


def merge_of_sorted(x, y):
    a, b = np.sort(x), np.sort(y)
    merged = []
    i = j = 0
    while i < len(a) or j < len(b):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            merged.append(a[i])
            i += 1
        else:
            merged.append(b[j])
            j += 1
    return np.array(merged)


def euler_to_tolerance(s):
    y, path = 1.0 + np.abs(s), []
    while y > 0.1:
        path.append(y)
        y = y - 0.1 * y
    return np.array(path)


def newton_history(s):
    target = np.abs(s) + 1.0
    guesses = [target]
    while np.abs(guesses[-1] ** 2 - target) > 1e-9:
        guesses.append((guesses[-1] + target / guesses[-1]) / 2)
    return np.array(guesses)


def digits_of(k):
    n, digits = k * k * 37 + 1205, []
    while n > 0:
        digits.append(n % 10)
        n = n // 10
    digits.reverse()
    return digits


def collatz_path(k):
    n = k % 7 + 3
    path = [n]
    while path[-1] != 1:
        n = path[-1]
        path.append(n // 2 if n % 2 == 0 else 3 * n + 1)
    return path


def convex_area(x):
    hull = [0.0, 0.0]
    for v in x:
        while len(hull) > 2 and hull[-1] > v:
            hull.pop()
        hull.append(v)
    return hull[-1] - hull[0] + 0.1 * len(hull)


def heap_that_grows_on_one_path(x, s):
    heap = [5.0, 7.0]
    if s > 0:
        heapq.heappush(heap, 1.0)
    return x * heap[0], sum(heap)


def changed_by_functions_on_one_path(x, s):
    rows, table = [1.0, 2.0], {"a": 1.0}
    if s > 0:
        operator.setitem(rows, 0, 4.0)
        list.append(rows, 9.0)
        dict.update(table, a=3.0)
    else:
        put = rows.__setitem__
        put(1, 6.0)
    return x * table["a"], sum(rows)


def neighbours_in_adjacency_lists(xi):
    xi = np.abs(xi)
    near = [[] for _ in range(xi.max() + 1)]
    for i in range(len(xi) - 1):
        near[xi[i]].append(xi[i + 1])
        near[xi[i + 1]].append(xi[i])
    seen, queue = [0] * len(near), [xi[0]]
    seen[xi[0]] = 1
    while queue:
        for other in near[queue.pop()]:
            if not seen[other]:
                seen[other] = 1
                queue.append(other)
    return sum(seen), [len(row) for row in near]


def pascals_triangle(xi):
    rows = [[1]]
    for i in range(1, abs(xi[0]) + 3):
        above, row = rows[-1], [1]
        for j in range(1, i):
            row.append(above[j - 1] + above[j])
        rows.append(row + [1])
    return rows


def sums_of_runs_of_one_sign(x):
    runs, run = [], []
    for v in x:
        if run and (run[-1] > 0) != (v > 0):
            runs.append(run)
            run = []
        run.append(v)
    runs.append(run)
    best = runs[0]
    for each in runs:
        if len(each) > len(best):
            best = each
    return sum(best) * len(runs)


def points_in_cells(x):
    cells = [[] for _ in range(len(x) // 2 + 1)]
    for v in x:
        cells[int(abs(v)) % len(cells)].append(v)
    total = 0.0
    for number, cell in enumerate(cells):
        for v in cell:
            total += v * v * (number + 1) / len(cell)
    return total


def edit_distance_by_a_table(xi):
    a, b = xi % 3, xi[::-1][1:] % 3
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        table[i][0] = i
    for j in range(len(b) + 1):
        table[0][j] = j
    for i in range(len(a)):
        for j in range(len(b)):
            other = 0 if a[i] == b[j] else 1
            ways = table[i][j + 1] + 1, table[i + 1][j] + 1, table[i][j] + other
            table[i + 1][j + 1] = min(ways)
    return table[-1][-1]


def common_subsequence_by_rows(xi):
    a, b = xi % 3, xi[::-1] % 2
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        above, row = table[i], table[i + 1]
        for j in range(len(b)):
            if a[i] == b[j]:
                row[j + 1] = above[j] + 1
            else:
                row[j + 1] = max(above[j + 1], row[j])
    return table[-1][-1]


def rows_filled_by_their_names(x, s, k):
    n = k % 3 + 2
    rows = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        row = rows[i]
        row[0] = np.sin(x[i % len(x)])
        for j in range(1, 3):
            row[j] = row[j - 1] * s + j
            if s > 0.5:
                row[j] *= 2.0
    return np.array(rows).sum(axis=0)


def product_by_lists(x):
    n = len(x)
    rows = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                rows[i][j] += x[i] * x[k] + np.sin(x[k] * x[j])
    return np.array(rows) * 0.1


def cells_of_a_grid(k):
    n = k % 4 + 2
    grid = [[(i * j + 1) % 3 == 0 for j in range(n)] for i in range(n)]
    after = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            around = -1 if grid[i][j] else 0
            for row in range(i - 1, i + 2):
                for column in range(j - 1, j + 2):
                    if grid[row % n][column % n]:
                        around += 1
            after[i][j] = around
    return after[0][0], after[-1][0], after[1][1]


def indexed_by_a_list_of_places(x, s):
    places = []
    for i in range(len(x)):
        if x[i] * s > 0.2:
            places.append(i)
    found = x[places]
    y = x.copy()
    y[places] = -1.0
    return found.sum() + len(places), y[places[1:]], y
