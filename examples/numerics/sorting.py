"""Sorting in place, searching, and structures kept in arrays."""

import numpy as np


def insertion_sort(x):
    """Each element moved left past those that are larger."""
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def selection_sort(x):
    """The least of the rest to the front, again and again."""
    for i in range(len(x) - 1):
        least = i + np.argmin(x[i:])
        x[i], x[least] = x[least], x[i]
    return x


def shell_sort(x):
    """Insertion over gaps that get smaller."""
    gap = len(x) // 2
    while gap > 0:
        for i in range(gap, len(x)):
            held = x[i]
            j = i
            while j >= gap and x[j - gap] > held:
                x[j] = x[j - gap]
                j -= gap
            x[j] = held
        gap //= 2
    return x


def bubble_sort_with_flag(x):
    """Neighbours change places, until a pass finds nothing to do."""
    n = len(x)
    swapped = True
    while swapped:
        swapped = False
        for i in range(1, n):
            if x[i - 1] > x[i]:
                x[i - 1], x[i] = x[i], x[i - 1]
                swapped = True
        n -= 1
    return x


def quicksort(x):
    """Hoare's partitions, with a stack of the parts that are left.

    Source: C. A. R. Hoare, 1961.
    """
    stack = np.zeros((2 * len(x), 2), dtype=np.int64)
    stack[0] = 0, len(x) - 1
    top = 1
    while top > 0:
        top -= 1
        low, high = stack[top]
        if low >= high:
            continue
        pivot = x[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        stack[top] = low, j
        stack[top + 1] = i, high
        top += 2
    return x


def heap_sort(x):
    """A heap in the array itself, its root taken away to the end."""

    def sift(start, end):
        root = start
        while 2 * root + 1 <= end:
            child = 2 * root + 1
            if child < end and x[child] < x[child + 1]:
                child += 1
            if x[root] >= x[child]:
                return
            x[root], x[child] = x[child], x[root]
            root = child

    n = len(x)
    for start in range(n // 2 - 1, -1, -1):
        sift(start, n - 1)
    for end in range(n - 1, 0, -1):
        x[0], x[end] = x[end], x[0]
        sift(0, end - 1)
    return x


def merge_sort(x):
    """Runs merged bottom up, between two arrays."""
    n = len(x)
    a, b = x.copy(), np.empty_like(x)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        a, b = b, a
        width *= 2
    return a


def counting_sort(x, most):
    """Small integers by how often each one comes; stable."""
    counts = np.zeros(most + 1, dtype=np.int64)
    for v in x:
        counts[v] += 1
    places = np.cumsum(counts) - counts
    out = np.empty_like(x)
    for v in x:
        out[places[v]] = v
        places[v] += 1
    return out


def radix_sort(x):
    """Non-negative integers digit by digit, four bits at a time."""
    for shift in range(0, 32, 4):
        digits = (x >> shift) & 15
        x = x[np.argsort(digits, kind="stable")]
    return x


def binary_search(x, wanted):
    """Where values stand in a sorted array, -1 where they do not."""
    out = np.full(len(wanted), -1)
    for k, w in enumerate(wanted):
        low, high = 0, len(x) - 1
        while low <= high:
            middle = (low + high) // 2
            if x[middle] == w:
                out[k] = middle
                break
            if x[middle] < w:
                low = middle + 1
            else:
                high = middle - 1
    return out


def quickselect(x, k):
    """The k-th smallest element, by partitions of the side it is on."""
    x = x.copy()
    low, high = 0, len(x) - 1
    while low < high:
        pivot = x[high]
        store = low
        for i in range(low, high):
            if x[i] < pivot:
                x[store], x[i] = x[i], x[store]
                store += 1
        x[store], x[high] = x[high], x[store]
        if store == k:
            return x[k]
        if store < k:
            low = store + 1
        else:
            high = store - 1
    return x[low]


def next_permutation(p):
    """The permutation that follows in the order of words, in place; False after the last one."""
    i = len(p) - 2
    while i >= 0 and p[i] >= p[i + 1]:
        i -= 1
    if i < 0:
        p[:] = p[::-1].copy()
        return False
    j = len(p) - 1
    while p[j] <= p[i]:
        j -= 1
    p[i], p[j] = p[j], p[i]
    p[i + 1 :] = p[i + 1 :][::-1].copy()
    return True


def eight_queens(n):
    """The first way to put n queens on a board, by going back; columns by row."""
    queens = np.full(n, -1)
    row = 0
    tried = 0
    while 0 <= row < n:
        queens[row] += 1
        if queens[row] >= n:
            queens[row] = -1
            row -= 1
            continue
        tried += 1
        fine = True
        for r in range(row):
            if queens[r] == queens[row] or abs(queens[r] - queens[row]) == row - r:
                fine = False
                break
        if fine:
            row += 1
    return queens, tried


def sieve_of_eratosthenes(n):
    """All primes below n."""
    prime = np.ones(n, dtype=bool)
    prime[:2] = False
    for i in range(2, int(np.sqrt(n)) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.nonzero(prime)[0]


def two_sum_sorted(x, target):
    """Two places of a sorted array whose values add up to a target; -1 if there are none."""
    i, j = 0, len(x) - 1
    while i < j:
        total = x[i] + x[j]
        if total == target:
            return i, j
        if total < target:
            i += 1
        else:
            j -= 1
    return -1, -1


def flood_fill(image, row, column, colour):
    """The connected area of one colour painted in another, with a stack in an array."""
    old = image[row, column]
    if old == colour:
        return image, 0
    stack = np.zeros((image.size * 4 + 1, 2), dtype=np.int64)
    stack[0] = row, column
    top, painted = 1, 0
    while top > 0:
        top -= 1
        i, j = stack[top]
        if i < 0 or j < 0 or i >= image.shape[0] or j >= image.shape[1] or image[i, j] != old:
            continue
        image[i, j] = colour
        painted += 1
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack[top] = i + di, j + dj
            top += 1
    return image, painted


def convex_hull(points):
    """Corners of the hull of points, by a chain below and a chain above (Andrew)."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    p = points[order]
    n = len(p)
    hull = np.zeros((2 * n, 2))
    k = 0
    for i in range(n):
        while k >= 2:
            a, b = hull[k - 1] - hull[k - 2], p[i] - hull[k - 2]
            if a[0] * b[1] - a[1] * b[0] > 0:
                break
            k -= 1
        hull[k] = p[i]
        k += 1
    lower = k + 1
    for i in range(n - 2, -1, -1):
        while k >= lower:
            a, b = hull[k - 1] - hull[k - 2], p[i] - hull[k - 2]
            if a[0] * b[1] - a[1] * b[0] > 0:
                break
            k -= 1
        hull[k] = p[i]
        k += 1
    return hull[: k - 1]
