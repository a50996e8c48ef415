"""The loop-level program of the native engine, its text form, its checker, and passes on it."""
