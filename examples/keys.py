"""The keys of pileshuf, for the other programs. Written from docs/ORDER.md alone."""
import hashlib


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
