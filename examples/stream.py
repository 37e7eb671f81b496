#!/usr/bin/env python3
"""Iterates over the records of a pile store in Python, with only the standard library.

`pileshuf stream` does the work, in another process. Records come through a pipe, each after its length, so they may
hold any bytes.

    from stream import PileStream

    stream = PileStream('STORE', epochs=3, rank=0, world_size=8)
    for record in stream:              # bytes
        train(record)
        save(stream.state())           # a small dict for json.dump

    stream = PileStream('STORE', epochs=3, start=saved)    # continues with exactly the next record

PyTorch's DataLoader runs the same code in each of its workers. `part_of_worker` gives each worker a part of its own;
without it every record comes once from each worker:

    class Records(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(PileStream('STORE', epochs=3, **part_of_worker(rank=0, world_size=8)))

As a program it writes the records to standard output. When it ends, also after an error, it writes the state after
the last record to a file. If the file exists, the next start continues from it:

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
    """The records of one rank, epoch after epoch. Each loop continues where the last one stopped."""

    def __init__(self, store, epochs=1, start=None, command=None, epoch=0, **options):
        """
        store    directory of the store
        epochs   the stream ends after epoch `epochs - 1`, wherever it begins
        start    a `state()` of this stream, also from another process
        epoch    the stream begins with this epoch, if there is no `start`
        command  the words that start pileshuf (default: those of $PILESHUF, else `pileshuf`)
        options  other options of `pileshuf stream`: rank=0, world_size=8, equalize='drop', ...
        """
        words = command or shlex.split(os.environ.get('PILESHUF', 'pileshuf'))
        self._command = [*words, 'stream', store, '--quiet']
        for name, value in options.items():
            self._command += ['--' + name.replace('_', '-'), str(value)]
        self._epochs = epochs
        # A later position is this one plus the records taken since: pileshuf knows where epochs end.
        begin = ['--epoch', str(epoch)] if start is None else ['--start', json.dumps(start)]
        asked = self._command + ['--print-start'] + begin
        self._start = json.loads(subprocess.run(asked, check=True, stdout=subprocess.PIPE).stdout)
        self._taken = 0

    def state(self):
        """The position of the next record, after the last one taken."""
        return {**self._start, 'record': self._start['record'] + self._taken}

    def __iter__(self):
        command = self._command + ['--epochs', str(self._epochs), '--start', json.dumps(self.state()), '--lengths']
        # Ctrl-C is for this program alone: pileshuf ends when nobody reads.
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
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
            # The caller left the loop.
            process.stdout.close()
            process.wait()


def part_of_worker(rank=0, world_size=1):
    """
    The part of this worker of PyTorch's DataLoader, as options of PileStream: each of the `world_size` processes that
    train has the same number of workers. Call it where the records are read, which is in the worker.
    """
    from torch.utils.data import get_worker_info

    worker = get_worker_info()
    if worker is None:  # The DataLoader has no workers: the process that trains reads for itself.
        return {'rank': rank, 'world_size': world_size}
    return {'rank': rank * worker.num_workers + worker.id, 'world_size': world_size * worker.num_workers}


def main():
    parser = argparse.ArgumentParser(description='Writes the records of a pile store to standard output.')
    parser.add_argument('store')
    parser.add_argument('--epochs', type=int, default=1)
    parser.add_argument('--rank', type=int, default=0)
    parser.add_argument('--world-size', type=int, default=1)
    parser.add_argument('--limit', type=int, help='end after this many records')
    parser.add_argument('--state', help='file with the position to continue from; updated at the end')
    asked = parser.parse_args()
    start = None
    if asked.state and os.path.exists(asked.state):
        with open(asked.state, encoding='utf-8') as file:
            start = json.load(file)
    stream = PileStream(asked.store, asked.epochs, start, rank=asked.rank, world_size=asked.world_size)
    written = stream.state()
    stops = stops_asked_for()
    try:
        for record in itertools.islice(stream, asked.limit):
            sys.stdout.buffer.write(record)
            written = stream.state()
            if stops:
                break
    finally:
        try:
            sys.stdout.buffer.flush()
        finally:
            if asked.state:
                replace_state(asked.state, written)
    if stops:
        sys.exit(128 + stops[0])


def stops_asked_for():
    """A list that gets the signals to stop. The record under way is written before; a second signal kills."""
    stops = []

    def stop(number, _):
        stops.append(number)
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return stops


def replace_state(path, state):
    """A reader finds the former state or this one, also if this program is stopped meanwhile."""
    with open(path + '.new', 'w', encoding='utf-8') as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + '.new', path)


if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:
        # Nobody reads any more. Without this, Python would report the error again when it flushes its buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
