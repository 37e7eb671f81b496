#!/usr/bin/env python3
"""Prints what pileshuf -i LO-HI --seed SEED [-n COUNT] [-r] prints. Written from docs/ORDER.md alone:

    range.py LO-HI SEED [COUNT [repeat]]
"""
import hashlib, math, sys

def philox(*words):
    (c0, c1, c2, c3), (k0, k1) = words, (KEY & 0xFFFFFFFF, KEY >> 32)
    for i in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & 0xFFFFFFFF, p0 >> 32 ^ c3 ^ k1, p0 & 0xFFFFFFFF
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0 | c1 << 32, c0 | c1 << 32 | c2 << 64 | c3 << 96

def permuted(offset):
    x, y = divmod(offset, B)
    for i in range(0, 10, 2):
        x = (x + (philox(y, 0, i, 1)[0] * A >> 64)) % A
        y = (y + (philox(x, 0, i + 1, 1)[0] * B >> 64)) % B
    return x * B + y if x * B + y < N else permuted(x * B + y)

texts = [text.encode() for text in (sys.argv[2], 'number range', sys.argv[1])]
KEY = int.from_bytes(hashlib.sha256(b''.join(len(t).to_bytes(8, 'little') + t for t in texts)).digest()[:8], 'little')
low, high = map(int, sys.argv[1].split('-'))
N, count, repeat = high - low + 1, int((sys.argv[3:] or [2**64])[0]), len(sys.argv) > 4
A = math.isqrt(N - 1) + 1 if N else 1
B = -(-N // A)
order = sorted(range(N), key=lambda i: philox(i, 0, 0, 0)[0]) if N <= 2**20 and not repeat else []
for p in range(count if repeat else min(count, N)):
    drawn = philox(p & 0xFFFFFFFF, p >> 32, 0, 2)[1] * N >> 128 if repeat else None
    print(low + (drawn if repeat else order[p] if order else permuted(p)))
