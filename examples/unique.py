"""Prints each different line of files once, in the order of pileshuf --unique: unique.py SEED FILES

    unique.py --by .url SEED FILES                of lines with equal values of a JSON field, the first one
    unique.py --by csv:3 SEED FILES               of rows of CSV with equal values of a column; tsv:3 is of lines with tabs
    unique.py --by '/^(EXPR)/' SEED FILES         of lines with equal first groups of an expression
    unique.py --missing VALUE ... SEED FILES      lines without a value have this one

Written from docs/ORDER.md and docs/CHOOSING-RECORDS.md alone. The files are not compressed, and their last lines have newlines. Numbers
in a field are whole, names in it have no dots, columns have numbers, and lines with an expression are UTF-8."""
import argparse
import csv
import hashlib
import json
import re
import struct
import sys

M, P1, P2, P3 = 2**64 - 1, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9


def hash_of(value):
    s0, s1 = 0, 0
    for i, (v0, v1) in enumerate(struct.iter_unpack("<QQ", value + bytes(-len(value) % 16))):
        x = (v0 ^ 0xBE4BA423396CFEB8 + i * 0x9E3779B97F4A7C15 & M, v1 ^ 0x1CAD21F72C81017C + i * 0xD1B54A32D192ED03 & M)
        s0 += (x[0] & 0xFFFFFFFF) * (x[1] & 0xFFFFFFFF) + v1
        s1 += (x[0] >> 32) * (x[1] >> 32) + v0
    h = (s0 * P1 ^ (s1 << 29 | (s1 & M) >> 35) * P2) + len(value) * P3 & M
    h = (h ^ h >> 32) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


def key_of(value, content_key):  # Philox4x32-10: words 0 and 1
    position, (k, l) = hash_of(value), content_key
    a, b, c, d = position & 0xFFFFFFFF, position >> 32, 0, 0
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ l, p & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a | b << 32


def records_of(file, by):  # rows of CSV may have newlines between quotes
    record = b""
    for line in file:
        record += line
        if not (by or "").startswith("csv:") or record.count(b'"') % 2 == 0:
            yield record
            record = b""


def field_of(line, by):
    value = json.loads(line)
    for name in by.split(".")[1:]:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return b'"' + value.encode() if isinstance(value, str) else json.dumps(value).encode()


def text_of(line, by):
    if by.startswith("/"):
        expression, flags = by[1:].rsplit("/", 1)
        found = re.search(f"(?{flags}){expression}" if flags else expression, line.removesuffix("\n"))
        return found and found[1]
    kind, column = by.split(":")
    line = re.sub("\r?\n$", "", line)
    row = next(csv.reader([line]), [""]) if kind == "csv" else line.split("\t")
    return row[int(column) - 1] if int(column) <= len(row) else None


def value_of(line, by, missing):
    if by is None:
        return line
    if by.startswith("."):
        value = field_of(line, by)
    else:
        text = text_of(line.decode(), by)
        value = None if text is None else b'"' + text.encode()
    if value is None and missing is None:
        sys.exit(f"a record has no {by}")
    return b'"' + missing.encode() if value is None else value


parser = argparse.ArgumentParser()
parser.add_argument("--by")
parser.add_argument("--missing")
parser.add_argument("seed")
parser.add_argument("files", nargs="*")
given = parser.parse_args()
parts = [text.encode() for text in (given.seed, "content", "")]
digest = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
content_key = struct.unpack_from("<II", digest)

first = {}
for path in given.files:
    for line in records_of(open(path, "rb"), given.by):
        first.setdefault(value_of(line, given.by, given.missing), line)
order = sorted(first, key=lambda value: (key_of(value, content_key), value))
sys.stdout.buffer.write(b"".join(first[value] for value in order))
