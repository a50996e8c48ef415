"""Values of NumPy dtypes in LLVM registers, and the meaning of every elementwise op on them.

element.py memory.py cast.py halves.py   what lies in registers; memory; between dtypes
table.py rule.py                         op name -> rule, `apply`; what rules are made of
integers.py floats.py comparison.py      the rules, by family
complexes.py complex_*.py                arithmetic of complex numbers, and functions of them
checked.py                               Python's own numbers: a result, or which error
"""
