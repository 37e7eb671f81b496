"""Prints each different line of files once, in the order of pileshuf --unique: unique.py SEED FILES

    unique.py --by .url SEED FILES                of lines with equal values of a JSON field, the first one
    unique.py --by csv:3 SEED FILES               of rows of CSV with equal values of a column; tsv:3 is of lines with tabs
    unique.py --by '/^(EXPR)/' SEED FILES         of lines with equal first groups of an expression
    unique.py --missing VALUE ... SEED FILES      lines without a value have this one

Written from docs/ORDER.md and docs/CHOOSING-RECORDS.md alone. The files are not compressed, their last lines have newlines, and
numbers in a field are whole."""
import argparse
import sys

from keys import hash_of, key_of, philox
from values import value_of


def records_of(file):  # rows of CSV may have newlines between quotes
    record = b""
    for line in file:
        record += line
        if not given.by.startswith("csv:") or record.count(b'"') % 2 == 0:
            yield record
            record = b""


def identity_of(record):
    value = value_of(record, given.by) if given.by else record
    if value is None and given.missing is None:
        sys.exit(f"a record has no {given.by}")
    return b'"' + given.missing.encode() if value is None else value


parser = argparse.ArgumentParser()
parser.add_argument("--by", default="")
parser.add_argument("--missing")
parser.add_argument("seed")
parser.add_argument("files", nargs="*")
given = parser.parse_args()
content_key = key_of(given.seed, "content", "")

first = {}
for path in given.files:
    for record in records_of(open(path, "rb")):
        first.setdefault(identity_of(record), record)
order = sorted(first, key=lambda value: (philox(content_key, hash_of(value)), value))
sys.stdout.buffer.write(b"".join(first[value] for value in order))
