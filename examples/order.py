"""Prints the lines of files in the order of pileshuf.

Written from docs/ORDER.md alone. The files are not compressed, and their last lines have newlines."""
import argparse
import hashlib
import sys
from fractions import Fraction


def key_of(*texts):
    parts = [text.encode() for text in texts]
    digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
    return int.from_bytes(digest[:8], "little")


def philox(key, position):  # Philox4x32-10: words 0 and 1
    a, b, c, d = position & 0xFFFFFFFF, position >> 32, 0, 0
    k, l = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ l, p & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32


arguments = argparse.ArgumentParser()
arguments.add_argument("seed")
arguments.add_argument("-r", action="store_true")
arguments.add_argument("-n", type=int)
arguments.add_argument("--split", nargs=2, type=Fraction, default=(0, 1), metavar=("FROM", "TO"))
arguments.add_argument("--key", choices=["position", "ordinal"], default="position")
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
keyed = []
for ordinal, path in enumerate(call.files):
    position, key = 0, key_of(call.seed, str(ordinal))
    for line in open(path, "rb"):
        keyed.append((philox(key, position), ordinal, position, line))
        position += 1 if call.key == "ordinal" else len(line)
first, end = (int(2**64 * share) for share in call.split)
order = [line for key, *_, line in sorted(keyed) if first <= key < end]
if call.r:
    draw_key = key_of(call.seed, "draws", "")
    order = [order[philox(draw_key, place) * len(order) >> 64] for place in range(call.n)]
sys.stdout.buffer.write(b"".join(order[: call.n]))
