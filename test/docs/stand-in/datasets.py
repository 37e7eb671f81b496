"""Stands in for Hugging Face datasets: the files of a directory by the split at the beginning of their names."""
import os
import re
from types import SimpleNamespace


def load_dataset(directory):
    rows = {}
    for name in sorted(os.listdir(directory)):
        found = re.fullmatch(r'(\w+)-\d{5}-of-\d{5}\.jsonl', name)
        if found:
            with open(os.path.join(directory, name)) as file:
                rows[found[1]] = rows.get(found[1], 0) + sum(1 for _ in file)
    return {split: SimpleNamespace(num_rows=count) for split, count in rows.items()}
