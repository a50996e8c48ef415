"""with statements around staged code, and what leaves them half-way."""

import contextlib
import warnings

import numpy as np

NO_GRADIENT = {
    "jumps_out_of_nested_contexts": "counts",
}


class Scale:
    """A context manager that changes state on the way in and out."""

    def __init__(self, state, factor):
        self.state, self.factor = state, factor

    def __enter__(self):
        self.state["scale"] = self.state["scale"] * self.factor
        return self.state["scale"]

    def __exit__(self, kind, error, trace):
        self.state["scale"] = self.state["scale"] / self.factor


class Log:
    """Notes on an array how it was left."""

    def __init__(self, notes):
        self.notes = notes

    def __enter__(self):
        self.notes[0] += 1
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.notes[1] += 1
        else:
            self.notes[2] += 1


class Swallow:
    """Lets no exception of some classes out."""

    def __init__(self, *kinds):
        self.kinds = kinds
        self.count = 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(kind, self.kinds):
            self.count += 1
            return True
        return False


@contextlib.contextmanager
def _shifted(array, amount):
    array += amount
    yield array
    array -= amount


@contextlib.contextmanager
def _restored(array):
    before = array.copy()
    try:
        yield array
    finally:
        array[:] = before


def errstate_around_staged_code(x, s):
    with np.errstate(all="ignore"):
        if s > 0:
            y = x / (s + 1)
        else:
            y = np.sqrt(x * x + 1)
    return y


def return_from_inside_with(x, s):
    with np.errstate(divide="ignore"):
        if s > 0:
            return x * 2
    return x - 1


def manager_with_state(x, s):
    state = {"scale": s}
    with Scale(state, 4.0) as scale:
        y = x * scale
    return y * state["scale"]


def manager_in_a_staged_loop(x, s):
    state = {"scale": s}
    total = 0.0
    for v in x:
        with Scale(state, 2.0) as scale:
            total += v * scale
    return total, state["scale"]


def return_leaves_the_context(x, s):
    notes = np.zeros(3)
    with Log(notes):
        if s > 0:
            return x * 2, notes
        x = x + 1
    return x, notes


def break_and_continue_leave_the_context(x):
    notes, total = np.zeros(3), 0.0
    for v in x:
        with Log(notes):
            if v > 1:
                break
            if v < 0:
                continue
            total += v
    return total, notes


def return_from_loops_inside_with(w, s):
    notes = np.zeros(3)
    with Log(notes):
        for row in w:
            for v in row:
                if v > s:
                    return v, notes
    return s * 1, notes


def exception_leaves_the_context(x, s):
    notes = np.zeros(3)
    try:
        with Log(notes):
            if s > 0:
                raise ValueError("positive")
            x = x * 2
    except ValueError:
        x = x - 1
    return x, notes


def failing_index_leaves_the_context(x, k):
    notes = np.zeros(3)
    try:
        with Log(notes):
            y = x[k + 2] * x
    except IndexError:
        y = x
    return y, notes


def exception_is_swallowed(x, s):
    y = x * 0
    with Swallow(ValueError) as swallow:
        y = y + 1
        if s > 0:
            raise ValueError
        y = y + 2
    return y + x * swallow.count


def only_some_classes_are_swallowed(x, s):
    y = x
    try:
        with Swallow(ValueError):
            if s > 0.5:
                raise KeyError
            if s > -0.5:
                raise ValueError
            y = y * 2
        y = y + 1
    except KeyError:
        y = y - 5
    return y


def suppress_in_a_loop(x, k):
    total = 0.0
    for i in range(len(x) + 2):
        with contextlib.suppress(IndexError):
            total += x[i + k]
    return total


def two_managers_in_one_statement(x, s):
    first, second = np.zeros(3), np.zeros(3)
    with Log(first), Log(second):
        if s > 0:
            x = x * s
    return x, first + second


def nested_contexts(x, s):
    state = {"scale": s * s}
    notes = np.zeros(3)
    with Log(notes), Scale(state, 3.0) as a:
        with Scale(state, 2.0) as b:
            x = x * a + b
    return x, state["scale"], notes


def generator_as_a_manager(x, s):
    y = x * 1
    with _shifted(y, s) as z:
        total = (z * z).sum()
    return total, y


