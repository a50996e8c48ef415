"""Random plain-NumPy programs, run every way graphify can run them."""
