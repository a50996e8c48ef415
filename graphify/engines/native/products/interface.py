"""What callers of these library functions need: their names, and how many axes they know."""

from __future__ import annotations

AXES = 3  # spatial, of convolutions


def matmul_names(dtype_name: str) -> tuple[str, str]:
    """The functions of matmul.py."""
    return f"graphify_matmul_{dtype_name}", f"graphify_batched_matmul_{dtype_name}"


def convolution_names(dtype_name: str) -> tuple[str, str, str]:
    """The functions of convolution.py."""
    return (
        f"graphify_convolution_{dtype_name}",
        f"graphify_convolution_input_{dtype_name}",
        f"graphify_convolution_kernel_{dtype_name}",
    )
