"""Joins: where paths meet with values of different kinds. None on one side, strings, functions,
ranks, structures; int with float, bool with int; names that one path alone binds."""

import numpy as np

NO_GRADIENT = {
    "a_flag_that_becomes_a_count": "integers",
    "bool_or_number": "integers",
    "first_negative_place": "integers",
    "none_is_equal_to_nothing": "integers",
    "status_as_text": "texts",
    "text_from_a_table_of_paths": "texts",
    "what_was_found": "texts",
    "which_kind": "integers",
    "text_from_a_list": "texts",
    "truth_of_a_choice": "integers",
    "mask_or_numbers": "integers",
    "byte_or_float": "integers",
    "image_that_becomes_floats": "integers",
    "none_on_one_path": "the check takes its leaves for arrays, and one may be None",
}
_KINDS = "lanes of different kinds cannot share one result"
NO_VMAP = {
    "none_on_one_path": _KINDS,
    "first_negative_place": _KINDS,
    "bool_or_number": _KINDS,
    "rank_differs_between_branches": _KINDS,
    "status_as_text": _KINDS,
    "text_from_a_list": _KINDS,
    "text_from_a_table_of_paths": _KINDS,
    "what_was_found": _KINDS,
    "tuple_or_array": _KINDS,
    "tuples_of_different_lengths": _KINDS,
    "dicts_of_different_keys": _KINDS,
    "early_return_of_none": _KINDS,
    "falls_off_the_end": _KINDS,
    "smallest_positive": _KINDS,
    "rank_grows_once": _KINDS,
    "mask_or_numbers": _KINDS,
    "list_or_tuple": _KINDS,
    "a_none_that_stays_in_a_dict": _KINDS,
    "scalar_or_array_result": _KINDS,
    "rank_in_a_while_loop": _KINDS,
    "doubles_its_length": "lanes of different lengths",
    "halves_its_length": "lanes of different lengths",
    "length_differs_by_branch": "lanes of different lengths",
    "two_that_may_be_none": "the graph does not know that the result is never None",
}


# --- None ---


def none_on_one_path(x, s):
    if s > 0:
        y = None
    else:
        y = x * 2
    return y, x


def best_so_far(x):
    best = None
    for v in x:
        if best is None or v < best:
            best = v
    return best


def arrays_of_what_is_none_before_the_loop(x, w):
    best = None
    for v in x:
        if v > -99 and (best is None or v < best):
            best = v
    return np.array([x[0], best]), np.stack([best, best * 2]), np.maximum(best, w)


def best_and_its_place(x):
    best, place = None, None
    for i in range(len(x)):
        if best is None or x[i] > best:
            best, place = x[i], i
    return best, place


def smallest_positive(x):
    best = None
    for v in x:
        if v > 0 and (best is None or v < best):
            best = v
    return best


def smallest_positive_or_zero(x):
    best = None
    for v in x:
        if v > 0 and (best is None or v < best):
            best = v
    if best is None:
        return 0.0
    return best * 2


def default_by_or(x, s):
    offset = None
    if s > 0:
        offset = s
    return x + (offset or 1.0)


def optional_argument(x, s):
    def scaled(v, factor=None):
        if factor is None:
            factor = 3.0
        return v * factor

    return scaled(x) + scaled(x, s) + scaled(x, None if s > 0 else s)


def previous_in_a_loop(x):
    previous, rises = None, 0.0
    for v in x:
        if previous is not None and v > previous:
            rises += v - previous
        previous = v
    return rises


def while_not_none(x, s):
    step, total = s, x.sum()
    while step is not None:
        total = total + step
        step = step / 2 if abs(step) > 0.1 else None
    return total


def until_found(x):
    found, i = None, 0
    while found is None and i < len(x):
        if x[i] > 0:
            found = x[i] * 10
        i += 1
    return -1.0 if found is None else found


def first_negative_place(x):
    for i, v in enumerate(x):
        if v < 0:
            return i
    return None


def early_return_of_none(x, s):
    if s < 0:
        return None
    y = x * s
    if y.sum() > 3:
        return None
    return y


def falls_off_the_end(x, s):
    if s > 0:
        return x + s


def result_of_a_callee_may_be_none(x, s):
    def root(v):
        if v < 0:
            return None
        return np.sqrt(v)

    a, b = root(s), root(-s)
    total = 0.0
    if a is not None:
        total = total + a
    if b is not None:
        total = total - b
    return x * total


def none_is_equal_to_nothing(x, s):
    y = None if s > 0 else x.sum()
    return y == None, y != None, y is None, y is not None  # noqa: E711


def two_that_may_be_none(x, s, k):
    a = None if s > 0 else x
    b = None if k > 1 else x * 2
    if a is None and b is None:
        return x * 0
    if a is None:
        return b
    if b is None:
        return a
    return a + b


