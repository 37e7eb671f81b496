"""Prints the lines of files in the order of pileshuf --group-by: bundles.py [--missing VALUE] [--shards N] SEED SELECTOR FILES

The lines of one value stay together. With --shards, blank lines stand between the shards. Written from docs/ORDER.md
alone. The files are not compressed, their last lines have newlines, and numbers in the field are whole."""
import argparse
import sys

from keys import hash_of, key_of, philox
from values import value_of

arguments = argparse.ArgumentParser()
arguments.add_argument("--missing")
arguments.add_argument("--shards", type=int, default=1)
arguments.add_argument("seed")
arguments.add_argument("selector")
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
bundle_key = key_of(call.seed, "groups", "")

bundles = {}
for path in call.files:
    for line in open(path, "rb"):
        value = value_of(line, call.selector) or b'"' + call.missing.encode()
        bundles.setdefault(value, []).append(line)

total, rank, shard = sum(map(len, bundles.values())), 0, 0
for value in sorted(bundles, key=lambda value: (philox(bundle_key, hash_of(value)), value)):
    while shard + 1 < call.shards and rank >= (shard + 1) * total // call.shards:
        print(flush=True)
        shard += 1
    sys.stdout.buffer.write(b"".join(bundles[value]))
    sys.stdout.buffer.flush()
    rank += len(bundles[value])
