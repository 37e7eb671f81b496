#!/usr/bin/env python3
"""Iterate over the records of a pile store in Python, with nothing but the standard library.

`pileshuf stream` does the work, in a process beside this one: records come through a pipe, each with its length
before it, so that they may hold anything.

    from stream import PileStream

    stream = PileStream('STORE', epochs=3, rank=0, world_size=8)
    for record in stream:              # bytes
        train(record)
        save(stream.state())           # a small dict, as json.dump takes it

    stream = PileStream('STORE', epochs=3, start=saved)    # goes on with exactly the next record

As a program it writes the records to standard output, and when it ends, however it does, the state behind the last of
them to a file, from which it goes on if there is one:

    python3 examples/stream.py STORE --epochs 3 --rank 0 --world-size 8 --state state.json > records
"""
import argparse
import itertools
import json
import os
import shlex
import signal
import struct
import subprocess
import sys


class PileStream:
    """The records of one rank, epoch after epoch. Each loop over it goes on where the last one was left."""

    def __init__(self, store, epochs=1, start=None, command=None, **options):
        """
        store    directory of the store
        epochs   the stream ends behind epoch `epochs - 1`, wherever it begins
        start    what `state()` gave, of this stream in another process
        command  the words that start pileshuf; else those of $PILESHUF, else `pileshuf`
        options  others of `pileshuf stream`: rank=0, world_size=8, split='contiguous', ...
        """
        words = command or shlex.split(os.environ.get('PILESHUF', 'pileshuf'))
        self._command = [*words, 'stream', store, '--quiet']
        for name, value in options.items():
            self._command += ['--' + name.replace('_', '-'), str(value)]
        self._epochs = epochs
        # Later positions are this one, and how many records were taken since: pileshuf knows where epochs end.
        asked = self._command + ['--print-start'] + ([] if start is None else ['--start', json.dumps(start)])
        self._start = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)
        self._taken = 0

    def state(self):
        """Says that the next record is the one behind the last one that was taken."""
        return {**self._start, 'record': self._start['record'] + self._taken}

    def __iter__(self):
        command = self._command + ['--epochs', str(self._epochs), '--start', json.dumps(self.state()), '--lengths']
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            while header := process.stdout.read(4):
                (length,) = struct.unpack('<I', header)
                record = process.stdout.read(length)
                if len(record) < length:
                    break
                self._taken += 1
                yield record
            if process.wait() != 0:
                raise OSError(f'pileshuf stream ended with exit code {process.returncode}')
        finally:
            # A loop that was left: pileshuf ends when nobody reads.
            process.stdout.close()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description='Writes the records of a pile store to standard output.')
    parser.add_argument('store')
    parser.add_argument('--epochs', type=int, default=1)
    parser.add_argument('--rank', type=int, default=0)
    parser.add_argument('--world-size', type=int, default=1)
    parser.add_argument('--limit', type=int, help='end after so many records')
    parser.add_argument('--state', help='file that says where to go on, and where the next one does')
    asked = parser.parse_args()
    start = None
    if asked.state and os.path.exists(asked.state):
        with open(asked.state, encoding='utf-8') as file:
            start = json.load(file)
    stream = PileStream(asked.store, asked.epochs, start, rank=asked.rank, world_size=asked.world_size)
    written = stream.state()
    try:
        for record in itertools.islice(stream, asked.limit):
            sys.stdout.buffer.write(record)
            written = stream.state()
    finally:
        try:
            sys.stdout.buffer.flush()
        finally:
            if asked.state:
                replace_state(asked.state, written)


def stop(number, _):
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def replace_state(path, state):
    """Whoever reads the file, or stops this program meanwhile, finds the former state or this one."""
    with open(path + '.new', 'w', encoding='utf-8') as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + '.new', path)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, stop)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:
        # Nobody reads any more. Python would say so when it flushes what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
