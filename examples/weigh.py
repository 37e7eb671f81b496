"""Prints the lines of files as often as --weight-by says, in the order of pileshuf: weigh.py SEED SELECTOR FILE[=WEIGHT]...

SELECTOR is a JSON field (.score), a column by its number (csv:2, tsv:2), or an expression (/^(\\d+)/). Written from docs/ORDER.md
alone. The files are not compressed, and their last lines have newlines."""
import argparse
import csv
import json
import re
import sys
from fractions import Fraction

from keys import key_of, philox


def number_of(line):
    if selector.startswith("/"):
        found = re.search(selector[1:-1], line.decode())
        return found and Fraction(found[1])
    if selector[1:4] == "sv:":
        cells = next(csv.reader([line.decode()], delimiter="\t" if selector[0] == "t" else ","))
        return Fraction(cells[int(selector[4:]) - 1])
    value = json.loads(line, parse_float=Fraction, parse_int=Fraction)
    for name in selector.split(".")[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    return value


arguments = argparse.ArgumentParser()
arguments.add_argument("--cap", type=Fraction, default=10**6)
arguments.add_argument("--missing", type=Fraction)
arguments.add_argument("--split", nargs=2, type=Fraction, default=(0, 1), metavar=("FROM", "TO"))
arguments.add_argument("seed")
arguments.add_argument("selector")
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
selector, copies = call.selector, []
first, end = (int(2**64 * share) for share in call.split)
for ordinal, file in enumerate(call.files):
    path, weight = file.rsplit("=", 1) if "=" in file else (file, 1)
    key, position = key_of(call.seed, str(ordinal)), 0
    for line in open(path, "rb"):
        number = number_of(line)
        parts = int((call.missing if number is None else number) * 10**15) * 2**64 // 10**15
        parts = min(parts, int(call.cap * 2**64)) * int(Fraction(weight) * 2**64) >> 64
        whole, chance = divmod(parts, 2**64)
        count = whole + (philox(key, position, whole, 1) < chance)
        for copy in range(count if first <= philox(key, position) < end else 0):
            own = philox(key, position, copy)
            copies.append((first + (own * (end - first) >> 64) if copy else own, ordinal, position, copy, line))
        position += len(line)
for *_, line in sorted(copies):
    sys.stdout.buffer.write(line)
