"""Prints each different line of files once, in the order of pileshuf --unique: unique.py SEED FILES

    unique.py --by .url SEED FILES                of lines with equal values of a JSON field, the first one
    unique.py --by csv:3 SEED FILES               of rows of CSV with equal values of a column; tsv:3 is of lines with tabs
    unique.py --by '/^(EXPR)/' SEED FILES         of lines with equal first groups of an expression
    unique.py --missing VALUE ... SEED FILES      lines without a value have this one

Written from docs/ORDER.md and docs/CHOOSING-RECORDS.md alone. The files are not compressed, and their last lines have newlines. Numbers
in a field are whole, names in it have no dots, columns have numbers, and lines with an expression are UTF-8."""
import argparse
import csv
import json
import re
import sys

from keys import hash_of, key_of, philox


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
content_key = key_of(given.seed, "content", "")

first = {}
for path in given.files:
    for line in records_of(open(path, "rb"), given.by):
        first.setdefault(value_of(line, given.by, given.missing), line)
order = sorted(first, key=lambda value: (philox(content_key, hash_of(value)), value))
sys.stdout.buffer.write(b"".join(first[value] for value in order))
