"""Callees in a try statement that do something before they fail; assertions that hold values."""

import numpy as np

NO_GRADIENT = {
    "prints_before_it_fails": "its result does not depend on the values",
    "steps_done_before_the_failure": "counts",
    "parsed_until_a_bad_token": "integers",
}


class Short(Exception):
    """Too little on an account: what there is, and what was asked for."""

    def __init__(self, balance, amount):
        super().__init__(f"{amount} of {balance}")
        self.balance, self.amount = balance, amount


class Ledger:
    def __init__(self, balance):
        self.balance, self.tries, self.done = balance, 0, 0

    def draw(self, amount):
        self.tries += 1
        if amount > self.balance:
            raise Short(self.balance, amount)
        self.balance = self.balance - amount
        self.done += 1
        return self.balance

    def move(self, other, amount):
        left = self.draw(amount)
        other.balance = other.balance + amount
        return left


class Window:
    """Checks what it is made of after it has begun to fill its fields."""

    def __init__(self, values, width):
        self.values = values
        self.width = width
        if width > 2:
            raise ValueError("too wide", width)

    def total(self):
        return self.values.sum() * self.width


def _fill(out, x, start):
    for i in range(3):
        out[i] = x[start + i] * 2
    return out.sum()


def _scaled(x, s):
    x *= 2
    if s > 0:
        raise ValueError(s, x.sum())
    x += 1
    return x.sum()


def _in_two_steps(x, k, s):
    x[0] = s
    first = _fill(x, x, k)
    x[1] = first
    if s < 0:
        raise KeyError("negative")
    return first * 2


def assertion_that_holds_a_value(x, s):
    try:
        assert s > 0, s * 2
        y = x * s
    except AssertionError as error:
        y = x * error.args[0]
    return y


