"""Signals: recursive filters, transforms, windows, estimates."""

import numpy as np


def recursive_filter(x, a, b):
    """y_t = sum b_k x_{t-k} - sum a_k y_{t-k}, the sums cut off at the start."""
    y = np.zeros_like(x)
    for t in range(len(x)):
        for k in range(len(b)):
            if t - k >= 0:
                y[t] += b[k] * x[t - k]
        for k in range(1, len(a)):
            if t - k >= 0:
                y[t] -= a[k] * y[t - k]
    return y


def exponential_smoothing(x, alpha):
    """Level by level, forwards and then backwards, so that nothing is shifted."""
    y = x.copy()
    for t in range(1, len(y)):
        y[t] = alpha * y[t] + (1 - alpha) * y[t - 1]
    for t in range(len(y) - 2, -1, -1):
        y[t] = alpha * y[t] + (1 - alpha) * y[t + 1]
    return y


def deriche(image, alpha):
    """Edges smoothed by a recursive filter, along rows and columns, both ways each.

    Source: R. Deriche, 1990.
    """
    e = np.exp(-alpha)
    k = (1.0 - e) ** 2 / (1.0 + 2.0 * alpha * e - np.exp(-2.0 * alpha))
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e * e
    b1, b2 = 2.0 * e, -e * e

    def along(rows, forwards, backwards):
        for row, f, g in zip(rows, forwards, backwards, strict=True):
            for j in range(len(row)):
                f[j] = a1 * row[j]
                if j > 0:
                    f[j] += a2 * row[j - 1] + b1 * f[j - 1]
                if j > 1:
                    f[j] += b2 * f[j - 2]
            for j in range(len(row) - 1, -1, -1):
                if j < len(row) - 1:
                    g[j] = a3 * row[j + 1] + b1 * g[j + 1]
                if j < len(row) - 2:
                    g[j] += a4 * row[j + 2] + b2 * g[j + 2]

    f, g = np.zeros_like(image), np.zeros_like(image)
    along(image, f, g)
    smooth = f + g
    f, g = np.zeros_like(image), np.zeros_like(image)
    along(smooth.T, f.T, g.T)
    return f + g


def stockham_fft(x):
    """The discrete Fourier transform of 2^k numbers, without bit reversal.

    Source: T. Stockham's autosort: between two buffers, the half length doubled each time.
    """
    n = len(x)
    source = x.astype(np.complex128)
    target = np.zeros(n, dtype=np.complex128)
    half, stride = n // 2, 1
    while half >= 1:
        for p in range(half):
            w = np.exp(-1j * np.pi * p / half)
            for q in range(stride):
                a = source[q + stride * p]
                b = source[q + stride * (p + half)]
                target[q + stride * 2 * p] = a + b
                target[q + stride * (2 * p + 1)] = (a - b) * w
        source, target = target, source
        half //= 2
        stride *= 2
    return source


