"""Counting, moments, clusters, regressions."""

import numpy as np


def histogram(x, bins, low, high):
    """How many values fall into each bin; what lies outside is counted apart."""
    counts = np.zeros(bins, dtype=np.int64)
    outside = 0
    for v in x:
        if v < low or v > high:
            outside += 1
            continue
        k = int((v - low) / (high - low) * bins)
        counts[min(k, bins - 1)] += 1
    return counts, outside


def azimuthal_histogram(image, bins):
    """Mean brightness by distance from the middle, by weights of np.bincount's kind."""
    n, m = image.shape
    total, count = np.zeros(bins), np.zeros(bins)
    for i in range(n):
        for j in range(m):
            r = np.sqrt((i - n / 2) ** 2 + (j - m / 2) ** 2)
            k = int(r * 2 * bins / (n + m))
            if k < bins:
                total[k] += image[i, j]
                count[k] += 1
    filled = count > 0
    total[filled] /= count[filled]
    return total


def running_moments(x):
    """Mean, variance and skewness in one pass (Welford)."""
    n = 0
    mean = m2 = m3 = 0.0
    for v in x:
        n += 1
        d = v - mean
        step = d / n
        m3 += d * step**2 * (n - 1) * (n - 2) - 3.0 * step * m2
        m2 += d * step * (n - 1)
        mean += step
    return mean, m2 / n, np.sqrt(n) * m3 / m2**1.5


def covariance(data):
    """All covariances of columns, by loops over pairs."""
    n, m = data.shape
    data -= np.mean(data, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            for k in range(n):
                cov[i, j] += data[k, i] * data[k, j]
            cov[i, j] /= n - 1
            cov[j, i] = cov[i, j]
    return cov


def correlation(data):
    """All correlations of columns; a column that does not vary counts as one of deviation one."""
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float(data.shape[0])) * deviation
    corr = np.eye(data.shape[1])
    for i in range(data.shape[1] - 1):
        corr[i + 1 :, i] = corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
    return corr


def kmeans(points, k, most):
    """Clusters around means, until nobody changes over.

    Source: S. Lloyd, 1957. The first k points are the first means; an empty cluster keeps its mean.
    """
    means = points[:k].copy()
    labels = np.zeros(len(points), dtype=np.int64)
    for turn in range(most):
        changed = 0
        for i in range(len(points)):
            best, nearest = np.inf, 0
            for c in range(k):
                d = np.sum((points[i] - means[c]) ** 2)
                if d < best:
                    best, nearest = d, c
            if labels[i] != nearest:
                labels[i] = nearest
                changed += 1
        if turn > 0 and changed == 0:
            break
        for c in range(k):
            mine = labels == c
            if mine.any():
                means[c] = points[mine].mean(axis=0)
    return means, labels


def mixture_of_gaussians(x, means, steps):
    """Two normal distributions fitted to numbers by expectation and maximisation."""
    variances = np.array([1.0, 1.0])
    weights = np.array([0.5, 0.5])
    for _ in range(steps):
        share = np.zeros((len(x), 2))
        for c in range(2):
            z = (x - means[c]) ** 2 / variances[c]
            share[:, c] = weights[c] * np.exp(-0.5 * z) / np.sqrt(2.0 * np.pi * variances[c])
        share /= share.sum(axis=1, keepdims=True)
        for c in range(2):
            total = share[:, c].sum()
            means[c] = (share[:, c] @ x) / total
            variances[c] = share[:, c] @ (x - means[c]) ** 2 / total + 1e-3
            weights[c] = total / len(x)
    return means, variances, weights


def k_nearest(train, labels, queries, k):
    """The label that most of the k nearest points have."""
    out = np.zeros(len(queries), dtype=labels.dtype)
    for q in range(len(queries)):
        d = ((train - queries[q]) ** 2).sum(axis=1)
        votes = np.zeros(4, dtype=int)
        for place in np.argsort(d, kind="stable")[:k]:
            votes[labels[place]] += 1
        out[q] = np.argmax(votes)
    return out


def logistic_regression(X, y, rate, steps):
    """Weights of a logistic model by gradient descent, one sample at a time."""
    w = np.zeros(X.shape[1])
    for _ in range(steps):
        for i in range(len(y)):
            p = 1.0 / (1.0 + np.exp(-(X[i] @ w)))
            w -= rate * (p - y[i]) * X[i]
    return w


def lasso(X, y, penalty, sweeps):
    """Least squares with a price on size, coordinate by coordinate, with soft thresholds."""
    w = np.zeros(X.shape[1])
    rest = y.copy()
    for _ in range(sweeps):
        for j in range(X.shape[1]):
            rest += X[:, j] * w[j]
            rho = X[:, j] @ rest
            scale = X[:, j] @ X[:, j]
            if rho > penalty:
                w[j] = (rho - penalty) / scale
            elif rho < -penalty:
                w[j] = (rho + penalty) / scale
            else:
                w[j] = 0.0
            rest -= X[:, j] * w[j]
    return w


def metropolis(x, seed, steps, width):
    """A chain of samples of a two-humped density, and how many proposals it took."""
    rng = np.random.default_rng(seed)
    chain = np.zeros(steps)
    taken = 0

    def log_density(v):
        return np.logaddexp(-0.5 * (v - 2.0) ** 2, -0.5 * (v + 2.0) ** 2)

    for t in range(steps):
        proposal = x + width * rng.normal()
        if np.log(rng.random()) < log_density(proposal) - log_density(x):
            x = proposal
            taken += 1
        chain[t] = x
    return chain, taken


def monte_carlo_pi(n, seed):
    """Four times the share of random points in a quarter of a circle."""
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / n


def kendall_tau(x, y):
    """How many pairs agree in their order, less those that do not."""
    score = 0
    for i in range(len(x)):
        for j in range(i):
            score += np.sign(x[i] - x[j]) * np.sign(y[i] - y[j])
    return 2.0 * score / (len(x) * (len(x) - 1))


def principal_components(X, count, steps):
    """The first directions of variance by power iteration and deflation."""
    X = X - X.mean(axis=0)
    C = X.T @ X / (len(X) - 1)
    directions = np.zeros((count, X.shape[1]))
    variances = np.zeros(count)
    for c in range(count):
        v = np.ones(X.shape[1])
        for _ in range(steps):
            v = C @ v
            v /= np.sqrt(v @ v)
        variances[c] = v @ C @ v
        directions[c] = v
        C = C - variances[c] * np.outer(v, v)
    return directions, variances
