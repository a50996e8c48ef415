"""Factorisations of matrices and what is solved with them, by elements, rows or columns."""

import numpy as np


def cholesky(A):
    """The lower factor of a symmetric positive definite matrix, in place, by elements.

    Source: A = L L^T, row by row.
    """
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] ** 2
        A[i, i] = np.sqrt(A[i, i])
    return np.tril(A)


def cholesky_by_rows(A):
    """The same with inner products of the rows found so far."""
    L = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(i + 1):
            rest = A[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                if rest <= 0:
                    raise ValueError("the matrix is not positive definite")
                L[i, i] = np.sqrt(rest)
            else:
                L[i, j] = rest / L[j, j]
    return L


def ldl(A):
    """A = L D L^T with a unit lower L, without square roots."""
    n = len(A)
    L, d = np.eye(n), np.zeros(n)
    for j in range(n):
        d[j] = A[j, j] - (L[j, :j] ** 2) @ d[:j]
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - (L[i, :j] * L[j, :j]) @ d[:j]) / d[j]
    return L, d


def lu(A):
    """L and U in one matrix, in place, without pivoting (Doolittle)."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return A


def lu_pivoted(A):
    """L and U with partial pivoting; rows change places by a list of indices."""
    n = A.shape[0]
    order = np.arange(n)
    sign = 1.0
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            order[k], order[p] = order[p], order[k]
            sign = -sign
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return A, order, sign * np.prod(np.diag(A))


def forward_substitution(L, b):
    """L x = b for a lower triangular L."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def back_substitution(U, b):
    """U x = b for an upper triangular U, from the last row up, in place."""
    for i in range(len(b) - 1, -1, -1):
        for j in range(i + 1, len(b)):
            b[i] -= U[i, j] * b[j]
        b[i] /= U[i, i]
    return b


def solve(A, b):
    """A x = b: elimination with pivoting and back substitution, on copies."""
    A, x = A.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            A[k], A[p] = A[p].copy(), A[k].copy()
            x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            x[i] -= factor * x[k]
    return back_substitution(A, x)


def gauss_jordan_inverse(A):
    """The inverse, by clearing every column of the matrix beside a unit matrix."""
    n = len(A)
    M = np.hstack([A, np.eye(n)])
    for k in range(n):
        p = np.argmax(np.abs(M[k:, k])) + k
        row = M[p].copy()
        M[p] = M[k]
        M[k] = row / row[k]
        for i in range(n):
            if i != k:
                M[i] -= M[i, k] * M[k]
    return M[:, n:]


def determinant(A):
    """By elimination; zero as soon as a column has no pivot left."""
    A = A.astype(np.float64)
    result = 1.0
    for k in range(len(A)):
        p = k + np.abs(A[k:, k]).argmax()
        if A[p, k] == 0:
            return 0.0
        if p != k:
            A[[k, p]] = A[[p, k]]
            result *= -1
        result *= A[k, k]
        A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])
    return result


def gram_schmidt(A):
    """Q and R of A = Q R, columns made orthogonal one after the other (modified)."""
    m, n = A.shape
    Q, R = np.zeros((m, n)), np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.sum(A[:, k] ** 2))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return Q, R


def householder_qr(A):
    """Q and R by reflections of the columns below the diagonal."""
    m, n = A.shape
    Q, R = np.eye(m), A.copy()
    for k in range(min(m - 1, n)):
        v = R[k:, k].copy()
        length = np.linalg.norm(v)
        if length == 0.0:
            continue
        v[0] += length if v[0] >= 0 else -length
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2.0 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return Q, R


def givens_qr(A):
    """R by rotations that clear one element below the diagonal each; and the rotations applied."""
    m, n = A.shape
    R, Q = A.copy(), np.eye(m)
    for j in range(n):
        for i in range(m - 1, j, -1):
            if R[i, j] == 0:
                continue
            r = np.hypot(R[i - 1, j], R[i, j])
            c, s = R[i - 1, j] / r, R[i, j] / r
            G = np.array([[c, s], [-s, c]])
            R[[i - 1, i]] = G @ R[[i - 1, i]]
            Q[:, [i - 1, i]] = Q[:, [i - 1, i]] @ G.T
    return Q, R


def durbin(r):
    """The Yule-Walker equations of a symmetric Toeplitz matrix.

    Source: J. Durbin, 1960: each order from the one before.
    """
    n = len(r)
    y = np.zeros_like(r)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def levinson(t, b):
    """T x = b for a symmetric Toeplitz matrix with first column t."""
    n = len(b)
    f, x = np.zeros(n), np.zeros(n)
    f[0] = 1.0 / t[0]
    x[0] = b[0] / t[0]
    for k in range(1, n):
        error = 0.0
        missing = 0.0
        for i in range(k):
            error += t[k - i] * f[i]
            missing += t[k - i] * x[i]
        scale = 1.0 / (1.0 - error * error)
        old = f.copy()
        for i in range(k + 1):
            f[i] = scale * (old[i] - error * (old[k - i] if i > 0 else 0.0))
        for i in range(k + 1):
            x[i] += (b[k] - missing) * f[k - i]
    return x


def bandwidth_cholesky(A, width):
    """The lower factor of a banded matrix: nothing outside the band is looked at."""
    n = len(A)
    L = np.zeros_like(A)
    for j in range(n):
        low = max(0, j - width)
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, low:j] ** 2))
        for i in range(j + 1, min(n, j + width + 1)):
            low = max(0, i - width)
            L[i, j] = (A[i, j] - L[i, low:j] @ L[j, low:j]) / L[j, j]
    return L
