"""Values of NumPy dtypes in LLVM registers, and the meaning of every elementwise op on them.

element.py memory.py cast.py    what lies in registers; from and to memory; between dtypes
table.py                        op name -> rule, `apply`
arithmetic.py integers.py comparison.py bits.py floats.py complexes.py ...    the rules
checked.py                      Python's own numbers: a result, and when it is an error instead
"""
