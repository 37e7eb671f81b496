"""The keys and hashes of pileshuf, for the other programs. Written from docs/ORDER.md alone."""
import hashlib
import struct

M, P1, P2, P3 = 2**64 - 1, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


def key_of(*texts):
    parts = [text.encode() for text in texts]
    digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
    return int.from_bytes(digest[:8], "little")


def philox(key, position, copy=0, purpose=0):  # Philox4x32-10: words 0 and 1
    a, b, c, d = position & 0xFFFFFFFF, position >> 32, copy, purpose
    k, l = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ l, p & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32


def hash_of(value):
    s0, s1 = 0, 0
    for i, (v0, v1) in enumerate(struct.iter_unpack("<QQ", value + bytes(-len(value) % 16))):
        x = (v0 ^ 0xBE4BA423396CFEB8 + i * 0x9E3779B97F4A7C15 & M, v1 ^ 0x1CAD21F72C81017C + i * 0xD1B54A32D192ED03 & M)
        s0 += (x[0] & 0xFFFFFFFF) * (x[1] & 0xFFFFFFFF) + v1
        s1 += (x[0] >> 32) * (x[1] >> 32) + v0
    h = (s0 * P1 ^ (s1 << 29 | (s1 & M) >> 35) * P2) + len(value) * P3 & M
    h = (h ^ h >> 32) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32
