"""From the loop-level program to LLVM IR.

module = translate(program, target)

program.py                 the two functions of a module, arguments and results
writer.py cells.py         one function: variables, scopes, values placed in front of loops
addresses.py scalars.py    index arithmetic and addresses; scalar expressions
statements.py loops.py memory.py calls.py    one rule per statement
vectors.py reductions.py   loops in lanes, and what they reduce
parallel.py outline.py     loops on threads; parts of a program as functions of their own
"""

from graphify.engines.native.translate.program import translate

__all__ = ["translate"]