def generator_with_finally_restores(x, s):
    y = x * 2
    with _restored(y) as z:
        z[0] = s
        z *= 2
        total = z.sum()
    return total, y


def generator_with_finally_and_an_exception(x, k):
    y = x * 2
    total = 0.0
    try:
        with _restored(y) as z:
            z[0] = 100.0
            z[k + 2] = 50.0
            total = z.sum()
    except IndexError:
        total = -1.0
    return total, y


def generator_in_a_staged_loop(x, w):
    total = 0.0
    for row in w:
        with _shifted(x, row[0]) as z:
            total += z.sum()
    return total, x


def null_context(x, s):
    with contextlib.nullcontext(x) as y:
        if s > 0:
            y = y * 2
    return y


def local_manager_touches_a_variable(x, s):
    depth = 0.0

    class Deeper:
        def __enter__(self):
            nonlocal depth
            depth += 1

        def __exit__(self, kind, error, trace):
            nonlocal depth
            depth += 10

    with Deeper():
        if s > 0:
            x = x * 2
    return x * depth


def jumps_out_of_nested_contexts(w, s):
    outer, inner, total = np.zeros(3), np.zeros(3), 0.0
    for row in w:
        with Log(outer):
            for v in row:
                with Log(inner):
                    if v > s + 1:
                        break
                    if v < s - 1:
                        continue
                    total += 1
    return outer, inner, total


@contextlib.contextmanager
def _forgiving(log):
    log[0] += 1
    try:
        yield log
        log[1] += 1
    except ValueError as error:
        log[2] += error.args[0]
    else:
        log[1] += 10
    finally:
        log[3] += 1
    log[3] += 100


@contextlib.contextmanager
def _translated(scale):
    try:
        yield
    except (ValueError, IndexError) as error:
        raise KeyError(scale) from error


@contextlib.contextmanager
def _rolled_back(array):
    """The array as it was, if something fails."""
    before = array.copy()
    failed = True
    try:
        yield before
        failed = False
    finally:
        if failed:
            array[:] = before


@contextlib.contextmanager
def _counted(counts):
    counts[0] += 1
    start = counts.sum()
    try:
        yield start
    except Exception:
        counts[1] += start
        if counts[1] > 20:
            return
        raise


def generator_manager_handles_the_exception(x, s):
    log = np.zeros(4)
    with _forgiving(log) as same:
        if s > 0:
            raise ValueError(s * same[0])
        x = x * 2
    return x, log


def generator_manager_raises_another_exception(x, k):
    try:
        with _translated(x[0] * 2):
            y = x[k + 2] * x
    except KeyError as error:
        y = x * error.args[0]
    return y


def rolled_back_by_a_generator_manager(x, k):
    y = 0.0
    try:
        with _rolled_back(x) as before:
            x[0] = 7.0
            y = before[k + 1]
            x[1] = 9.0
    except IndexError:
        y = -1.0
    return x, y


def generator_managers_in_a_staged_loop(x, k, s):
    log, total = np.zeros(4), 0.0
    for i in range(12):
        with _forgiving(log):
            if i == k:
                continue
            if i > 9:
                break
            total += x[i % 3] * s
            if total > 1:
                raise ValueError(total)
    return total, log


def generator_manager_may_swallow_or_raise_again(x, s):
    counts, rest = np.zeros(2), 0.0
    for v in x:
        try:
            with _counted(counts) as start:
                if v > s:
                    raise LookupError(v)
                rest += v * start
        except LookupError as error:
            rest -= error.args[0]
    return counts, rest


def return_out_of_two_generator_managers(x, k):
    log = np.zeros(4)
    with _forgiving(log), _rolled_back(x) as before:
        if before[k] > 0:
            x[0] = 5.0
            return x * 2, log
        x[1] = 3.0
    return x, log


def exit_stack_left_on_one_path(x, s):
    log = []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, s * 2)
        scale = stack.enter_context(contextlib.nullcontext(3.0))
        log.append(x.sum() * scale)
    return log


def warning_silenced_by_the_function(x, s):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if s > 0:
            warnings.warn("positive", stacklevel=1)
            x = x * 2
    return x
