"""Functions as users write them, one feature or so each; see tests/test_samples.py."""