def a_none_that_stays_in_a_dict(x, s):
    state = {"best": None, "count": 0}
    for v in x:
        if v > s:
            state["best"] = v
            state["count"] += 1
    return state


def assert_that_it_is_something(x, s):
    y = None
    if s * s >= 0:
        y = x + 1
    assert y is not None
    return y * 2


# --- strings and other static values ---


def mode_by_text(x, s):
    mode = "up" if s > 0 else "down"
    for _ in range(3):
        if mode == "up":
            x = x + 1
        else:
            x = x - 1
    return x


def mode_that_changes_in_a_loop(x):
    mode, total = "low", 0.0
    for v in x:
        if mode == "low" and v > 1:
            mode = "high"
        elif mode == "high" and v < 0:
            mode = "low"
        total = total + (v if mode == "high" else -v)
    return total


def state_machine(x):
    state, level = "idle", 0.0
    for v in x:
        if state == "idle":
            if v > 0:
                state = "rising"
        elif state == "rising":
            level = level + v
            if level > 2:
                state = "full"
        else:
            level = level * 0.5
            if level < 1:
                state = "idle"
    return level


def status_as_text(x, s):
    if s > 1:
        return "large"
    if s > 0:
        return "small"
    return "negative"


def what_was_found(x, s):
    found, value = "nothing", 0.0
    for v in x:
        if v > s:
            found, value = "larger", v
    return found, value


def text_from_a_table_of_paths(x, k):
    name = "zero"
    if k == 1:
        name = "one"
    elif k > 1:
        name = "many"
    return {"name": name, "x": x}


def membership_of_a_text(x, s, k):
    kind = "a" if s > 0 else "b" if k > 1 else "c"
    return x * 2 if kind in ("a", "c") else x


def norm_by_name(x, s):
    def norm(v, order):
        if order == "max":
            return np.abs(v).max()
        if order == 1:
            return np.abs(v).sum()
        return np.sqrt((v * v).sum())

    return norm(x, "max" if s > 0 else 1)


# --- functions and objects ---


def function_by_condition(x, s):
    f = np.sin if s > 0 else np.cos
    return f(x)


def own_function_by_condition(x, s, k):
    def double(v):
        return v * 2

    def square(v):
        return v * v

    step = double if s > 0 else square
    for _ in range(10):
        if k > 1:
            x = step(x) / 2
    return x


def lambda_with_a_closure(x, s):
    scale = 2.0
    f = (lambda v: v * scale) if s > 0 else (lambda v: v + scale)
    scale = 3.0
    return f(x)


def function_given_on(x, s):
    def applied(f, v):
        return f(v) + 1

    return applied(np.exp if s > 0 else np.tanh, x)


def activation_that_is_none(x, s):
    activation = np.tanh if s > 0 else None
    y = x * 3
    if activation is not None:
        y = activation(y)
    return y


def text_from_a_list(x, k):
    names = ["none", "one", "several"]
    name = names[min(abs(k), 2)]
    return x * len(name), name


def function_from_a_list(x, k):
    steps = [np.sin, np.cos, lambda v: v * v]
    for i in range(12):
        x = steps[(k + i) % 3](x)
    return x


def element_of_any_kind(x, k):
    options = [None, x, x.sum(), 2.0]
    chosen = options[k % 4]
    if chosen is None:
        return 1.0
    return np.sum(chosen * 2)


# --- ranks and structures ---


def rank_differs_between_branches(x, s):
    if s > 0:
        y = x
    else:
        y = x.sum()
    return y


def rank_differs_and_is_used(x, s):
    if s > 0:
        y = x
    else:
        y = x.sum()
    return (y * 2).sum() + y.ndim


def number_or_vector_broadcasts(x, s):
    weight = 1.0
    if s > 0:
        weight = np.exp(x)
    return x * weight + weight


def scalar_or_array_result(x, s):
    return x.mean() if s > 0 else x - x.mean()


def rank_grows_once(x, s):
    if s > 0:
        x = x[None, :]
    return x * 2


def rank_in_a_while_loop(x):
    y = 0.0
    while np.sum(y) < 10:
        y = y + np.abs(x) + 1
    return y


def sum_starts_as_a_number(x, w):
    total = 0
    for row in w:
        total = total + row
    return total


def tuple_or_array(x, s):
    return (x, x + 1) if s > 0 else x


def tuples_of_different_lengths(x, s):
    parts = (x,) if s > 0 else (x, x.sum(), 1)
    return parts


def unpacked_from_either(x, s):
    pair = (x, 2.0) if s > 0 else [x + 1, 3.0]
    a, b = pair
    return a * b + pair[0]


