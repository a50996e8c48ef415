"""The TensorFlow engine: a graph as a true GraphDef, run by TensorFlow's runtime."""
