"""Numerical programs in plain NumPy with loops, a module for each family.

Nothing here knows of graphify: `graphify.function(program)` takes each of them as it stands.
docs/examples.md lists them; tests/test_examples_numerics.py runs them plain and staged.
"""
