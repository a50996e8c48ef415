"""Try many programs: python -m tests.fuzz 1000 --first 0 --tensorflow 5 --workers 2 --shrink.

Prints each difference (with --shrink: of the smallest program that still shows it), how far it is,
and at the end how many programs ran, were refused, and why. Ends with status 1 if a program does
not do the same everywhere.
"""

import argparse
import sys
import time

from tests.fuzz.trying import MAKERS, Tally, tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--engines", default="reference,native", help="names, with commas between")
    parser.add_argument("--tensorflow", type=int, default=0, help="each so many programs; 0: never")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    parser.add_argument("--kind", default="plain", choices=[*MAKERS, "all"], help="of programs")
    options = parser.parse_args()
    total, start = Tally(), time.time()
    seeds = range(options.first, options.first + options.programs)
    engines = tuple(options.engines.split(","))
    given = (engines, options.tensorflow, options.shrink, options.workers, options.kind)
    for tally in tallies(seeds, *given):
        total.add(tally)
        for text in tally.found:
            print(f"\n{text}")
        summary = ", ".join(f"{count} {what}" for what, count in total.counts.items() if count)
        print(f"{time.time() - start:5.0f} s: {summary}", flush=True)
        if len(total.found) >= options.most:
            break
    print(f"refused, {sum(total.reasons.values())} in all:")
    for reason, count in total.reasons.most_common(25):
        print(f"{count:5}  {reason} (seed {total.examples[reason]})")
    return 1 if total.found else 0


if __name__ == "__main__":
    sys.exit(main())
