"""What cannot be staged: each raises the error named in the comment at the line that has one."""

import collections
import contextlib
import io
import warnings

import numpy as np


def rank_grows(x):
    while np.abs(x).sum() < 1e6:  # TraceError
        x = np.stack([x, x])
    return x


def tuple_grows(x):
    sums = ()
    while np.abs(x).sum() < 1e6:
        x = x * 2 + 1
        sums = (*sums, x.sum())  # TraceError
    return sums


def value_as_python_index(x, k):
    names = "abcde"
    return x * len(names[k])  # ConcreteValueNeeded


def not_bound(x, k):
    if k > 10:
        y = x
    return y  # UnboundLocalError


def ambiguous(x):
    if x > 0:  # ValueError
        return x
    return -x


def generator_returned(x):
    return (v * 2 for v in x)  # TraceError


def generator_that_is_sent_values(x):
    def running():
        total = 0.0
        for v in x:
            total = total + (yield total) + v  # SyntaxUnsupported

    return list(running())


def generator_pulled_where_it_is_staged(x, y):
    def positive(values):
        for v in values:
            if v > 0:  # TraceError
                yield v

    return [a * b for a, b in zip(positive(x), positive(y))]


def generator_left_half_way(x, s):
    def doubled():
        for v in x:
            yield v * 2

    def above(values):
        for v in values:  # TraceError
            if v > s:
                return v
        return s

    values = doubled()
    return above(values) + above(values)


def generator_consumed_in_a_loop(x, k):
    values = (v for v in x)
    total = 0.0
    for _ in range(k):
        for v in values:  # TraceError
            total += v
    return total


def python_iterator_consumed_in_a_loop(x, k):
    pairs = zip([1, 2, 3], [4, 5, 6])
    total = 0.0
    for _ in range(k):
        for a, b in pairs:  # TraceError
            total += a * b * x[0]
    return total


def match_with_too_many_parts(x):
    match 1 + 2j:
        case complex(1, 2):  # TypeError
            return x
    return -x


def match_of_an_array(x):
    match x:
        case 1.0:  # ValueError
            return x
    return -x


async def coroutine(x):  # SyntaxUnsupported
    return x


def array_resized(x):
    y = x * 2
    y.resize(3)  # SpecError
    return y


def shape_of_an_argument_set(w):
    w.shape = (w.size,)  # SpecError
    return w


def element_deleted(x):
    del x[0]  # ValueError
    return x


def read_only_element_written(x):
    for v in np.nditer(x):
        v[...] = 0.0  # ValueError
    return x


def places_in_an_order_not_known(w):
    total = 0.0
    for v in np.nditer(w.T):  # SpecError
        total = total * 0.5 + v
    return total


def element_of_flat_out_of_range(w, k):
    return w.flat[w.size + abs(k)]  # IndexError


def errors_of_floats_that_raise(x):
    with np.errstate(divide="raise"):  # TraceError
        return 1 / x


def call_in_a_try_that_writes_before_it_fails(x, k):
    def fill(i):
        x[0] = 1.0
        x[i] = 2.0  # TraceError

    try:
        [fill(i) for i in (k, k + 1)]
    except IndexError:
        x[1] = 5.0
    return x


def in_a_branch_of_a_try_statement(x, s):
    try:
        if x[0] > x[-1]:
            pass
        largest = x.max()
        rows = x
        while np.abs(rows).sum() < 1e6:  # TraceError
            rows = np.stack([rows, rows])
        x = x[int(s)]
    except LookupError:
        x = x * largest
    return x


def finally_changes_what_one_path_returns(x):
    box = {"n": x[0]}
    try:
        if x[0] < 1:
            return box
        box["n"] = x[0] + 2
    finally:
        box["n"] = 5.0  # TraceError
    return {"n": box["n"] + 1}


def exit_changes_what_one_path_returns(x):
    box = {"n": 0.0}

    @contextlib.contextmanager
    def resetting():
        yield
        box["n"] = 7.0  # TraceError

    with resetting():
        if x[0] > 2:
            return [box]
        box["n"] = 2.0
    return [box["n"] + 1]


def changed_where_it_is_part_of_one_alternative(x):
    box = {"n": 1}
    chosen = box if x[0] > 0 else [box, x]
    box["n"] = 2  # TraceError
    return chosen


def changed_where_it_is_part_of_what_one_path_binds(x):
    box = {"n": 1}
    if x[0] > 0:
        pair = [box, x]
    box["n"] = 2  # TraceError
    if x[0] > 0:
        return pair
    return [box, x]


class _Holder:
    def __init__(self, held):
        self.held = held


def changed_where_an_object_of_one_path_holds_it(x):
    box = {"n": 1}
    holder = _Holder(box) if x[0] > 0 else _Holder({"n": 3})
    box["n"] = 2  # TraceError
    return holder.held


def changed_by_way_of_an_object_of_one_path(x):
    box = {"n": 1}
    holder = _Holder({"n": 3})
    if x[0] > 0:
        holder = _Holder(box)
    holder.held["n"] = 2  # TraceError
    return box


def changed_where_a_dict_may_hold_it(x):
    box, table = {"n": 1}, {}
    if x[0] > 0:
        table["box"] = box
    else:
        table["box"] = {"n": 3}
    table["box"]["n"] = 2  # TraceError
    return box


def changed_where_an_iterator_holds_it(x):
    one, other = {"n": 1}, {"n": 4}
    boxes = iter([one if x[0] > 0 else other])
    one["n"] = 2  # TraceError
    return next(boxes)


def exceptions_in_a_group(x, s):
    try:  # SyntaxUnsupported
        if s > -100:
            raise ExceptionGroup("both", [ValueError(1), KeyError(2)])
    except* ValueError:
        x = x * 2
    except* KeyError:
        x = x + 1
    return x


def kept_generator_that_assigns(x, s):
    items = ((last := v) > s for v in x)
    found = any(items)  # TraceError
    return found, last


def printed_where_the_function_redirects(x):
    with contextlib.redirect_stdout(io.StringIO()):
        print("sum", x.sum())  # TraceError
    return x


def warning_recorded_by_the_function(x, s):
    with warnings.catch_warnings(record=True) as caught:
        if s > -100:
            warnings.warn("large", stacklevel=1)  # TraceError
    return x * len(caught)


def exit_stack_that_grows_under_a_condition(x, s):
    log = []
    with contextlib.ExitStack() as stack:
        if s > 0:
            stack.callback(log.append, 1.0)  # TraceError
    return x, log


def exit_stack_left_by_an_exception_of_the_run(x, s):
    log = []
    try:
        with contextlib.ExitStack() as stack:  # TraceError
            stack.callback(log.append, 1.0)
            if s > -100:
                raise ValueError
    except ValueError:
        log.append(2.0)
    return x, log


def sorted_array_updated(k):
    rows = sorted([k, k + k, k - 3])
    rows[1] += 1  # TraceError
    return rows


def changed_chain_of_maps(x, s):
    table = collections.ChainMap({}, {"a": 1.0})
    if s > -100:
        table["a"] = 2.0  # TraceError
    return x * table["a"]


def key_made_by_reading_on_one_path(s):
    counts = collections.defaultdict(int)
    if s > -100:  # TraceError
        counts["high"] += 1
    return len(counts)


def keys_in_another_order_on_one_path(s):
    table = collections.OrderedDict(a=s, b=2.0)
    if s > -100:  # TraceError
        table.move_to_end("a")
    return list(table.values())
