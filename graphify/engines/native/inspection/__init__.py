"""What the native engine made of a graph: kernels with their work, and how long each takes.

| file        | what it holds                                                     |
|-------------|-------------------------------------------------------------------|
| amounts.py  | numbers of operations and bytes, as polynomials in the sizes      |
| work.py     | how much a block of loop-level statements computes and moves      |
| kernels.py  | a program's kernels and buffers, and the table of them            |
| machine.py  | what this machine can do: measured once, kept                     |
| profile.py  | kernels timed beside what the machine could do                    |
| tables.py   | text in columns                                                   |
"""
