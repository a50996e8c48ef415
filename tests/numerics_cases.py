"""Arguments for the programs of examples/numerics, by size.

    cases()["lu"].arguments(12)      # fresh arrays, the same for the same size

A program's name is enough to find it: names are unique over all modules.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import examples.numerics

Make = Callable[[int, np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A program and how its arguments are made.

    Attributes:
        sizes: two of them, both above the number of turns to which loops are unrolled.
    """

    program: Callable[..., Any]
    make: Make
    sizes: tuple[int, int]

    def arguments(self, size: int, seed: int = 5) -> list[Any]:
        return list(self.make(size, np.random.default_rng(seed)))


def spd(n: int, r: np.random.Generator) -> Any:
    m = r.normal(size=(n, n))
    return m @ m.T + n * np.eye(n)


def dominant(n: int, r: np.random.Generator) -> Any:
    return r.normal(size=(n, n)) + 2 * n * np.eye(n)


def symmetric(n: int, r: np.random.Generator) -> Any:
    m = r.normal(size=(n, n))
    return m + m.T


def word(n: int, r: np.random.Generator, letters: int = 4) -> Any:
    return r.integers(0, letters, n)


def power(n: int) -> int:
    """The power of two at or above n."""
    return 1 << (n - 1).bit_length()


def plane(n: int) -> Any:
    """Points of the complex plane around the origin."""
    return np.linspace(-1.5, 1.5, n) + 1j * np.linspace(-1.2, 1.2, n + 1)[:, None]


def csr(n: int, r: np.random.Generator) -> Any:
    """A square matrix in compressed rows of four elements each, dominated by its diagonal."""
    order = r.random((n, n)) + 1.0
    np.fill_diagonal(order, 0.0)
    columns = np.sort(np.argsort(order, axis=1)[:, :4], axis=1)
    values = r.normal(size=(n, 4)) + n * (columns == np.arange(n)[:, None])
    return 4 * np.arange(n + 1), columns.reshape(-1), values.reshape(-1)


def octets(n: int, r: np.random.Generator) -> Any:
    return r.integers(0, 256, n).astype(np.uint8)


