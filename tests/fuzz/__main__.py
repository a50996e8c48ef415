"""Try many programs: python -m tests.fuzz 1000 --first 0 --tensorflow 5 --shrink.

Prints each difference (with --shrink: of the smallest program that still shows it) and, at the end,
how many programs ran, were refused, and why.
"""

import argparse
import collections
import time
import traceback

from tests.fuzz.generator import random_program
from tests.fuzz.running import compare
from tests.fuzz.shrinking import shrink


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tensorflow", type=int, default=0, help="each so many programs; 0: never")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    start = time.time()
    for seed in range(options.first, options.first + options.programs):
        program = random_program(seed)
        with_tensorflow = options.tensorflow and seed % options.tensorflow == 0
        engines = ("reference", "tensorflow") if with_tensorflow else ("reference",)
        try:
            verdict = compare(program, engines)
        except Exception:
            print(f"seed {seed}\n{program.source}")
            traceback.print_exc()
            raise
        counts["programs"] += 1
        counts["skipped"] += verdict.skipped is not None
        counts["lazy errors"] += verdict.lazy > 0
        counts["rounding"] += verdict.rounding > 0
        if verdict.refused:
            counts["refused"] += 1
            reasons[" ".join(verdict.refused.split()[:12])] += 1
        if verdict.difference:
            counts["different"] += 1
            found = shrink(verdict.difference, engines) if options.shrink else verdict.difference
            print(f"{found}\n", flush=True)
            if counts["different"] >= options.most:
                break
    print(dict(counts), f"{time.time() - start:.0f} s")
    for reason, count in reasons.most_common(25):
        print(f"{count:5}  {reason}")


if __name__ == "__main__":
    main()
