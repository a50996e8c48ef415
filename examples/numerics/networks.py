"""Layers of neural networks with loops, and a few small networks."""

import numpy as np


def conv2d(images, weights):
    """A layer of convolutions without padding; images [n, h, w, c], weights [k, k, c, d]."""
    k = weights.shape[0]
    n, height, width, _ = images.shape
    h, w = height - k + 1, width - k + 1
    out = np.empty((n, h, w, weights.shape[3]), dtype=images.dtype)
    for i in range(h):
        for j in range(w):
            out[:, i, j, :] = np.sum(
                images[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return out


def conv2d_by_elements(image, kernel, stride):
    """One image and one kernel, five loops' worth of indices in four."""
    k = len(kernel)
    h, w = (image.shape[0] - k) // stride + 1, (image.shape[1] - k) // stride + 1
    out = np.zeros((h, w))
    for i in range(h):
        for j in range(w):
            for a in range(k):
                for b in range(k):
                    out[i, j] += image[stride * i + a, stride * j + b] * kernel[a, b]
    return out


def maxpool2d(x):
    """The largest of every two by two; x [n, h, w, c]."""
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]), dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def relu(x):
    """What is positive."""
    return np.maximum(x, 0)


def batchnorm2d(x, eps=1e-5):
    """Values with mean zero over a batch, scaled by their deviation."""
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


def residual_block(x, w1, w2, w3):
    """Three convolutions around a shortcut: one by one, three by three with padding, one by one."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, w1.shape[3]), dtype=x.dtype)
    padded[:, 1:-1, 1:-1, :] = conv2d(x, w1)
    y = relu(batchnorm2d(padded))
    y = relu(batchnorm2d(conv2d(y, w2)))
    y = batchnorm2d(conv2d(y, w3))
    return relu(y + x)


def softmax(x):
    """Rows that sum to one."""
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def mlp(x, w1, b1, w2, b2):
    """Two layers and a softmax."""
    return softmax(relu(x @ w1 + b1) @ w2 + b2)


def lenet(images, c1, c2, w, b):
    """Two convolutions with pooling and one dense layer."""
    x = maxpool2d(relu(conv2d(images, c1)))
    x = maxpool2d(relu(conv2d(x, c2)))
    x = np.reshape(x, (x.shape[0], -1))
    return x @ w + b


def train_mlp(X, y, w1, w2, rate, epochs):
    """A network of one hidden layer learned by hand-written derivatives; the losses."""
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        hidden = np.tanh(X @ w1)
        p = softmax(hidden @ w2)
        losses[epoch] = -np.mean(np.log(p[np.arange(len(y)), y]))
        p[np.arange(len(y)), y] -= 1.0
        p /= len(y)
        g2 = hidden.T @ p
        g1 = X.T @ ((p @ w2.T) * (1.0 - hidden**2))
        w1 -= rate * g1
        w2 -= rate * g2
    return losses


def perceptron(X, y, epochs):
    """Weights moved by every mistake, until there are none; labels are -1 and 1."""
    w = np.zeros(X.shape[1] + 1)
    for epoch in range(epochs):  # noqa: B007
        mistakes = 0
        for xi, target in zip(X, y, strict=True):
            side = 1 if w[0] + xi @ w[1:] > 0 else -1
            if side != target:
                w[0] += target
                w[1:] += target * xi
                mistakes += 1
        if mistakes == 0:
            break
    return w, epoch


def recurrent_layer(x, w, u, b):
    """A plain recurrent layer; x [t, d], states [t, h]."""
    state = np.zeros(len(b))
    states = np.empty((len(x), len(b)))
    for t in range(len(x)):
        state = np.tanh(x[t] @ w + state @ u + b)
        states[t] = state
    return states


def lstm(x, W, U, b):
    """A long short-term memory; the four gates side by side.

    Source: S. Hochreiter and J. Schmidhuber, 1997, with forget gates.
    """
    size = U.shape[0]
    h, c = np.zeros(size), np.zeros(size)

    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    outputs = np.zeros((x.shape[0], size))
    for t, row in enumerate(x):
        z = row @ W + h @ U + b
        i, f, o = sigmoid(z[:size]), sigmoid(z[size : 2 * size]), sigmoid(z[2 * size : 3 * size])
        c = f * c + i * np.tanh(z[3 * size :])
        h = o * np.tanh(c)
        outputs[t] = h
    return outputs, c


def attention(q, k, v, causal):
    """Weights of a softmax over what each position may look at; `causal`: only back."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    if causal:
        for i in range(len(q)):
            scores[i, i + 1 :] = -np.inf
    return softmax(scores) @ v


def layer_norm(x, gain, shift):
    """Rows with mean zero and deviation one, then scaled."""
    out = np.empty_like(x)
    for i, row in enumerate(x):
        out[i] = (row - row.mean()) / np.sqrt(row.var() + 1e-5) * gain + shift
    return out


def adam(A, b, steps, rate):
    """The least |A x - b|^2 by Adam, whose moments are corrected for their start."""
    x = np.zeros(A.shape[1])
    m, s = np.zeros_like(x), np.zeros_like(x)
    for t in range(1, steps + 1):
        g = 2.0 * A.T @ (A @ x - b)
        m = 0.9 * m + 0.1 * g
        s = 0.999 * s + 0.001 * g**2
        x -= rate * (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
    return x


def hopfield(patterns, start, sweeps):
    """A memory of patterns of -1 and 1, recalled by flipping cells one at a time."""
    n = patterns.shape[1]
    w = np.zeros((n, n))
    for p in patterns:
        w += np.outer(p, p)
    np.fill_diagonal(w, 0)
    state = start.copy()
    for _ in range(sweeps):
        stable = True
        for i in range(n):
            new = 1 if w[i] @ state >= 0 else -1
            if new != state[i]:
                state[i] = new
                stable = False
        if stable:
            break
    return state


def self_organising_map(grid, samples, rate):
    """Nodes of a line pulled towards each sample, the nearest one and its neighbours most."""
    for t in range(len(samples)):
        best, winner = np.inf, -1
        for i in range(len(grid)):
            d = ((grid[i] - samples[t]) ** 2).sum()
            if d < best:
                best, winner = d, i
        for i in range(len(grid)):
            pull = rate * np.exp(-((i - winner) ** 2) / (1.0 + len(samples) - t))
            grid[i] += pull * (samples[t] - grid[i])
    return grid