MAKE: dict[str, Make] = {
    # stencils
    "jacobi_1d": lambda n, r: (r.random(n), 11),
    "heat_1d": lambda n, r: (r.random(n), 0.2, 11),
    "heat_2d": lambda n, r: (r.random((n, n + 2)), 0.2, 10),
    "heat_3d": lambda n, r: (r.random((n, n, n)), np.zeros((n, n, n)), 10),
    "gauss_seidel_2d": lambda n, r: (r.random((n, n + 1)), 10),
    "laplace_until": lambda n, r: (r.random((n, n)), 1e-3),
    "successive_over_relaxation": lambda n, r: (r.random((n, n)), r.random((n, n)), 1.5, 9),
    "wave_2d": lambda n, r: (r.random((n, n)), np.zeros((n, n)), 0.5, 10),
    "fdtd_2d": lambda n, r: (*r.random((3, n, n + 1)), r.random(12)),
    "horizontal_diffusion": lambda n, r: (r.random((n, n + 1, 3)), r.random((n, n + 1, 3))),
    "advection_upwind": lambda n, r: (r.random(n), r.normal(size=n), 0.1, 10),
    "burgers": lambda n, r: (r.random(n) + 1, 0.05, 0.5, 0.1, 10),
    "game_of_life": lambda n, r: (r.integers(0, 2, (n, n + 1)), 9),
    "elementary_automaton": lambda n, r: (r.integers(0, 2, n), 110, 12),
    "sandpile": lambda n, r: (r.integers(0, 7, (n, n)),),
    # factorisations
    "cholesky": lambda n, r: (spd(n, r),),
    "cholesky_by_rows": lambda n, r: (spd(n, r),),
    "ldl": lambda n, r: (spd(n, r),),
    "lu": lambda n, r: (dominant(n, r),),
    "lu_pivoted": lambda n, r: (r.normal(size=(n, n)),),
    "forward_substitution": lambda n, r: (np.tril(dominant(n, r)), r.normal(size=n)),
    "back_substitution": lambda n, r: (np.triu(dominant(n, r)), r.normal(size=n)),
    "solve": lambda n, r: (r.normal(size=(n, n)), r.normal(size=n)),
    "gauss_jordan_inverse": lambda n, r: (r.normal(size=(n, n)),),
    "determinant": lambda n, r: (r.normal(size=(n, n)),),
    "gram_schmidt": lambda n, r: (r.normal(size=(n + 2, n)),),
    "householder_qr": lambda n, r: (r.normal(size=(n + 2, n)),),
    "givens_qr": lambda n, r: (r.normal(size=(n + 2, n)),),
    "durbin": lambda n, r: (r.random(n) / n,),
    "levinson": lambda n, r: (np.r_[2.0, r.random(n - 1) / n], r.random(n)),
    "bandwidth_cholesky": lambda n, r: (
        np.tril(np.triu(spd(n, r), -3), 3) + 4 * n * np.eye(n),
        3,
    ),
    # eigenvalues
    "power_iteration": lambda n, r: (spd(n, r) + 10 * n * np.ones((n, n)), 1e-8),
    "inverse_iteration": lambda n, r: (symmetric(n, r), 0.3, 9),
    "jacobi_eigenvalues": lambda n, r: (symmetric(n, r), 9),
    "qr_algorithm": lambda n, r: (spd(n, r), 40),
    "lanczos": lambda n, r: (symmetric(n, r), r.normal(size=n), 9),
    "sturm_count": lambda n, r: (r.normal(size=n), r.normal(size=n - 1), 0.2),
    "bisection_eigenvalue": lambda n, r: (r.normal(size=n), r.normal(size=n - 1), 3, 1e-9),
    "hessenberg": lambda n, r: (r.normal(size=(n, n)),),
    # solvers
    "conjugate_gradient": lambda n, r: (spd(n, r), r.normal(size=n), 1e-9),
    "gauss_seidel": lambda n, r: (dominant(n, r), r.normal(size=n), 1e-9),
    "bicgstab": lambda n, r: (dominant(n, r), r.normal(size=n), 1e-9),
    "gmres": lambda n, r: (dominant(n, r), r.normal(size=n), 9),
    "newton_system": lambda n, r: (r.random(n) + 0.5, 1e-10),
    "bisect": lambda n, r: (np.r_[1.0, r.random(n - 2), -3.0], 0.0, 3.0, 1e-9),
    "secant": lambda n, r: (np.r_[1.0, r.random(n - 2), -3.0], 0.5, 1.5, 1e-9),
    "golden_section": lambda n, r: (r.normal(size=n), r.normal(size=n), 1e-6),
    "gradient_descent_with_backtracking": lambda n, r: (spd(n, r), r.normal(size=n), 10),
    "pagerank": lambda n, r: (r.random((n, n)) < 0.3, 0.85, 1e-8),
    # tables
    "nussinov": lambda n, r: (word(n, r),),
    "floyd_warshall": lambda n, r: (r.integers(1, 100, (n, n)),),
    "floyd_warshall_by_planes": lambda n, r: (r.random((n, n)),),
    "edit_distance": lambda n, r: (word(n, r), word(n + 3, r)),
    "longest_common_subsequence": lambda n, r: (word(n, r), word(n + 3, r)),
    "knapsack": lambda n, r: (r.integers(1, 9, n), r.integers(1, 20, n), 25),
    "coin_change": lambda n, r: (r.integers(1, 9, n), 30),
    "smith_waterman": lambda n, r: (word(n, r), word(n + 3, r), 2.0, 1.0),
    "needleman_wunsch": lambda n, r: (r.normal(size=n), r.normal(size=n + 3), 0.5),
    "dynamic_time_warping": lambda n, r: (r.normal(size=n), r.normal(size=n + 3)),
    "matrix_chain": lambda n, r: (r.integers(1, 30, n),),
    "viterbi": lambda n, r: (
        np.log(r.random(3)),
        np.log(r.random((3, 3))),
        np.log(r.random((3, 4))),
        word(n, r),
    ),
    "forward_algorithm": lambda n, r: (r.random(3), r.random((3, 3)), r.random((3, 4)), word(n, r)),
    "longest_increasing_subsequence": lambda n, r: (r.integers(0, 50, n),),
    "optimal_search_tree": lambda n, r: (r.random(n),),
    "cumulative_table": lambda n, r: (r.random((n, n + 1)),),
    "largest_square": lambda n, r: (r.random((n, n + 1)) < 0.8,),
    "maximum_subarray": lambda n, r: (r.normal(size=n),),
    # signals
    "recursive_filter": lambda n, r: (
        r.normal(size=n),
        np.array([1.0, -0.3, 0.1]),
        np.array([0.2, 0.3]),
    ),
    "exponential_smoothing": lambda n, r: (r.normal(size=n), 0.3),
    "deriche": lambda n, r: (r.random((n, n + 2)), 0.25),
    "stockham_fft": lambda n, r: (r.normal(size=power(n)),),
    "stockham_fft_by_planes": lambda n, r: (
        r.normal(size=power(n)) + 0j,
        2,
        power(n).bit_length() - 1,
    ),
    "fft_in_place": lambda n, r: (r.normal(size=power(n)),),
    "goertzel": lambda n, r: (r.normal(size=n), 3),
    "convolve": lambda n, r: (r.normal(size=n), r.normal(size=11)),
    "median_filter": lambda n, r: (r.normal(size=n), 2),
    "haar_wavelet": lambda n, r: (r.normal(size=power(n)),),
    "kalman_filter": lambda n, r: (
        r.normal(size=(n, 1)),
        np.array([[1.0, 0.1], [0.0, 1.0]]),
        np.array([[1.0, 0.0]]),
        0.1 * np.eye(2),
        np.eye(1),
    ),
    "least_mean_squares": lambda n, r: (r.normal(size=n + 10), r.normal(size=n + 10), 4, 0.05),
    "zero_crossings": lambda n, r: (r.normal(size=n),),
    "find_peaks": lambda n, r: (r.integers(0, 5, n) * 1.0, 1.0),
    "phase_vocoder_unwrap": lambda n, r: (r.uniform(-np.pi, np.pi, n),),
    # tridiagonal
    "thomas": lambda n, r: (r.random(n), r.random(n) + 4, r.random(n), r.random(n)),
    "periodic_tridiagonal": lambda n, r: (r.random(n), r.random(n) + 4, r.random(n), r.random(n)),
    "cyclic_reduction": lambda n, r: (
        *(r.random(power(n) - 1) + shift for shift in (0, 4, 0)),
        r.random(power(n) - 1),
    ),
    "adi": lambda n, r: (r.random((n, n)), 10),
    "vertical_advection": lambda n, r: (r.random((4, 5, n)), r.random((4, 5, n + 1)), 0.5),
    "crank_nicolson": lambda n, r: (r.random(n), 0.4, 10),
    "cubic_spline": lambda n, r: (np.sort(r.random(n)) * n, r.random(n), r.random(11) * n),
    "black_scholes_by_differences": lambda n, r: (np.arange(n) * 10.0, 50.0, 0.05, 0.3, 1.0, 10),
    # particles
    "accelerations": lambda n, r: (r.normal(size=(n, 3)), r.random(n), 0.1),
    "accelerations_by_planes": lambda n, r: (r.normal(size=(n, 3)), r.random((n, 1)), 0.1),
    "leapfrog": lambda n, r: (r.normal(size=(n, 3)), r.normal(size=(n, 3)), r.random(n), 0.01, 10),
    "leapfrog_by_planes": lambda n, r: (
        r.normal(size=(n, 3)),
        r.normal(size=(n, 3)),
        r.random(n),
        0.01,
        10,
    ),
    "lennard_jones": lambda n, r: (
        np.stack(np.meshgrid(*[np.arange(n) * 1.1] * 2), -1).reshape(-1, 2)[:n]
        + 0.05 * r.random((n, 2)),
        2.5,
    ),
    "chain_of_springs": lambda n, r: (r.random(n), np.zeros(n), 2.0, 0.05, 10),
    "kepler_anomaly": lambda n, r: (r.random(n) * 6, r.random(n) * 0.8, 1e-10),
    "elastic_collisions": lambda n, r: (
        np.sort(r.random(n)),
        r.normal(size=n),
        r.random(n) + 0.5,
        1.0,
        0.02,
        20,
    ),
    "ising": lambda n, r: (r.choice([-1, 1], (n, n + 1)), 0.4, 7, 9),
    "random_walks": lambda n, r: (20, n, 3),
    "cells_of_particles": lambda n, r: (r.random((n, 2)), 3),
    "particle_in_cell_charge": lambda n, r: (r.random(3 * n), 10),
    # fractals
    "mandelbrot": lambda n, r: (-2.0, 0.5, -1.2, 1.2, n, n + 1, 30),
    "mandelbrot_by_masks": lambda n, r: (-2.0, 0.5, -1.2, 1.2, n, n + 1, 30, 2.0),
    "mandelbrot_of_those_left": lambda n, r: (plane(n), 30),
    "julia_smooth": lambda n, r: (plane(n), -0.4 + 0.6j, 40),
    "newton_fractal": lambda n, r: (plane(n) * 1.3, 1e-6),
    "logistic_bifurcation": lambda n, r: (np.linspace(2.5, 3.4, n), 30, 12),
    "henon_attractor": lambda n, r: (1.4, 0.3, 2 * n),
    "lyapunov_exponent": lambda n, r: (3.7, 0.3, 20),
    # sparse
    "spmv": lambda n, r: (*csr(n, r), r.random(n)),
    "spmv_by_elements": lambda n, r: (*csr(n, r), r.random(n)),
    "spmv_transposed": lambda n, r: (*csr(n, r), r.random(n), n),
    "coo_to_csr": lambda n, r: (*r.integers(0, n, (2, 3 * n)), r.random(3 * n), n),
    "csr_to_dense": lambda n, r: (*csr(n, r), n),
    "sparse_jacobi": lambda n, r: (*csr(n, r), r.random(n), 1e-9),
    "breadth_first": lambda n, r: (*csr(n, r)[:2], 0),
    "dijkstra": lambda n, r: (r.random((n, n)) * (r.random((n, n)) < 0.3), 0),
    "bellman_ford": lambda n, r: (*r.integers(0, n, (2, 3 * n)), r.random(3 * n), n),
    "connected_components": lambda n, r: (*r.integers(0, 2 * n, (2, n)), 2 * n),
    "minimum_spanning_tree": lambda n, r: (symmetric(n, r) ** 2,),
    # graphs
    "shortest_paths": lambda n, r: (r.integers(0, n, (2 * n, 2)), r.random(2 * n), n, 0),
    "components": lambda n, r: (r.integers(0, 2 * n, (n, 2)), 2 * n),
    "topological_order": lambda n, r: (r.integers(0, n, (n, 2)), n),
    "forces_by_cell_lists": lambda n, r: (r.random((2 * n, 2)), 9),
    "bucket_sort": lambda n, r: (r.random(2 * n), 9),
    "sparse_product_by_rows": lambda n, r: (*csr(n, r), r.random(n), 0.3),
    "rise_lengths": lambda n, r: (r.random(3 * n),),
    # counting
    "mutual_information": lambda n, r: (r.normal(size=3 * n), r.normal(size=3 * n), 0.7),
    "lempel_ziv_codes": lambda n, r: (r.integers(0, 3, 4 * n),),
    "longest_collatz": lambda n, r: (np.int64(2 * n),),
    "assembled_product": lambda n, r: (r.integers(0, n, (2 * n, 2)), r.random(2 * n), r.random(n)),
    "cluster_sizes": lambda n, r: (r.random((n, n + 1)) < 0.6,),
    "life_of_cells": lambda n, r: (r.integers(0, 5, (n, 2)), np.int64(3)),
    "pairs_closer_than": lambda n, r: (r.random((2 * n, 2)), 0.2),
    # contours
    "contour_integral": lambda n, r: (
        n,
        3,
        2,
        r.normal(size=(3, n, n)) + 1j * r.normal(size=(3, n, n)),
        np.exp(2j * np.pi * np.arange(12) / 12) * (1 + 0.3 * r.normal(size=12)),
        r.normal(size=(n, 3)) + 0j,
    ),
    "count_eigenvalues": lambda n, r: (r.normal(size=(n, n)) + 0j, 0.5 + 0.1j, 1.0, 24),
    "cauchy_derivative": lambda n, r: (r.normal(size=n), 0.3, 3, 1.0, 32),
    "scattering_self_energies": lambda n, r: (
        r.integers(0, 9, (9, 3)),
        r.normal(size=(9, 3, 3, 2, 2)) + 0j,
        r.normal(size=(2, n, 9, 2, 2)) + 1j * r.normal(size=(2, n, 9, 2, 2)),
        r.normal(size=(2, 3, 9, 3, 3, 3)) + 0j,
        np.zeros((2, n, 9, 2, 2), dtype=complex),
    ),
    "density_matrix_evolution": lambda n, r: (
        symmetric(n, r) + 0j,
        np.eye(n, dtype=complex) / n + 0.01 * symmetric(n, r),
        0.01,
        10,
    ),
    "quantum_fourier_transform": lambda n, r: (r.normal(size=power(n)) + 0j,),
    "power_series_inverse": lambda n, r: (np.r_[1.0, r.normal(size=n - 1)],),
    "durand_kerner": lambda n, r: (np.r_[1.0, r.normal(size=n)], 20),
    # statistics
    "histogram": lambda n, r: (r.uniform(-0.2, 1.2, 5 * n), 10, 0.0, 1.0),
    "azimuthal_histogram": lambda n, r: (r.random((n, n)), 10),
    "running_moments": lambda n, r: (r.normal(size=n),),
    "covariance": lambda n, r: (r.normal(size=(n + 2, n)),),
    "correlation": lambda n, r: (r.normal(size=(n + 2, n)),),
    "kmeans": lambda n, r: (r.normal(size=(4 * n, 2)), 3, 20),
    "mixture_of_gaussians": lambda n, r: (
        r.normal(size=n) + 3.0 * (r.random(n) < 0.5),
        np.array([-1.0, 4.0]),
        10,
    ),
    "k_nearest": lambda n, r: (r.random((20, 2)), word(20, r), r.random((n, 2)), 3),
    "logistic_regression": lambda n, r: (r.normal(size=(n, 3)), r.integers(0, 2, n) * 1.0, 0.1, 9),
    "lasso": lambda n, r: (r.normal(size=(n + 5, n)), r.normal(size=n + 5), 1.0, 10),
    "metropolis": lambda n, r: (0.5, 3, 3 * n, 1.5),
    "monte_carlo_pi": lambda n, r: (10 * n, 5),
    "kendall_tau": lambda n, r: (r.random(n), r.random(n)),
    "principal_components": lambda n, r: (r.normal(size=(n + 9, n)), 2, 20),
    # checksums
    "crc32": lambda n, r: (octets(n, r),),
    "crc32_table": lambda n, r: (),
    "crc32_by_table": lambda n, r: (octets(n, r),),
    "crc16_ccitt": lambda n, r: (octets(n, r),),
    "adler32": lambda n, r: (octets(n, r),),
    "fletcher16": lambda n, r: (octets(n, r),),
    "fletcher32": lambda n, r: (r.integers(0, 2**16, n).astype(np.uint16),),
    "fnv1a": lambda n, r: (octets(n, r),),
    "murmur_mix": lambda n, r: (r.integers(0, 2**63, n),),
    "xorshift": lambda n, r: (12345, n),
    "linear_congruential": lambda n, r: (12345, n),
    "popcount": lambda n, r: (r.integers(0, 2**40, n),),
    "popcount_by_halves": lambda n, r: (r.integers(0, 2**32, n).astype(np.uint32),),
    "reverse_bits": lambda n, r: (octets(n, r),),
    "gray_code": lambda n, r: (n,),
    "integer_square_root": lambda n, r: (r.integers(0, 10**9, n),),
    "run_length_encode": lambda n, r: (r.integers(0, 2, 3 * n),),
    "is_luhn_valid": lambda n, r: (r.integers(0, 10, n),),
    # fluids
    "pressure_source": lambda n, r: (
        np.zeros((n, n + 1)),
        1.0,
        0.01,
        *r.random((2, n, n + 1)),
        0.1,
        0.1,
    ),
    "relax_pressure": lambda n, r: (r.random((n, n)), 0.1, 0.1, r.normal(size=(n, n)), 1e-2),
    "cavity_flow": lambda n, r: (*np.zeros((3, n, n + 1)), 12, 0.001, 1.0, 0.1),
    "channel_flow": lambda n, r: (
        *np.zeros((2, n, n + 1)),
        np.ones((n, n + 1)),
        0.01,
        1.0,
        0.1,
        1.0,
        0.01,
    ),
    "lattice_boltzmann": lambda n, r: (1.0 + 0.1 * r.random((9, n, n + 2)), 0.8, 9),
    "shallow_water": lambda n, r: (1.0 + r.random(n), np.zeros(n), 9.8, 1.0, 0.05, 10),
    "shock_tube": lambda n, r: (
        np.where(np.arange(n) < n // 2, 1.0, 0.125) + 0.01 * r.random(n),
        0.1 * r.random(n),
        np.where(np.arange(n) < n // 2, 1.0, 0.1) + 0.01 * r.random(n),
        1.0 / n,
        0.1,
    ),
    "vortex_points": lambda n, r: (r.random(n), r.random(n), r.normal(size=n), 0.01, 9),
    # networks
    "conv2d": lambda n, r: (r.random((2, n, n + 1, 2)), r.normal(size=(3, 3, 2, 4))),
    "conv2d_by_elements": lambda n, r: (r.random((2 * n, 2 * n)), r.normal(size=(3, 3)), 2),
    "maxpool2d": lambda n, r: (r.normal(size=(2, 2 * n, 2 * n, 3)),),
    "relu": lambda n, r: (r.normal(size=(n, n)),),
    "batchnorm2d": lambda n, r: (r.normal(size=(n, 3, 3, 2)),),
    "residual_block": lambda n, r: (
        r.random((2, n, n, 4)),
        r.normal(size=(1, 1, 4, 2)),
        r.normal(size=(3, 3, 2, 2)),
        r.normal(size=(1, 1, 2, 4)),
    ),
    "softmax": lambda n, r: (r.normal(size=(n, 5)),),
    "mlp": lambda n, r: (
        r.normal(size=(n, 6)),
        r.normal(size=(6, 8)),
        r.normal(size=8),
        r.normal(size=(8, 3)),
        r.normal(size=3),
    ),
    "lenet": lambda n, r: (
        r.random((n, 22, 22, 1)),
        r.normal(size=(3, 3, 1, 2)),
        r.normal(size=(3, 3, 2, 3)),
        r.normal(size=(48, 4)),
        r.normal(size=4),
    ),
    "train_mlp": lambda n, r: (
        r.normal(size=(n, 5)),
        r.integers(0, 3, n),
        r.normal(size=(5, 7)),
        r.normal(size=(7, 3)),
        0.1,
        12,
    ),
    "perceptron": lambda n, r: (r.normal(size=(n, 3)), r.choice([-1, 1], n), 12),
    "recurrent_layer": lambda n, r: (
        r.normal(size=(n, 3)),
        r.normal(size=(3, 4)),
        r.normal(size=(4, 4)),
        r.normal(size=4),
    ),
    "lstm": lambda n, r: (
        r.normal(size=(n, 3)),
        r.normal(size=(3, 16)),
        r.normal(size=(4, 16)),
        r.normal(size=16),
    ),
    "attention": lambda n, r: (*r.normal(size=(3, n, 4)), True),
    "layer_norm": lambda n, r: (r.normal(size=(n, 5)), r.random(5), r.random(5)),
    "adam": lambda n, r: (r.normal(size=(n, 4)), r.normal(size=n), 20, 0.05),
    "hopfield": lambda n, r: (r.choice([-1, 1], (3, n)), r.choice([-1, 1], n), 9),
    "self_organising_map": lambda n, r: (r.random((9, 2)), r.random((n, 2)), 0.3),
    # polybench
    "gemm": lambda n, r: (1.5, 1.2, *r.random((3, n, n))),
    "two_products": lambda n, r: (1.5, 1.2, *r.random((4, n, n))),
    "three_products": lambda n, r: (*r.random((4, n, n)),),
    "atax": lambda n, r: (r.random((n, n + 2)), r.random(n + 2)),
    "bicg": lambda n, r: (r.random((n + 2, n)), r.random(n), r.random(n + 2)),
    "mvt": lambda n, r: (*r.random((4, n)), r.random((n, n))),
    "gemver": lambda n, r: (1.5, 1.2, r.random((n, n)), *r.random((8, n))),
    "gesummv": lambda n, r: (1.5, 1.2, *r.random((2, n, n)), r.random(n)),
    "symm": lambda n, r: (1.5, 1.2, r.random((n, n + 1)), r.random((n, n)), r.random((n, n + 1))),
    "syrk": lambda n, r: (1.5, 1.2, r.random((n, n)), r.random((n, n + 1))),
    "syr2k": lambda n, r: (1.5, 1.2, r.random((n, n)), r.random((n, n + 1)), r.random((n, n + 1))),
    "trmm": lambda n, r: (1.5, r.random((n, n)), r.random((n, n + 1))),
    "doitgen": lambda n, r: (r.random((n, n, 10)), r.random((10, 10))),
    "trisolv": lambda n, r: (np.tril(dominant(n, r)), np.zeros(n), r.random(n)),
    "jacobi_2d": lambda n, r: (10, r.random((n, n)), r.random((n, n))),
    "go_fast": lambda n, r: (r.random((n, n)),),
    "arc_distance": lambda n, r: (*r.random((4, n)),),
    "computed_choices": lambda n, r: (
        *(r.integers(-20, 20, (2, n, n + 1))),
        -9,
        12,
        3,
    ),
    # sorting
    "insertion_sort": lambda n, r: (r.normal(size=n),),
    "selection_sort": lambda n, r: (r.normal(size=n),),
    "shell_sort": lambda n, r: (r.integers(0, 50, n),),
    "bubble_sort_with_flag": lambda n, r: (r.normal(size=n),),
    "quicksort": lambda n, r: (r.normal(size=2 * n),),
    "heap_sort": lambda n, r: (r.normal(size=2 * n),),
    "merge_sort": lambda n, r: (r.normal(size=2 * n),),
    "counting_sort": lambda n, r: (r.integers(0, 10, 2 * n), 10),
    "radix_sort": lambda n, r: (r.integers(0, 2**31, n),),
    "binary_search": lambda n, r: (np.sort(r.integers(0, 50, n)), r.integers(0, 50, 12)),
    "quickselect": lambda n, r: (r.normal(size=n), 4),
    "next_permutation": lambda n, r: (r.permutation(n),),
    "eight_queens": lambda n, r: (n - 4,),
    "sieve_of_eratosthenes": lambda n, r: (20 * n,),
    "two_sum_sorted": lambda n, r: (np.sort(r.integers(0, 50, n)), 40),
    "flood_fill": lambda n, r: (r.integers(0, 2, (n, n)), 4, 5, 7),
    "convex_hull": lambda n, r: (r.random((n, 2)),),
    # equations
    "runge_kutta_4": lambda n, r: (r.random(3), 0.01, 20),
    "dormand_prince": lambda n, r: (np.array([2.0, 0.0]), 1.5, 3.0, 1e-6),
    "implicit_euler": lambda n, r: (r.normal(size=n), 5.0, 0.1, 10),
    "predator_prey": lambda n, r: (3 * n, 0.01, 1.1, 0.4, 0.4, 0.1),
    "epidemic": lambda n, r: (
        np.full(n, 0.99),
        np.full(n, 0.01),
        np.zeros(n),
        r.random((n, n)) / n,
        0.9,
        0.2,
        30,
    ),
    "romberg": lambda n, r: (r.random(n), 0.0, 1.5, 5),
    "adaptive_simpson": lambda n, r: (0.0, 3.0, 4.0, 1e-6),
    "gauss_legendre": lambda n, r: (n,),
    "newton_interpolation": lambda n, r: (np.arange(n) / 3.0, r.random(n), r.random(12) * 3),
    "lagrange_barycentric": lambda n, r: (np.arange(n) / 3.0, r.random(n), np.arange(11) / 4.0),
    "bilinear_resize": lambda n, r: (r.random((n, n + 1)), 14, 11),
    "de_boor": lambda n, r: (
        np.r_[np.zeros(3), np.arange(n - 2), np.full(3, n - 3.0)],
        r.random((n, 2)),
        3,
        r.random(12) * (n - 3),
    ),
    "binomial_option": lambda n, r: (100.0, 105.0, 0.05, 0.2, 1.0, n),
    "trinomial_tree": lambda n, r: (100.0, 105.0, 0.05, 0.2, 1.0, n),
    "asian_option": lambda n, r: (100.0, 105.0, 0.05, 0.2, 12, 10 * n, 9),
    "loan_schedule": lambda n, r: (10000.0, 0.05, 24),
    "gillespie": lambda n, r: (10, 3.0, 0.2, 5.0, n),
}


def modules() -> list[Any]:
    names = [m.name for m in pkgutil.iter_modules(examples.numerics.__path__)]
    return [importlib.import_module(f"examples.numerics.{name}") for name in sorted(names)]


def programs() -> dict[str, Callable[..., Any]]:
    """All programs, by name."""
    return {
        name: value
        for module in modules()
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    }


def cases() -> dict[str, Case]:
    return {
        name: Case(program, MAKE[name], SIZES.get(name, (12, 15)))
        for name, program in programs().items()
    }


SIZES: dict[str, tuple[int, int]] = {
    "stockham_fft": (16, 32),
    "stockham_fft_by_planes": (16, 32),
    "fft_in_place": (16, 32),
    "haar_wavelet": (16, 32),
    "cyclic_reduction": (16, 32),
    "quantum_fourier_transform": (16, 32),
}

# Programs whose graphs grow with the sizes, and why.
_HALVES = "a while loop over Python numbers runs while tracing: once for each power of two"
GROWS = {
    "stockham_fft": _HALVES,
    "stockham_fft_by_planes": _HALVES,
    "fft_in_place": _HALVES,
    "haar_wavelet": _HALVES,
    "cyclic_reduction": _HALVES,
    "quantum_fourier_transform": "the rank of the state is the number of bits",
    "shell_sort": _HALVES,
    "merge_sort": _HALVES,
}

_BISECTED = "found by halving: the program's own derivative is that of the bounds it starts from"
NO_GRADIENT = {
    "qr_algorithm": "R becomes singular as the shift becomes an eigenvalue",
    "bisection_eigenvalue": _BISECTED,
    "bisect": _BISECTED,
    "golden_section": _BISECTED,
    "lagrange_barycentric": "points that stand on a node",
    "convex_hull": "as many numbers come out as there are corners",
    "bucket_sort": "how many numbers come out, the buckets tell",
    "mutual_information": "a number decides by its bin alone",
    "shortest_paths": "how many distances come out, the run tells",
    "dijkstra": "a weight of zero is no edge",
    "bellman_ford": "what cannot be reached is 1e18 away: its differences are lost",
}
VECTORISED = """
    jacobi_1d laplace_until fdtd_2d sandpile cholesky lu_pivoted solve givens_qr durbin
    jacobi_eigenvalues conjugate_gradient gauss_seidel newton_system nussinov edit_distance
    smith_waterman viterbi recursive_filter fft_in_place kalman_filter thomas adi leapfrog
    elastic_collisions mandelbrot_of_those_left spmv breadth_first contour_integral kmeans crc32
    run_length_encode shock_tube conv2d lstm gemver quicksort flood_fill dormand_prince
    forces_by_cell_lists assembled_product mutual_information
""".split()
TENSORFLOW = """
    gauss_seidel_2d laplace_until lu_pivoted durbin smith_waterman fft_in_place thomas leapfrog
    spmv kmeans crc32 cavity_flow conv2d gemm heap_sort
""".split()