def list_or_tuple(x, s):
    return [x, 1.0] if s > 0 else (x, 1.0)


def dicts_of_different_keys(x, s):
    return {"value": x} if s > 0 else {"error": x.sum()}


def key_in_one_of_two(x, s):
    options = {"shift": 2.0} if s > 0 else {"scale": 3.0}
    if "shift" in options:
        return x + options["shift"]
    return x * options["scale"]


def loop_over_either(x, s):
    parts = (x, x * 2) if s > 0 else (x, x * 3, x * 4)
    total = 0.0
    for part in parts:
        total = total + part.sum()
    return total


def updated_in_place_where_it_is_an_array(x, s):
    y = x.copy() if s > 0 else None
    if y is not None:
        y += 1
        y[0] = 5.0
    return x if y is None else y + x


def aliased_by_either(x, w, s):
    y = x if s > 0 else w
    y[0] = 7.0
    y *= 2
    return x + 1, w - 1


def stacked_where_it_fits(x, s):
    y = None if s > 0 else x
    return np.stack([x, x if y is None else y * 2])


# --- numbers of different kinds ---


def int_and_float(x, s):
    scale = 1
    if s > 0:
        scale = 2.5
    return x * scale


def int_that_becomes_float(x):
    total = 0
    for v in x:
        total = total + v
    return total


def loop_variable_that_becomes_float(x):
    i = 10
    while i > 1:
        i = i / 2
    return x * i


def int_and_float_arrays(xi, x, s):
    y = xi if s > 0 else x
    return y * 0.5


def counts_or_shares(xi, x, s):
    shares = xi + 1
    if s > 0:
        shares = x / 2
    shares[0] = 3
    shares[1:] *= 2
    shares[-1] = shares[0]
    return shares * 0.5


def bool_or_number(x, s):
    found = False
    if s > 0:
        found = 2
    return found


def a_flag_that_becomes_a_count(x):
    count = False
    for v in x:
        if v > 0:
            count = count + 1
    return count + 0


def truth_of_a_choice(x, s):
    y = None if s > 0 else 3
    z = "" if s > 1 else "text"
    return (1 if y else 2) + (10 if z else 20) + (100 if not y else 200)


def which_kind(x, s):
    y = True if s > 0 else 2.5
    if isinstance(y, bool):
        return 1
    return 2


def mask_or_numbers(x, s):
    m = x > 0
    if s > 0:
        m = m * 2
    return m


def mask_or_places(x, xi, s):
    chosen = x > 0 if s > 0 else xi * 0
    return x[chosen].sum()


def first_of_several_kinds(x, k):
    if k == 0:
        y = None
    elif k == 1:
        y = 1.5
    elif k == 2:
        y = x
    else:
        y = (x, x)
    if y is None:
        return 0.0
    if isinstance(y, tuple):
        return y[0].sum() + y[1].sum()
    return np.sum(y)


# --- names that one path binds ---


def bound_where_it_is_read(x, s):
    if s > 0:
        y = x * 2
    if s > 0:
        return y
    return x


def bound_by_the_loop(x):
    for v in x:
        last = v * 2
    return last


def deleted_and_bound_again(x, s):
    y = x
    del y
    if s > 0:
        y = x + 1
    else:
        y = x - 1
    return y


# --- shapes that change ---


def doubles_its_length(x, s):
    y = x
    while y.shape[0] < 20:
        y = np.concatenate([y, y * 0.5])
        if s > 0:
            y = y + 1
    return y


def halves_its_length(x, s):
    y = x
    while y.shape[0] > 1 and y.sum() < 100:
        y = y[: y.shape[0] // 2] + np.abs(s)
    return y


def grows_where_a_condition_says_so(x, s):
    y = x[:1]
    for v in x:
        if v > s:
            y = np.append(y, v * 2)
    return y.sum(), y.max()


def length_differs_by_branch(x, s):
    if s > 0:
        y = x[1:]
    elif s < -1:
        y = np.concatenate([x, x])
    else:
        y = x
    return y * 2, y.shape[0]


def empty_or_not(x, s):
    chosen = x[:0]
    if s > 0:
        chosen = x[x > 0]
    return chosen.sum() + chosen.shape[0]


def compared_with_a_number_or_a_row(x, w, s):
    limit = x[0] if s > 0 else w[0]
    if s <= 0 or x[1] > limit:
        return x * s
    return x + s


# --- integers that wrap around ---


def byte_or_float(xi, s):
    v = (xi[0] % 256).astype(np.uint8)
    if s > 0:
        v = v * 0.5
    return v + v


def image_that_becomes_floats(xi, k):
    image = (xi % 256).astype(np.uint8)
    for _ in range(k % 4):
        image = (image + np.roll(image, 1)) / 2
    return image
