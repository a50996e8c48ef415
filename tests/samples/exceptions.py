"""raise, try, except, else, finally and assert around staged code."""

import numpy as np

NO_GRADIENT = {
    "zero_division_of_python_numbers": "integers",
    "zero_division_in_a_loop": "integers",
    "counts_failures_by_class": "counts",
    "number_of_a_failing_turn": "counts",
    "first_bad_index": "an index",
    "integer_of_what_is_no_number": "integers",
}


class TooSmall(Exception):
    """A user's own exception with a value in it."""

    def __init__(self, value, limit):
        super().__init__(f"{value} is smaller than {limit}")
        self.value, self.limit = value, limit


class Converged(Exception):
    pass


class BadInput(ValueError):
    pass


def raise_is_a_jump_to_the_handler(x, s):
    try:
        if s > 0:
            raise ValueError("positive")
        y = x * 2
    except ValueError:
        y = -x
    return y


def raise_in_the_middle_keeps_what_was_done(x, s):
    total = 0.0
    try:
        total = total + x.sum()
        if s > 0:
            raise ValueError
        total = total * 10
    except ValueError:
        total = total + 1
    return total


def index_out_of_range_is_caught(x, k):
    try:
        y = x[k + 2]
    except IndexError:
        y = x.sum()
    return y


def state_at_the_failing_statement(x, k):
    steps = 0.0
    y = x * 1
    try:
        y[0] = 5.0
        steps = 1.0
        y[k + 1] = 7.0
        steps = 2.0
        y[k + 2] = 9.0
        steps = 3.0
    except IndexError:
        y[1] = steps
    return y, steps


def zero_division_of_python_numbers(xi, k):
    n = int(k) - 2
    try:
        q = 10 // n
    except ZeroDivisionError:
        q = -1
    return xi * q


def zero_division_in_a_loop(k):
    n, good, bad = int(k), 0, 0
    for i in range(12):
        try:
            good += 12 // (i - n)
        except ZeroDivisionError:
            bad += 1
    return good, bad


def integer_of_what_is_no_number(s):
    try:
        with np.errstate(invalid="ignore"):
            n = int(np.sqrt(s))
    except ValueError:
        n = -1
    return n


def else_runs_without_exception(x, k):
    try:
        y = x[k + 1]
    except IndexError:
        y = x[0] * 3
    else:
        y = y + 100
    return y


def finally_runs_on_both_paths(x, k):
    log = np.zeros(3)
    try:
        y = x[k + 2]
        log[0] = 1.0
    except IndexError:
        y = x[0]
        log[1] = 1.0
    finally:
        log[2] = y
    return y, log


def first_class_that_matches(x, s, k):
    try:
        if s > 0.5:
            raise KeyError("a")
        if s > -0.5:
            raise BadInput("b")
        y = x[k + 3]
    except IndexError:
        y = x * 1
    except LookupError:
        y = x * 2
    except ValueError:
        y = x * 3
    return y + 0 * x


def tuple_of_classes(x, s, k):
    try:
        if s > 0:
            raise TypeError
        y = x[k + 2] * x
    except (TypeError, IndexError):
        y = x - 1
    return y


def subclass_is_caught_by_its_base(x, s):
    try:
        if s < 0:
            raise BadInput("negative")
        y = x
    except Exception:
        y = x * 0
    return y


def fields_of_the_users_own_exception(x, s):
    try:
        if s < 1:
            raise TooSmall(s * 2, 1)
        y = x
    except TooSmall as error:
        y = x * error.value + error.limit
    return y


def arguments_of_an_exception(x, s):
    try:
        if s > 0:
            raise ValueError(x * s, 2)
        y = x
    except ValueError as error:
        first, second = error.args
        y = first * second
    return y


def exception_leaves_nested_loops(w):
    total = 0.0
    try:
        for row in w:
            for v in row:
                if total > 2:
                    raise Converged
                total += v * v
    except Converged:
        total = total + 100
    return total


def result_comes_in_an_exception(x):
    v = x.sum()
    try:
        while True:
            v = v * 0.5
            if np.abs(v) < 0.1:
                raise TooSmall(v, 0.1)
    except TooSmall as found:
        return found.value


def try_in_a_staged_loop(x, k):
    total = 0.0
    for i in range(len(x) + 2):
        try:
            total += x[i + k]
        except IndexError:
            total += 1
    return total


