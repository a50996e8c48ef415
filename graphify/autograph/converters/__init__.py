"""Converters: each turns one family of statements or expressions into calls of run-time operators.

Every module here has one public function `transform(tree, ctx)` and shows, at its top, code before
and after. `graphify.autograph.pipeline` holds the order in which they run. Generated code reaches
the operators through one name, `ag`.
"""
