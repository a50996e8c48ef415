"""What a tree says about names: who reads and binds them, which are live, which are unbound.

`activity` gives the names of one node, `liveness` runs backward over the statements of a function,
`definitions` runs forward. All three follow the structure of the tree (a loop is a fixed point of
its body), so there is no separate control-flow graph.
"""
