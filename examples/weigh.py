"""Prints the lines of files as often as --weight-by says, in the order of pileshuf: weigh.py SEED SELECTOR FILE[=WEIGHT]...

SELECTOR is a JSON field (.score), a column by its number (csv:2, tsv:2), or an expression (/^(\\d+)/). Written from docs/ORDER.md
alone. The files are not compressed, and their last lines have newlines."""
import argparse
import sys
from fractions import Fraction

from keys import key_of, philox
from values import value_of


def weight_of(line, weight):  # in parts of 2^64
    value = value_of(line, call.selector)
    number = call.missing if value in (None, b"null") else Fraction(value.decode().removeprefix('"'))
    parts = int(number * 10**15) * 2**64 // 10**15
    return min(parts, int(call.cap * 2**64)) * int(weight * 2**64) >> 64


arguments = argparse.ArgumentParser()
arguments.add_argument("--cap", type=Fraction, default=10**6)
arguments.add_argument("--missing", type=Fraction)
arguments.add_argument("--split", nargs=2, type=Fraction, default=(0, 1), metavar=("FROM", "TO"))
arguments.add_argument("seed")
arguments.add_argument("selector")
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
first, end = (int(2**64 * share) for share in call.split)
copies = []
for ordinal, file in enumerate(call.files):
    path, _, weight = file.partition("=")
    key, position = key_of(call.seed, str(ordinal)), 0
    for line in open(path, "rb"):
        count, chance = divmod(weight_of(line, Fraction(weight or 1)), 2**64)
        count += philox(key, position, count, 1) < chance
        for copy in range(count if first <= philox(key, position) < end else 0):
            own = philox(key, position, copy)
            copies.append((first + (own * (end - first) >> 64) if copy else own, ordinal, position, copy, line))
        position += len(line)
sys.stdout.buffer.write(b"".join(line for *_, line in sorted(copies)))
