"""Convolutions: ms and GFLOP/s of all three directions, with one thread and with all.

python tests/bench/convolutions.py
"""

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from graphify.config import config
from tests.engines.native.product_calls import convolve

CASES = {  # samples, axes (S, K, O, stride, dilation, padding), groups, channels, features
    "1-d, 1400 x 30 -> 64, kernel 20": (32, [(1400, 20, 1381, 1, 1, 0)], 1, 30, 64),
    "2-d, 56 x 56 x 64 -> 64, 3 x 3": (8, [(56, 3, 56, 1, 1, 1)] * 2, 1, 64, 64),
    "2-d, 14 x 14 x 256 -> 256, 3 x 3": (8, [(14, 3, 14, 1, 1, 1)] * 2, 1, 256, 256),
    "2-d, 224 x 224 x 3 -> 64, 7 x 7 / 2": (4, [(224, 7, 112, 2, 1, 3)] * 2, 1, 3, 64),
    "2-d, 56 x 56 x 64 -> 128, 1 x 1": (8, [(56, 1, 56, 1, 1, 0)] * 2, 1, 64, 128),
    "2-d, 56 x 56 x 64, 3 x 3 depthwise": (8, [(56, 3, 56, 1, 1, 1)] * 2, 64, 1, 1),
    "2-d, 28 x 28 x 1 -> 8, 3 x 3": (64, [(28, 3, 26, 1, 1, 0)] * 2, 1, 1, 8),
}


def best(call, seconds=0.3):
    call()
    times = []
    stop = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    print(f"{'':>38} {'direction':>10} {'1 thread':>12} {'GFLOP/s':>8} {'all':>12} {'GFLOP/s':>8}")
    for name, (samples, axes, groups, channels, features) in CASES.items():
        s, k, o, *attributes = zip(*axes, strict=True)
        attributes.append(groups)
        x = rng.standard_normal((samples, *s, groups * channels)).astype(np.float32)
        w = rng.standard_normal((*k, channels, groups * features)).astype(np.float32)
        y = rng.standard_normal((samples, *o, groups * features)).astype(np.float32)
        work = 2 * y.size * channels * int(np.prod(k))
        for direction, a, b, size in (
            ("forward", x, w, o),
            ("input", y, w, s),
            ("kernel", x, y, k),
        ):
            kind = "convolution" + ("" if direction == "forward" else f"_{direction}")
            cells = ""
            for threads in (1, 0):
                config.set_num_threads(threads)
                t = best(partial(convolve, kind, a, b, size, *attributes))
                cells += f" {t * 1e3:>9.2f} ms {work / t / 1e9:>8.1f}"
            print(f"{name:>38} {direction:>10}{cells}", flush=True)


if __name__ == "__main__":
    main()
