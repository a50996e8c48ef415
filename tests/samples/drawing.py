"""Random numbers in staged code: NumPy's streams, drawn in the order of the program."""

import numpy as np

_TWICE = "a derivative of the loop would draw a second time"
_COUNTS = "counts"
NO_GRADIENT = {
    "estimates_pi_by_chance": _COUNTS,
    "estimates_pi_with_legacy_functions": _COUNTS,
    "walks_at_random": _TWICE,
    "draws_until_a_sum_is_large": _TWICE,
    "throws_two_dice_and_counts": _COUNTS,
    "passes_a_generator_to_a_helper": _TWICE,
    "draws_in_one_branch_only": _TWICE,
    "mixes_python_draws_with_native_ones": _TWICE,
    "seeds_anew_in_every_turn": "depends on nothing but a count",
    "keeps_two_generators_apart": "depends on nothing but a count",
    "draws_arrays_of_integers_in_a_loop": _COUNTS,
    "keeps_a_generator_in_an_object": _TWICE,
}


def estimates_pi_by_chance(k):
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(50 + k):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / (50 + k)


def estimates_pi_with_legacy_functions(k):
    np.random.seed(3)
    inside = 0
    for _ in range(20 + k):
        x = np.random.rand()
        y = np.random.uniform(0.0, 1.0)
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / (20 + k)


def walks_at_random(k, s):
    rng = np.random.default_rng(11)
    place, highest = s, s
    for _ in range(5 * k):
        step = rng.integers(0, 3)
        if step == 0:
            place = place - 1.0
        elif step == 1:
            place = place + 1.0
        else:
            place = place * 0.5
        if place > highest:
            highest = place
    return place, highest


def samples_by_metropolis(s, x):
    rng = np.random.default_rng(5)
    here, taken = s, 0
    chain = np.zeros(len(x))
    for t in range(len(x)):
        proposal = here + 0.5 * rng.normal()
        if np.log(rng.random()) < here * here - proposal * proposal:
            here = proposal
            taken += 1
        chain[t] = here * x[t]
    return chain, taken


def draws_until_a_sum_is_large(s, kp):
    rng = np.random.default_rng(kp)
    total, count = 0.0, 0
    while total < 10.0 + s * s:
        total += rng.exponential(2.0) + 0.1
        count += 1
        if count > 50:
            break
    return total, count


def rejects_until_inside(x):
    rng = np.random.RandomState(2)
    out = np.zeros_like(x)
    for i in range(len(x)):
        while True:
            u, v = 2.0 * rng.rand() - 1.0, 2.0 * rng.rand() - 1.0
            if u * u + v * v < 1.0:
                break
        out[i] = x[i] * u + v
    return out


def adds_normal_noise_to_rows(w):
    rng = np.random.default_rng(8)
    out = w.copy()
    for i in range(len(w)):
        out[i] += 0.1 * rng.standard_normal(w.shape[1])
    return out


def throws_two_dice_and_counts(k):
    rng = np.random.default_rng(4)
    counts = np.zeros(13, dtype=np.int64)
    for _ in range(10 * k + 5):
        counts[rng.integers(1, 6, endpoint=True) + rng.integers(1, 7)] += 1
    return counts


def _one_step(rng, place, size):
    return place + size * rng.normal(0.0, 1.0)


def passes_a_generator_to_a_helper(s, k):
    rng = np.random.default_rng(21)
    place = s
    for _ in range(k):
        place = _one_step(rng, place, 0.25)
        if rng.random() < 0.5:
            place = _one_step(rng, place, 0.5)
    return place


def draws_in_one_branch_only(s, k):
    rng = np.random.default_rng(6)
    total = s
    if k > 1:
        total = total + rng.random()
    else:
        for _ in range(3):
            total = total - rng.random()
    return total + rng.random()


def mixes_python_draws_with_native_ones(s, k):
    rng = np.random.default_rng(9)
    total = s
    for _ in range(k):
        total = total + rng.random()
        order = rng.permutation(4)
        total = total * 0.5 + order[0]
    return total + rng.normal()


def seeds_anew_in_every_turn(k):
    total = 0.0
    for i in range(k + 2):
        np.random.seed(i)
        total += np.random.randn() + np.random.randint(10)
    return total


def keeps_two_generators_apart(k):
    first, second = np.random.default_rng(1), np.random.RandomState(1)
    found = []
    for i in range(6):
        found.append(first.random() if i % 2 == 0 else second.random_sample())
    total = 0.0
    for _ in range(k):
        total += first.uniform(-1.0, 1.0) * second.normal()
    return total, found[0] + found[1]


def draws_arrays_of_integers_in_a_loop(k):
    rng = np.random.default_rng(14)
    seen = np.zeros(8, dtype=np.int64)
    for _ in range(k + 1):
        seen[rng.integers(0, 8, 3)] = 1
    return seen


class _Walker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.place = 0.0

    def step(self, size):
        self.place += size * self.rng.uniform(-1.0, 1.0)


def keeps_a_generator_in_an_object(s, k):
    walker = _Walker(17)
    for _ in range(k):
        walker.step(s)
    walker.step(1.0)
    return walker.place
