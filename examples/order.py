"""Prints the lines of files in the order of pileshuf.

Written from docs/ORDER.md alone. The files are not compressed, and their last lines have newlines."""
import argparse
import sys
from fractions import Fraction

from keys import key_of, philox

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
