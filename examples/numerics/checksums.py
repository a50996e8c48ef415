"""Checksums, hashes and other work on bits; integers of a fixed size wrap around."""

import numpy as np


def crc32(data):
    """The cyclic redundancy check of bytes, bit by bit.

    Source: ISO 3309, the polynomial reversed: 0xEDB88320.
    """
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc ^= byte
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ np.uint32(0xEDB88320)
            else:
                crc >>= 1
    return ~crc


def crc32_table():
    """What the eight steps of a byte come to, for all bytes."""
    table = np.zeros(256, dtype=np.uint32)
    for n in range(256):
        c = np.uint32(n)
        for _ in range(8):
            c = np.where(c & 1, np.uint32(0xEDB88320) ^ (c >> 1), c >> 1)
        table[n] = c
    return table


def crc32_by_table(data):
    """The same with a table, a byte at a time."""
    table = crc32_table()
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ np.uint32(0xFFFFFFFF)


def crc16_ccitt(data):
    """The 16-bit check with the polynomial 0x1021, highest bit first."""
    poly = np.uint16(0x1021)
    crc = np.uint16(0xFFFF)
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def adler32(data):
    """Two sums modulo the largest prime below 2^16 (RFC 1950)."""
    a, b = 1, 0
    for byte in data:
        a = (a + int(byte)) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def fletcher16(data):
    """Two sums modulo 255."""
    low = high = np.uint16(0)
    for byte in data:
        low = (low + byte) % np.uint16(255)
        high = (high + low) % np.uint16(255)
    return (high << np.uint16(8)) | low


def fletcher32(words):
    """Two sums modulo 65535, over words of 16 bits."""
    low, high = np.uint32(0xFFFF), np.uint32(0xFFFF)
    for i in range(len(words)):
        low += words[i]
        high += low
        if i % 359 == 358:
            low = (low & np.uint32(0xFFFF)) + (low >> np.uint32(16))
            high = (high & np.uint32(0xFFFF)) + (high >> np.uint32(16))
    for _ in range(2):
        low = (low & np.uint32(0xFFFF)) + (low >> np.uint32(16))
        high = (high & np.uint32(0xFFFF)) + (high >> np.uint32(16))
    return (high << np.uint32(16)) | low


def fnv1a(data):
    """Fowler, Noll and Vo's hash in an array of one word, so that it wraps in silence."""
    h = np.array([2166136261], dtype=np.uint32)
    for byte in data:
        h ^= byte
        h *= np.uint32(16777619)
    return h[0]


def murmur_mix(keys):
    """The finishing steps of MurmurHash3, for many keys at once."""
    h = keys.astype(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h ^= h >> np.uint64(33)
        h *= np.uint64(factor)
    h ^= h >> np.uint64(33)
    return h


def xorshift(seed, n):
    """Marsaglia's generator of 32-bit numbers."""
    out = np.zeros(n, dtype=np.uint32)
    x = np.uint32(seed)
    for i in range(n):
        x ^= x << np.uint32(13)
        x ^= x >> np.uint32(17)
        x ^= x << np.uint32(5)
        out[i] = x
    return out


def linear_congruential(seed, n):
    """Numbers in [0, 1) from a product modulo 2^31 - 1."""
    out = np.empty(n)
    state = seed
    for i in range(n):
        state = state * 16807 % 2147483647
        out[i] = state / 2147483647
    return out


def popcount(words):
    """Bits that are set, by clearing the lowest one again and again."""
    counts = np.zeros(words.shape, dtype=np.uint8)
    for i in range(len(words)):
        w = words[i]
        while w:
            w &= w - 1
            counts[i] += 1
    return counts


def popcount_by_halves(words):
    """The same, adding neighbouring groups of bits."""
    w = words.astype(np.uint32)
    w -= (w >> 1) & 0x55555555
    w = (w & 0x33333333) + ((w >> 2) & 0x33333333)
    w = (w + (w >> 4)) & 0x0F0F0F0F
    return (w * np.uint32(0x01010101)) >> 24


def reverse_bits(words):
    """Bytes with their bits in the opposite order."""
    out = np.zeros_like(words)
    for i, w in enumerate(words):
        r = np.uint8(0)
        for bit in range(8):
            r |= ((w >> np.uint8(bit)) & np.uint8(1)) << np.uint8(7 - bit)
        out[i] = r
    return out


def gray_code(n):
    """Numbers of which neighbours differ by one bit, and back."""
    codes = np.arange(n) ^ (np.arange(n) >> 1)
    back = codes.copy()
    shift = 1
    while shift < 64:
        back ^= back >> shift
        shift <<= 1
    return codes, back


def integer_square_root(values):
    """Floors of square roots, bit by bit."""
    out = np.zeros_like(values)
    for i in range(len(values)):
        rest, root, bit = values[i], 0, 1 << 30
        while bit > rest:
            bit >>= 2
        while bit:
            if rest >= root + bit:
                rest -= root + bit
                root = (root >> 1) + bit
            else:
                root >>= 1
            bit >>= 2
        out[i] = root
    return out


def run_length_encode(data):
    """Values and how often each is repeated, at the front of two arrays; and how many there are."""
    values, counts = np.zeros_like(data), np.zeros(len(data), dtype=np.int64)
    n = 0
    i = 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i]:
            j += 1
        values[n], counts[n] = data[i], j - i
        n += 1
        i = j
    return values, counts, n


def is_luhn_valid(digits):
    """The check of card numbers: every other digit doubled, digits added up."""
    total = 0
    for i, d in enumerate(digits[::-1]):
        if i % 2 == 1:
            d = d * 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0
