"""The native engine: graphs become machine code, without a compiler but LLVM's.

| room                       | what it holds                                                   |
|----------------------------|-----------------------------------------------------------------|
| engine.py                  | the engine: all of the below, one after the other               |
| lower/                     | graph -> loop-level program: one rule for each op               |
| loops/                     | the loop-level program, its text, its law, passes on it         |
| translate/                 | loop-level program -> LLVM IR                                   |
| elements/, maths/          | values of NumPy's dtypes in registers; functions of floats      |
| llvm/, target.py           | IR as text, and the machine it is for                           |
| jit.py, cache.py, marks.py | machine code; its cache on disk; the user's lines in it         |
| known.py                   | what is in that cache, by the graph instead of the IR           |
| library.py, symbols.py     | functions that all graphs share                                 |
| pool.py                    | threads                                                         |
| memory.py, allocator.py    | recycled memory                                                 |
| products/                  | matrix products and convolutions                                |
| entry/                     | the call from Python                                            |
| inspection/                | kernels and their work; how long each takes                     |
"""
