"""Stands in for PyTorch: a DataLoader whose workers are threads, each of which iterates over the same dataset."""
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

present = threading.local()


def get_worker_info():
    return getattr(present, 'worker', None)


class IterableDataset:
    pass


class DataLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __iter__(self):
        if self.num_workers == 0:
            yield from self.in_batches(None)
            return
        with ThreadPoolExecutor(self.num_workers) as pool:
            for batches in pool.map(self.in_batches, range(self.num_workers)):
                yield from batches

    def in_batches(self, number):
        present.worker = None if number is None else SimpleNamespace(id=number, num_workers=self.num_workers)
        records = list(self.dataset)
        return [records[at : at + self.batch_size] for at in range(0, len(records), self.batch_size)]
