"""Prints the lines of files in the order of pileshuf --group-by: bundles.py [--missing VALUE] [--shards N] SEED .FIELD FILES

The lines of one value of a JSON field stay together. With --shards, blank lines stand between the shards. Written from docs/ORDER.md
alone. The files are not compressed, their last lines have newlines, and numbers in the field are whole."""
import argparse
import json
import sys

from keys import hash_of, key_of, philox

arguments = argparse.ArgumentParser()
arguments.add_argument("--missing")
arguments.add_argument("--shards", type=int, default=1)
arguments.add_argument("seed")
arguments.add_argument("field")
arguments.add_argument("files", nargs="+")
call = arguments.parse_args()
bundle_key = key_of(call.seed, "groups", "")

bundles = {}
for path in call.files:
    for line in open(path, "rb"):
        value = json.loads(line)
        for name in call.field.split(".")[1:]:
            value = value.get(name, call.missing) if isinstance(value, dict) else call.missing
        text = b'"' + value.encode() if isinstance(value, str) else json.dumps(value).encode()
        bundles.setdefault(text, []).append(line)

total, rank, shard = sum(map(len, bundles.values())), 0, 0
for value in sorted(bundles, key=lambda value: (philox(bundle_key, hash_of(value)), value)):
    while shard + 1 < call.shards and rank >= (shard + 1) * total // call.shards:
        print(flush=True)
        shard += 1
    sys.stdout.buffer.write(b"".join(bundles[value]))
    sys.stdout.buffer.flush()
    rank += len(bundles[value])
