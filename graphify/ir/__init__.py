"""The graph: dtypes and sizes, nodes, the builder, the checker, the text form."""
