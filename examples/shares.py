"""Prints the weights that follow from shares of the sum of a field, for mix.py: shares.py FIELD FILE=SHARE...

Written from docs/ORDER.md and docs/CHOOSING-RECORDS.md alone. Each file is a group that may come once, max_epochs: 1. The files have
a JSON object a line and are not compressed; FIELD is as in .n_tokens or .metadata.seconds."""
import json
import sys
from fractions import Fraction

PARTS = 10**15  # of 1: digits after the 15th place do not count


def parts_of(line, keys):
    value = json.loads(line, parse_int=Fraction, parse_float=Fraction)
    for key in keys:
        value = value[key]
    return int(value * PARTS)


field, *arguments = sys.argv[1:]
shares, amounts = {}, {}
for argument in arguments:
    path, share = argument.rsplit("=", 1)
    shares[path] = Fraction(share)
    amounts[path] = Fraction(sum(parts_of(line, field.split(".")[1:]) for line in open(path, "rb")), PARTS)
total = min(amounts[path] * sum(shares.values()) / shares[path] for path in shares)
for path, share in shares.items():
    print(f"{path}={total * share / (sum(shares.values()) * amounts[path])}")
