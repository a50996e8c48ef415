"""The CPython side: calling compiled graphs, from Python and from machine code.

A compiled graph defines

    i32 @shapes(ptr inputs, ptr outputs)    fills in the dims of results that follow from the inputs
    i32 @run(ptr inputs, ptr outputs)

Both give 0, or the number of the site that failed (sites.py), or -1: an exception is pending.
Inputs and outputs are 64-bit words, see words.py. Data is aligned to its elements, no more. A
result whose dims are known after @shapes (which is called only if any size is symbolic) has memory
already; @run allocates the others by `graphify_allocate` and puts address and dims into the words.
Addresses it put there are freed by the caller also when it fails.

| file           | what it holds                                                        |
|----------------|----------------------------------------------------------------------|
| room.py        | the base class of `graphify.Function`, with room for an entry point  |
| capi.py        | where CPython's and NumPy's functions and fields are                 |
| glue.py        | native code around every call: the GIL, signals, Python callbacks    |
| enter.py       | writes that code                                                     |
| words.py       | arguments and results as the 64-bit words that compiled graphs take  |
| sites.py       | what can fail in a compiled graph, and the exception for it          |
| host.py        | Python functions that compiled graphs call                           |
| python_call.py | `Runner`: calls a compiled graph by way of Python                    |
| table.py       | descriptions of calls in memory, for the entry point                 |
| rows.py        | what the native code below is written with                           |
| opening.py     | native code: keywords, and arguments that are containers             |
| matching.py    | native code: whether a call is one that a table describes            |
| running.py     | native code: running the graph, making tensors of its results        |
| point.py       | native code: the entry point, made of the three above                |
| vectorcall.py  | the entry point: calls a compiled graph without Python               |
"""
