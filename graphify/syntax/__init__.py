"""Python source as a tree: parse, analyse, rewrite, print, compile again.

This package is generic: it knows Python and `gast`, and nothing of graphs. The converters of
`graphify.autograph` are written with it.

    parser     function object -> tree              origin    where a node came from
    template   quoted Python with placeholders      naming    fresh, readable names
    analysis   names, liveness, definedness         printer   tree -> text
    loader     tree -> function
"""
