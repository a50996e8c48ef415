"""How each op lowers to TensorFlow, family by family."""
