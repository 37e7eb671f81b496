"""Shuffles lines as loaders do, with a buffer: buffer-shuffle.py SEED BUFFER_RECORDS FILES... > OUT

The rule is that of WebDataset: the buffer takes two records for each that it gives until it is full, then one. What it gives
is drawn from the buffer. So a record leaves it soon after it came, or much later, but never much earlier.
"""

import random
import sys
from itertools import chain

INITIAL = 100
BYTES_AT_A_TIME = 2**20


def shuffled(records, size, draw):
    buffer = []
    for record in records:
        buffer.append(record)
        if len(buffer) < size:
            following = next(records, None)
            if following is not None:
                buffer.append(following)
        if len(buffer) >= INITIAL:
            yield taken(buffer, draw)
    while buffer:
        yield taken(buffer, draw)


def taken(buffer, draw):
    at = int(draw() * len(buffer))
    record = buffer[at]
    buffer[at] = buffer[-1]
    buffer.pop()
    return record


seed, size, *files = sys.argv[1:]
lines = chain.from_iterable(open(file, "rb", BYTES_AT_A_TIME) for file in files)
with open(sys.stdout.fileno(), "wb", BYTES_AT_A_TIME) as out:
    out.writelines(shuffled(lines, int(size), random.Random(int(seed)).random))
