"""Prints the lines of files in the order of pileshuf, each file with a weight: mix.py SEED FILE=WEIGHT...

Written from docs/ORDER.md alone. A weight is a decimal number, or a fraction as in 7/3. The files are not compressed, and
their last lines have newlines."""
import sys
from fractions import Fraction

from keys import key_of, philox

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