def stockham_fft_by_planes(x, R, K):
    """The transform of R^K numbers: products with small matrices, planes turned between them."""
    N = R**K
    i, j = np.mgrid[0:R, 0:R]
    dft = np.exp(-2.0j * np.pi * i * j / R)
    y = x.astype(np.complex128)
    for k in range(K):
        planes = np.reshape(y, (R**k, R, R ** (K - k - 1)))
        turned = np.transpose(planes, axes=(1, 0, 2))
        phase = np.exp(
            -2.0j * np.pi * np.arange(R)[:, None] * np.arange(R**k)[None, :] / R ** (k + 1)
        )
        scaled = turned * phase[:, :, None]
        y = np.reshape(dft @ np.reshape(scaled, (R, N // R)), N)
    return y


def fft_in_place(x):
    """Cooley and Tukey's transform: indices with their bits reversed, then butterflies."""
    n = len(x)
    x = x.astype(complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
    length = 2
    while length <= n:
        step = np.exp(-2j * np.pi / length)
        for start in range(0, n, length):
            w = 1.0 + 0.0j
            for k in range(length // 2):
                u = x[start + k]
                v = x[start + k + length // 2] * w
                x[start + k] = u + v
                x[start + k + length // 2] = u - v
                w *= step
        length *= 2
    return x


def goertzel(x, k):
    """The power at one frequency, with two numbers of memory."""
    coefficient = 2.0 * np.cos(2.0 * np.pi * k / len(x))
    s1 = s2 = 0.0
    for v in x:
        s1, s2 = v + coefficient * s1 - s2, s1
    return s1 * s1 + s2 * s2 - coefficient * s1 * s2


def convolve(x, kernel):
    """The full convolution by its definition."""
    out = np.zeros(len(x) + len(kernel) - 1)
    for i in range(len(x)):
        for k in range(len(kernel)):
            out[i + k] += x[i] * kernel[k]
    return out


def median_filter(x, radius):
    """Each element the median of those around it, the window cut off at the ends."""
    out = np.empty_like(x)
    for i in range(len(x)):
        low, high = max(i - radius, 0), min(i + radius + 1, len(x))
        window = np.sort(x[low:high])
        middle = (high - low) // 2
        out[i] = window[middle] if (high - low) % 2 else 0.5 * (window[middle - 1] + window[middle])
    return out


def haar_wavelet(x):
    """All levels of the Haar transform of 2^k numbers, in place."""
    n = len(x)
    while n > 1:
        half = n // 2
        means = (x[0:n:2] + x[1:n:2]) / np.sqrt(2.0)
        details = (x[0:n:2] - x[1:n:2]) / np.sqrt(2.0)
        x[:half] = means
        x[half:n] = details
        n = half
    return x


def kalman_filter(measured, F, H, Q, R):
    """Means and covariances of a linear system from noisy measurements.

    Source: R. Kalman, 1960.
    """
    n = F.shape[0]
    state, P = np.zeros(n), np.eye(n)
    states = np.zeros((len(measured), n))
    for t, z in enumerate(measured):
        state = F @ state
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = np.linalg.solve(S.T, (P @ H.T).T).T
        state = state + K @ (z - H @ state)
        P = (np.eye(n) - K @ H) @ P
        states[t] = state
    return states, P


def least_mean_squares(x, target, taps, rate):
    """A filter that learns its taps from its errors, sample by sample."""
    w = np.zeros(taps)
    errors = np.zeros(len(x) - taps)
    for t in range(taps, len(x)):
        window = x[t - taps : t][::-1]
        error = target[t] - w @ window
        w += rate * error * window
        errors[t - taps] = error
    return w, errors


def zero_crossings(x):
    """Where the signal changes its sign, between samples; -1 where there are no more."""
    places = np.full(len(x), -1.0)
    count = 0
    for i in range(1, len(x)):
        if (x[i - 1] < 0) != (x[i] < 0):
            places[count] = i - 1 + x[i - 1] / (x[i - 1] - x[i])
            count += 1
    return places, count


def find_peaks(x, height):
    """Which samples are higher than both neighbours and than a height."""
    peaks = np.zeros(len(x), dtype=bool)
    i = 1
    while i < len(x) - 1:
        if x[i] <= height or x[i] <= x[i - 1]:
            i += 1
            continue
        j = i
        while j < len(x) - 1 and x[j + 1] == x[i]:
            j += 1
        if j < len(x) - 1 and x[j + 1] < x[i]:
            peaks[(i + j) // 2] = True
        i = j + 1
    return peaks


def phase_vocoder_unwrap(phase):
    """Phases without their jumps of whole turns."""
    out = phase.copy()
    turns = 0
    for i in range(1, len(phase)):
        d = phase[i] - phase[i - 1]
        if d > np.pi:
            turns -= 1
        elif d < -np.pi:
            turns += 1
        out[i] += 2.0 * np.pi * turns
    return out
