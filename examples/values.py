"""The values of records, for the other programs. Written from docs/ORDER.md and docs/CHOOSING-RECORDS.md alone.

Names in a JSON field have no dots, columns have numbers, and lines with an expression are UTF-8."""
import csv
import json
import re
from decimal import Decimal


def value_of(line, selector):  # the bytes that are hashed, or None
    if selector.startswith("."):
        value = json.loads(line, parse_float=Decimal)
        for name in selector.split(".")[1:]:
            if not isinstance(value, dict) or name not in value:
                return None
            value = value[name]
        if not isinstance(value, str):
            return (str(value) if isinstance(value, Decimal) else json.dumps(value)).encode()
    else:
        value = text_of(line.decode(), selector)
    return None if value is None else b'"' + value.encode()


def text_of(line, selector):
    if selector.startswith("/"):
        expression, flags = selector[1:].rsplit("/", 1)
        found = re.search(f"(?{flags}){expression}" if flags else expression, line.removesuffix("\n"))
        return found and found[1]
    kind, column = selector.split(":")
    line = re.sub("\r?\n$", "", line)
    row = next(csv.reader([line]), [""]) if kind == "csv" else line.split("\t")
    return row[int(column) - 1] if int(column) <= len(row) else None
