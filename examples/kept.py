"""Keeps the first line of each value, and prints its copies in one split: kept.py SEED SELECTOR OPTIONS FILE[=WEIGHT]...

    --weight-by .score          a line comes as often as this number says, times the WEIGHT of its file
    --split FROM TO             where the split begins and ends, such as 0.98 and 1
    --split-by .site            the value that chooses the split

Selectors are as for unique.py. Written from docs/ORDER.md alone. The files are not compressed, and their last lines have newlines."""
import argparse
import sys
from fractions import Fraction

from keys import hash_of, key_of, philox
from values import value_of

arguments = argparse.ArgumentParser()
for name in ("seed", "selector", "--weight-by", "--split-by"):
    arguments.add_argument(name)
arguments.add_argument("--split", nargs=2, type=Fraction, default=(0, 1))
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
first, end = (int(2**64 * share) for share in call.split)
kept = {}
for file in call.files:
    path, weight = file.rsplit("=", 1) if "=" in file else (file, 1)
    for line in open(path, "rb"):
        kept.setdefault(value_of(line, call.selector), (line, Fraction(weight)))
key, split_key, copies = key_of(call.seed, "content", ""), key_of(call.seed, "splits", ""), []
for value, (line, weight) in kept.items():
    position = hash_of(value)
    number = Fraction(value_of(line, call.weight_by).decode().lstrip('"')) if call.weight_by else 1
    parts = int(number * 10**15) * 2**64 // 10**15 * int(weight * 2**64) >> 64
    whole, chance = divmod(parts, 2**64)
    draw = philox(split_key, hash_of(value_of(line, call.split_by))) if call.split_by else philox(key, position)
    for copy in range(whole + (philox(key, position, whole, 1) < chance) if first <= draw < end else 0):
        own = philox(key, position, copy)
        copies.append((first + (own * (end - first) >> 64) if copy or call.split_by else own, value, line))
for *_, line in sorted(copies, key=lambda each: each[:2]):
    sys.stdout.buffer.write(line)
