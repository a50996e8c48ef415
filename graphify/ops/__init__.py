"""Every op, each defined once, in one block: meaning, gradients, batching, lowerings, samples."""
