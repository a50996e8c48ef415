"""The native engine: a graph becomes one LLVM function.

    llvm.py target.py          IR as text, and the machine it is for
    maths/ elements/           float functions; values of NumPy dtypes in registers
    loops/                     the loop-level program: buffers, loops, scalar expressions
    lower/                     graph -> loop-level program
    translate/                 loop-level program -> LLVM IR
    pool.py products/          threads; matrix products and convolutions
    jit.py cache.py library.py machine code, its cache on disk, code that all graphs share
    entry/                     the call from Python
"""
