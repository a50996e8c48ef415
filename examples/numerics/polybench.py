"""Small kernels of linear algebra and data mining, with their loops written out.

They follow the mathematics of the kernels that compilers of loops are compared with.
"""

import numpy as np


def gemm(alpha, beta, C, A, B):
    """C <- alpha A B + beta C, by elements."""
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return C


def two_products(alpha, beta, A, B, C, D):
    """D <- alpha A B C + beta D, with a table in between."""
    tmp = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            tmp[i, j] = alpha * (A[i, :] @ B[:, j])
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            D[i, j] = beta * D[i, j] + tmp[i] @ C[:, j]
    return D


def three_products(A, B, C, D):
    """(A B) (C D), every element a loop."""

    def multiply(X, Y):
        Z = np.zeros((X.shape[0], Y.shape[1]))
        for i in range(Z.shape[0]):
            for j in range(Z.shape[1]):
                for k in range(X.shape[1]):
                    Z[i, j] += X[i, k] * Y[k, j]
        return Z

    return multiply(multiply(A, B), multiply(C, D))


def atax(A, x):
    """A^T (A x), row by row."""
    y = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        t = 0.0
        for j in range(A.shape[1]):
            t += A[i, j] * x[j]
        for j in range(A.shape[1]):
            y[j] += A[i, j] * t
    return y


def bicg(A, p, r):
    """A^T r and A p in one pass over A."""
    s, q = np.zeros(A.shape[1]), np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return s, q


def mvt(x1, x2, y1, y2, A):
    """Products with a matrix and with its transposed, added in place."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            x1[i] += A[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] += A[j, i] * y2[j]


def gemver(alpha, beta, A, u1, v1, u2, v2, x, y, z, w):
    """A matrix changed by two outer products, then two products with vectors; in place."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] += beta * A[j, i] * y[j]
    x += z
    for i in range(n):
        w[i] += alpha * (A[i] @ x)
    return w


def gesummv(alpha, beta, A, B, x):
    """alpha A x + beta B x."""
    y = np.zeros(len(A))
    for i in range(len(A)):
        a = b = 0.0
        for j in range(len(x)):
            a += A[i, j] * x[j]
            b += B[i, j] * x[j]
        y[i] = alpha * a + beta * b
    return y


def symm(alpha, beta, C, A, B):
    """C <- alpha A B + beta C for a symmetric A of which the lower half is stored."""
    m, n = C.shape
    temp = np.empty((n,), dtype=C.dtype)
    C *= beta
    for i in range(m):
        for j in range(n):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp
    return C


def syrk(alpha, beta, C, A):
    """The lower half of alpha A A^T + beta C."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return C


def syr2k(alpha, beta, C, A, B):
    """The lower half of alpha (A B^T + B A^T) + beta C."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]
    return C


def trmm(alpha, A, B):
    """B <- alpha A^T B for a unit lower A, in place."""
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
    return B


def doitgen(A, C):
    """Every row of a table of three axes multiplied by a matrix, in place."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            row = np.zeros(C.shape[1])
            for p in range(C.shape[1]):
                row[p] = A[r, q] @ C[:, p]
            A[r, q, :] = row
    return A


def trisolv(L, x, b):
    """L x = b for a lower L."""
    for i in range(len(b)):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]
    return x


def jacobi_2d(steps, A, B):
    """Means of five neighbours, from A to B and back."""
    n = len(A)
    for _ in range(1, steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def go_fast(a):
    """The trace of tanh of a matrix, added to all of it."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def arc_distance(theta1, phi1, theta2, phi2):
    """Angles between pairs of points on a sphere."""
    t = np.sin((theta2 - theta1) / 2) ** 2
    t = t + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(t), np.sqrt(1 - t))


def computed_choices(a, b, low, high, c):
    """a clipped, times c, plus b, by loops and conditions."""
    out = np.empty_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] < low:
                t = low
            elif a[i, j] > high:
                t = high
            else:
                t = a[i, j]
            out[i, j] = t * c + b[i, j]
    return out
