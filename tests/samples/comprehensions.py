"""List, dict, set and generator comprehensions over arrays, with filters."""

import numpy as np

RAGGED = "as many elements as the values say"
NO_GRADIENT = {
    "indices_of_positives": "integers",
    "set_of_python_values": "integers",
    "counted_by_filter": "integers",
    "filtered_list_returned": "a list of run-time length",
    "numbers_of_a_range": "integers",
    "all_pairs_below": "integers",
}
NO_VMAP = {
    "squares_of_positives": RAGGED,
    "indices_of_positives": RAGGED,
    "filtered_list_returned": RAGGED,
    "filtered_twice": RAGGED,
    "comprehension_of_a_comprehension": RAGGED,
    "filtered_rows": RAGGED,
    "all_pairs_below": RAGGED,
}


def squares(x):
    return np.array([v * v for v in x])


def squares_of_positives(x):
    return np.array([v * v for v in x if v > 0])


def indices_of_positives(x):
    return np.array([i for i in range(len(x)) if x[i] > 0], dtype=int)


def filtered_list_returned(x, s):
    return [v + s for v in x if v < s]


def sum_of_a_comprehension(x, y):
    return sum([a * b for a, b in zip(x, y)])


def sum_over_a_generator_expression(x):
    return sum(v * v for v in x if v > 0)


def largest_by_generator(x, s):
    return max(np.abs(v - s) for v in x)


def every_and_some(x, s):
    return x * (2 if all(v > s - 10 for v in x) else 3) + (1 if any(v > s for v in x) else 0)


def counted_by_filter(x):
    return len([v for v in x if v > 0]), sum(1 for v in x if v < 0)


def filtered_twice(x, s):
    kept = [v for v in x if v > -1]
    return np.array([v * s for v in kept if v < 2])


def conditions_in_a_row(x, s):
    return sum([v for v in x if v > -2 if v < 2 if v != s])


def conditional_element(x):
    return np.array([v if v > 0 else -v * 0.5 for v in x])


def nested_fors(x, y):
    return sum([a * b for a in x for b in y if b > -1.23456])


def comprehension_of_a_comprehension(w):
    return np.array([sum([v for v in row if v > 0]) for row in w if row[0] < 2])


def distances_between_all(x, y):
    return np.array([[np.abs(a - b) for a in x] for b in y])


def table_of_rows_that_are_filtered(x, w):
    rows = [[v * u for v in x if v > 0] for u in w[:, 0]]
    return np.array(rows, dtype=float).sum()


def rows_of_a_matrix(w):
    return np.stack([row - row.mean() for row in w])


def filtered_rows(w):
    rows = [row for row in w if row.sum() > -100]
    return np.stack(rows).sum(axis=0)


def enumerated_comprehension(x):
    return np.array([i * v for i, v in enumerate(x)])


def nested_target(x, y):
    return sum([i * a - b for i, (a, b) in enumerate(zip(x, y))])


def over_a_traced_range(x, k):
    return x * sum([i * i for i in range(k + 10)])


def numbers_of_a_range(k):
    return [i * k for i in range(12)]


def all_pairs_below(k):
    return [(i, j) for i in range(5) for j in range(i) if (i + j) % 3 == k % 3]


def over_a_static_list(x):
    return [x * factor for factor in [1, 2, 3]]


def dict_of_columns(w):
    columns = {f"c{j}": w[:, j].sum() for j in range(w.shape[1])}
    return columns


def dict_from_items(x, s):
    given = {"a": x, "b": x * s}
    return {name: value + 1 for name, value in given.items()}


def dict_with_a_static_filter(x):
    return {i: x[i] * 2 for i in range(2) if i % 2 == 0}


def set_of_python_values(x):
    kinds = {v % 3 for v in range(7)}
    return len(kinds) + len(x)


def tuple_of_a_generator(x):
    return tuple(x * i for i in range(3))


def names_of_the_function(x, s):
    scale = s * 2
    shift = x.sum()
    return np.array([v * scale + shift for v in x])


def shadowing_names(x):
    v = 10.0
    doubled = [v * 2 for v in x]
    return v + sum(doubled)


def inside_a_staged_loop(x, w):
    total = 0.0
    for row in w:
        total = total + sum([v * row[0] for v in x if v > row[1]])
    return total


def inside_a_staged_branch(x, s):
    if s > 0:
        values = [v * 2 for v in x]
    else:
        values = [v - 1 for v in x if v > 0]
    return sum(values)


def polynomial_by_powers(x, s):
    return sum(c * s**i for i, c in enumerate(x))


def outer_product_rows(x, y):
    return np.array([[a * b for b in y] for a in x])


def averages_of_neighbours(x):
    return np.array([(x[i] + x[i + 1]) / 2 for i in range(len(x) - 1)])
