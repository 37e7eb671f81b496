"""Prints the lines of one split of pileshuf --split-by: splits.py SEED SELECTOR FROM TO FILES

FROM and TO are where the split begins and ends, such as 0.98 and 1. SELECTOR is a JSON field with a string (.metadata.site),
a column that the first line names (csv:site, tsv:site), or an expression (/^(\\w+)/). Written from docs/ORDER.md alone. The files
are not compressed, their last lines have newlines, and no value has one."""
import csv
import json
import re
import sys
from fractions import Fraction

from keys import hash_of, key_of, philox


def cells(line):
    style = {"quoting": csv.QUOTE_NONE, "delimiter": "\t"} if selector.startswith("tsv:") else {}
    return next(csv.reader([line.decode("utf-8-sig")], **style))


def value_of(line, names):
    if selector.startswith("/"):
        return re.search(selector[1:-1], line.decode().rstrip("\n"))[1]
    if names:
        return cells(line)[names.index(selector[4:])]
    value = json.loads(line)
    for name in selector.split(".")[1:]:
        value = value[name]
    return value


seed, selector = sys.argv[1:3]
first, end = (int(2**64 * Fraction(share)) for share in sys.argv[3:5])
keyed = []
for ordinal, path in enumerate(sys.argv[5:]):
    lines, header = open(path, "rb"), b""
    if selector[1:4] == "sv:":
        header = next(lines)
    names = cells(header) if header else []
    position, key = len(header), key_of(seed, str(ordinal))
    for line in lines:
        if first <= philox(key_of(seed, "splits", ""), hash_of(b'"' + value_of(line, names).encode())) < end:
            keyed.append((first + (philox(key, position) * (end - first) >> 64), ordinal, position, line))
        position += len(line)
sys.stdout.buffer.write(header + b"".join(line for *_, line in sorted(keyed)))