def assertion_that_holds_several_values(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        try:
            assert a < b, (a, b)
            total += b - a
        except AssertionError as error:
            first, second = error.args[0]
            total += (first - second) * 10
    return total


def assertion_let_through_by_other_handlers(x, s):
    y = x * 1
    try:
        try:
            y = y * 2
            assert s > 0, (s, "is not positive")
            y = y + 1
        except (ValueError, IndexError):
            y = y * 0
        finally:
            y = y - 3
    except AssertionError:
        y = y * 5
    return y


def argument_of_an_exception_that_fails_itself(x, k):
    try:
        raise ValueError(x[k + 1])
    except ValueError as error:
        y = x * error.args[0]
    except IndexError:
        y = -x
    return y


def array_written_up_to_the_failure_of_a_callee(x, k):
    out = np.zeros(3)
    try:
        total = _fill(out, x, k)
    except IndexError:
        total = -out.sum()
    return out, total


def argument_changed_by_a_callee_that_fails(x, s):
    try:
        y = 1 + _scaled(x, s) * 2
    except ValueError as error:
        y = error.args[0] + error.args[1]
    return x, y


def attributes_changed_before_the_failure(x, s):
    ledger, missing = Ledger(s * s), s * 0
    for v in x:
        try:
            missing = missing - ledger.draw(np.abs(v)) / 8
        except Short as error:
            missing = missing + error.amount - error.balance
    return ledger.balance, missing


def steps_done_before_the_failure(x, s):
    ledger = Ledger(np.abs(s))
    for v in x:
        try:
            ledger.draw(v * v)
        except Short:
            break
    return ledger.tries, ledger.done


def callee_of_a_callee_fails_half_way(x, y, s):
    mine, yours = Ledger(np.abs(s)), Ledger(0.0 * s)
    refused = 0.0 * s
    for a, b in zip(x, y, strict=True):
        try:
            mine.move(yours, a * a)
            yours.move(mine, b * b)
        except Short as error:
            refused = refused + error.amount
    return mine.balance, yours.balance, refused


def handler_goes_on_from_the_failure(x, k, s):
    try:
        y = _in_two_steps(x, k, s)
    except IndexError:
        y = x[0] + x[1]
    except KeyError:
        y = x[0] * x[1]
    x[2] += 1
    return x, y


def finally_after_a_callee_that_fails(x, k):
    out = np.ones(3)
    try:
        try:
            first = _fill(out, x, k)
        finally:
            out *= 10
    except IndexError:
        first = out[0]
    return first, out


def callee_with_a_try_of_its_own(x, k, s):
    def guarded(values):
        values[0] = 5.0
        try:
            _fill(values, x, k)
        except IndexError:
            values[1] = -1.0
            if s > 0:
                raise ValueError("both") from None
        else:
            return values[2]
        return values[0] * s

    out = np.zeros(3)
    try:
        y = guarded(out)
    except ValueError:
        y = out[1]
    return out, y


def closure_counts_up_to_the_failure(x, k):
    done = 0.0

    def step(i):
        nonlocal done
        done += x[0]
        value = x[i]
        done += value
        return value

    y = 0.0
    try:
        for i in range(12):
            y += step(i + k)
    except IndexError:
        y = -y
    return y, done


def arguments_evaluated_before_the_call(x, k, s):
    seen = np.zeros(2)

    def note(where, value):
        seen[where] += value
        if s < 0:
            raise ValueError("note")
        return value

    try:
        y = note(0, x[k]) + note(1, note(0, 2.0)) * x[k + 2]
    except IndexError:
        y = -1.0
    except ValueError:
        y = -2.0
    return seen, y


def prints_before_it_fails(x, s):
    def shout(value):
        print("got", f"{value:.3f}")
        if value > 0:
            raise ValueError("positive", value)
        print("done")

    try:
        shout(s)
    except ValueError as error:
        print("caught", error.args[0], f"{error.args[1]:.3f}")
    return len(x)


def object_refused_while_it_is_made(x, s):
    try:
        window = Window(x, s * s)
        y = window.total()
    except ValueError as error:
        y = error.args[1]
    return y


def early_returns_of_an_attempted_callee(x, s):
    seen = np.zeros(1)

    def search(limit):
        for v in x:
            seen[0] += 1
            if v > limit:
                return v
            if v < -limit * 4:
                raise LookupError(v)
        return limit

    try:
        y = search(np.abs(s))
    except LookupError as error:
        y = error.args[0]
    return y, seen


def callee_returns_nothing_or_fails(x, s):
    def check(values):
        values[0] = s
        if s > 0:
            raise ValueError

    y = 0.0
    try:
        check(x)
        y = 1.0
    except ValueError:
        y = 2.0
    return x, y * s


def attempted_under_a_condition_in_a_loop(w, k):
    total, bad = 0.0, 0.0
    for row in w:
        if row[0] > 0:
            try:
                total += _fill(row, row, k)
            except IndexError:
                bad += row[0]
        else:
            total += 1
    return w, total, bad


def parsed_until_a_bad_token(xi):
    stack = np.zeros(16, np.int64)
    top = 0

    def push(value):
        nonlocal top
        top += 1
        if value % 5 == 4:
            raise ValueError(value)
        stack[top] = value

    try:
        for token in xi:
            push(token)
    except ValueError as error:
        stack[0] = error.args[0]
    return stack, top


def callee_chosen_by_what_is_known(x, s):
    kinds = {"scaled": _scaled, "plain": lambda values, by: values.sum() * by}
    y = 0.0
    for name in ("plain", "scaled"):
        try:
            y += kinds[name](x, s)
        except ValueError as error:
            y += error.args[1]
    return x, y


def rows_raised_until_there_are_no_more(w, x):
    k = 0
    try:
        while True:
            w[k] += x.sum()
            k += 1
    except IndexError:
        w[0] -= k
    return w, k


def rows_doubled_by_range_past_the_end(w, kp):
    try:
        for i in range(kp + 9):
            w[i] *= 2
    except LookupError:
        return w.sum()
    return w.mean()
