"""Prints each different line of files once, in the order of pileshuf --unique: unique.py SEED FILES

Written from docs/ORDER.md alone. The files are not compressed, and their last lines have newlines."""
import hashlib
import struct
import sys

M, P1, P2, P3 = 2**64 - 1, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
parts = [text.encode() for text in (sys.argv[1], "content", "")]
digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
content_key = struct.unpack_from("<II", digest)


def hash_of(line):
    s0, s1 = 0, 0
    for i, (v0, v1) in enumerate(struct.iter_unpack("<QQ", line + bytes(-len(line) % 16))):
        x = (v0 ^ 0xBE4BA423396CFEB8 + i * 0x9E3779B97F4A7C15 & M, v1 ^ 0x1CAD21F72C81017C + i * 0xD1B54A32D192ED03 & M)
        s0 += (x[0] & 0xFFFFFFFF) * (x[1] & 0xFFFFFFFF) + v1
        s1 += (x[0] >> 32) * (x[1] >> 32) + v0
    h = (s0 * P1 ^ (s1 << 29 | (s1 & M) >> 35) * P2) + len(line) * P3 & M
    h = (h ^ h >> 32) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


def key_of(line):  # Philox4x32-10: words 0 and 1
    position, (k, l) = hash_of(line), content_key
    a, b, c, d = position & 0xFFFFFFFF, position >> 32, 0, 0
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ l, p & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32


lines = {line for path in sys.argv[2:] for line in open(path, "rb")}
sys.stdout.buffer.write(b"".join(sorted(lines, key=lambda line: (key_of(line), line))))
