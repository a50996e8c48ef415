"""What the rows of the benchmark are made of, and how they are measured side by side."""