def continue_and_break_in_handlers(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        try:
            if a < -1:
                raise ValueError
            if b < -1:
                raise KeyError
            total += a
        except ValueError:
            continue
        except KeyError:
            break
        total += b
    return total


def return_in_try_and_in_handler(x, k):
    try:
        return x[k + 2] * 2
    except IndexError:
        return x[0] - 1


def return_from_a_loop_in_try(x, s):
    try:
        for v in x:
            if v > s:
                return v
        raise LookupError
    except LookupError:
        return s


def truth_of_an_array_is_caught(x, s):
    try:
        if s < 0 or x:
            y = x
    except ValueError:
        y = x * 2
    return y


def finally_before_a_return(x, s):
    seen = np.zeros(2)
    for _ in range(2):
        try:
            if s > 0:
                return x * 2, seen
            seen[0] += 1
        finally:
            seen[1] += 10
    return x, seen


def return_in_finally_wins(x, s):
    try:
        if s > 0:
            raise ValueError
        x = x * 2
    finally:
        return x + 1  # noqa: B012


def break_in_finally_cancels_the_exception(x, s):
    total = x.sum()
    while True:
        try:
            if s > 0:
                raise ValueError
            total += 1
        finally:
            break  # noqa: B012
    return total


def raised_again_for_the_outer_try(x, k, s):
    y = x
    try:
        try:
            y = x * x[k + 2]
            if s > 0:
                raise ValueError
        except IndexError:
            y = y - 1
            raise
        y = y + 1
    except (IndexError, ValueError):
        y = y * 10
    return y


def inner_try_lets_other_classes_pass(x, s):
    y = x
    try:
        try:
            if s > 0:
                raise KeyError("k")
            y = y + 1
        except IndexError:
            y = y * 0
        y = y + 2
    except KeyError:
        y = y + 4
    return y


def another_exception_from_the_first(x, k):
    y = x * 1
    try:
        try:
            y = y * x[k + 2]
        except IndexError as error:
            raise BadInput("no such item") from error
    except ValueError:
        y = y - 3
    return y


def exception_in_a_handler(x, k):
    y = x
    try:
        try:
            y = x[k + 2] * x
        except IndexError:
            y = x[k + 3] * x
    except IndexError:
        y = x * 7
    return y


def exception_in_the_else_clause(x, k):
    y = x
    try:
        try:
            y = x * 2
        except IndexError:
            y = x * 0
        else:
            y = x * x[k + 2]
    except IndexError:
        y = y + 1
    return y


def _checked_sqrt(v):
    if v < 0:
        raise ValueError(f"negative: {v}")
    return np.sqrt(v)


def exception_of_a_callee(x, s):
    try:
        y = x * _checked_sqrt(s)
    except ValueError:
        y = x * 0
    return y


def exception_of_callees_in_a_loop(x):
    total, bad = 0.0, 0.0
    for v in x:
        try:
            total += _checked_sqrt(v)
        except ValueError:
            bad += v
    return total, bad


class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise TooSmall(self.balance, amount)
        self.balance -= amount


def method_that_raises_before_it_writes(x, s):
    account = Account(s * s)
    refused = 0.0
    for v in x:
        try:
            account.withdraw(np.abs(v))
        except TooSmall:
            refused += 1
    return account.balance, refused * 1.0


def assertion_is_caught(x, s):
    try:
        assert s > 0, "not positive"
        y = x * s
    except AssertionError:
        y = x
    return y


def checked_by_numpy(x, s):
    y = np.cumsum(x)
    np.testing.assert_allclose(y[-1:], x.sum(), rtol=1e-6)
    try:
        np.testing.assert_array_less(x, s)
    except AssertionError:
        return y
    return y * 2


def singular_matrix_is_caught(x, s):
    a = np.eye(3) * np.maximum(s, 0.0)
    b = np.ones(3) * x.sum()
    try:
        y = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        y = b
    return y


def counts_failures_by_class(x, k):
    n, counts = int(k), np.zeros(3)
    for i in range(10):
        try:
            a = 12 // (i - n)
            counts[0] += x[a] * 0 + 1
        except ZeroDivisionError:
            counts[1] += 1
        except IndexError:
            counts[2] += 1
    return counts


def number_of_a_failing_turn(x, k):
    done = 0
    try:
        for i in range(20):
            _ = x[i + k]
            done = i
    except IndexError:
        done = -done
    return done


def first_bad_index(xi, x):
    where = -1
    for i in range(len(xi)):
        try:
            _ = x[xi[i]]
        except IndexError:
            where = i
            break
    return where


def default_for_what_is_missing(x, k):
    def item(i, default):
        try:
            return x[i]
        except IndexError:
            return default

    return item(k, 0.0) + item(k + 2, 1.0) + item(99, 2.0)


def while_with_a_test_that_fails(x, s):
    i, total = 0, 0.0
    try:
        while x[i] < 100 + s:
            total += x[i]
            i += 1
    except IndexError:
        total = total * 2
    return total


def update_of_an_argument_up_to_the_failure(x, k):
    try:
        for i in range(12):
            x[i + k] *= 2
    except IndexError:
        x[0] = -1.0
    return x.sum()


def retry_until_it_works(x, s):
    scale, value = 1.0, 0.0
    for _ in range(10):
        try:
            if scale < 3 + np.abs(s) * 0:
                raise TooSmall(scale, 2)
            value = x.sum() * s / scale
            break
        except TooSmall as error:
            scale = error.value * 2
    return value, scale


def nothing_is_raised_for_no_turns(x):
    try:
        for v in x[:0]:
            if v > 0:
                raise ValueError
        y = x
    except ValueError:
        y = -x
    return y


def loops_that_would_fail_make_no_turn(x, k):
    y = 0.0
    while k > 100:
        k -= 1
        if x > 0:  # ambiguous: NumPy refuses, if it gets here
            y = 1.0
    for i in range(k - 100):
        y += x.reshape(7, 11)[i, 0]
    return y * x


def exception_raised_later(x, s):
    failure, total = None, 0.0
    try:
        for v in (x[0], x[1], s):
            try:
                if v > s:
                    raise BadInput("large", v)
                total = total + v
            except ValueError as error:
                failure = error
        if failure is not None:
            raise failure
    except BadInput as error:
        total = total + error.args[1] * 10
    return total


def one_of_two_exceptions(x, s):
    error = ValueError(s) if s > 0 else KeyError("low")
    try:
        if x[0] > 0:
            raise error
        total = x.sum()
    except ValueError as found:
        total = found.args[0]
    except KeyError:
        total = -1.0
    return total


def fails_with_another_class_first(x, s):
    try:
        y = int(float(s) / 0.0 if s > 100 else float("inf") if s > 0 else s)
    except OverflowError:
        y = -1
    return x * y


def items_of_a_list_that_may_not_be_there(x, k):
    rows, known, failures = [v for v in x if v > 0], [1.0, 2.0, 3.0], 0.0
    for values in (rows, known):
        try:
            values.remove(2.0)
        except ValueError:
            failures += 1
        try:
            values[k] = 7.0
        except IndexError:
            failures += 10
        try:
            del values[k]
        except IndexError:
            failures += 100
        try:
            failures += values.pop(k)
        except IndexError:
            failures += 1000
    return sum(rows) + 10 * len(rows), sum(known), failures


def fails_before_the_loop_begins(x, k):
    total = 0.0
    try:
        for v in [x[i + k] for i in range(3)]:
            total += v
        for v in sorted(10.0 / int(w) for w in x):
            total += v
    except IndexError:
        total = -total - 1
    except ZeroDivisionError:
        total = -total - 2
    return total


def containers_that_grow_after_a_check(x, s):
    found, rows = {"sum": x.sum()}, [x]
    if s > 100:
        found["bad"] = s
        raise BadInput("too large", s)
    found["most"], found["rows"] = x.max(), rows
    rows.append(x * s)
    rows.append(x.sum())
    return found["sum"] + found["most"] * len(found), found["rows"][1], rows[2]


def name_that_is_bound_on_one_path(s):
    if s > 100:
        y = s + 1
    try:
        z = y
    except UnboundLocalError:
        z = -s
    return z


def last_of_those_there_are(x, s):
    for v in x:
        if v > s + 100:
            last = v
    try:
        return last
    except NameError:
        return s


def deleted_or_gone_over_where_it_may_be_unbound(x, s):
    if s > 100:
        rows, spare = [s, 2.0], 1.0
    found = 0.0
    try:
        for v in rows:
            found += v
        del spare
    except NameError:
        found -= 1
    try:
        del spare
    except NameError:
        found *= 3
    return found
