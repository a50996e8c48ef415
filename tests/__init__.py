"""The tests. A package, so that test files can say `from tests.tolerances import close`."""
