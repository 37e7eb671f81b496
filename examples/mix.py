"""Prints the lines of files in the order of pileshuf, each file with a weight: mix.py SEED FILE=WEIGHT...

Written from docs/ORDER.md alone. A weight is a decimal number, or a fraction as in 7/3. The files are not compressed, and
their last lines have newlines."""
import hashlib
import sys
from fractions import Fraction


def key_of(*texts):
    parts = [text.encode() for text in texts]
    digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
    return int.from_bytes(digest[:8], "little")


def philox(key, position, copy, purpose):  # Philox4x32-10: words 0 and 1
    a, b, c, d = position & 0xFFFFFFFF, position >> 32, copy, purpose
    k, l = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ l, p & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32


seed, *arguments = sys.argv[1:]
copies = []
for ordinal, argument in enumerate(arguments):
    path, weight = argument.rsplit("=", 1)
    whole, rest = divmod(Fraction(weight), 1)
    key, position = key_of(seed, str(ordinal)), 0
    for record in open(path, "rb"):
        has_more = philox(key, position, whole, 1) < int(rest * 2**64)
        copies += [(philox(key, position, copy, 0), ordinal, position, copy, record) for copy in range(whole + has_more)]
        position += len(record)
for *_, record in sorted(copies):
    sys.stdout.buffer.write(record)
