"""The rows of the benchmark, one file for each group of them.

A file has `ROWS`, a list of `Row`s, or `measure(effort, wanted)`, which yields `Result`s of what
takes processes of its own.
"""

GROUPS = (
    "calls",
    "elementwise",
    "reductions",
    "products",
    "convolutions",
    "loops",
    "scalar_loops",
    "sections",
    "gradients",
    "first_call",
    "memory",
)
