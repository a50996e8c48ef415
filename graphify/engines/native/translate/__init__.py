"""From the loop-level program to LLVM IR: `module = translate(program, target)`.

The files, each on what stands before it:

    arithmetic.py costs.py     which index arithmetic may run early; what code costs
    cells.py writer.py         variables that change; one function being written
    addresses.py scalars.py    index arithmetic and addresses; scalar expressions
    statements.py              one rule per statement; those of the larger ones are in
    loops.py memory.py calls.py
    reductions.py lanes.py copies.py vectors.py    loops in lanes
    outline.py                 parts of a program as functions
    parallel.py sections.py    loops on threads; parts side by side
    program.py                 the two functions of a module, arguments and results
"""

from graphify.engines.native.translate.program import translate

__all__ = ["translate"]
