"""Shuffles rows of Parquet with other tools: parquet-shuffle.py TOOL MEMORY LEVEL TEMP_DIRECTORY OUT FILES...

TOOL is duckdb, pyarrow or datasets. DuckDB alone has a limit, MEMORY, or its default, if that is empty. The output has zstd at
LEVEL; that of datasets has snappy, the only codec it writes.
"""

import os
import sys


def by_duckdb(files):
    import duckdb

    if memory:
        duckdb.sql(f"SET memory_limit = '{memory}'")
    duckdb.sql(f"SET temp_directory = '{temp}'")
    duckdb.sql(
        f"""
        COPY (SELECT * FROM read_parquet({files!r}) ORDER BY random())
        TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level})
        """
    )


def by_pyarrow(files):
    from pyarrow import compute, parquet

    table = parquet.read_table(files)
    order = compute.array_sort_indices(compute.random(table.num_rows))
    parquet.write_table(table.take(order), out, compression="zstd", compression_level=int(level))


def by_datasets(files):
    os.environ.update(HF_HOME=temp, HF_HUB_OFFLINE="1")
    import datasets

    rows = datasets.load_dataset("parquet", data_files=files, split="train")
    rows.shuffle().to_parquet(out)


tool, memory, level, temp, out, *files = sys.argv[1:]
{"duckdb": by_duckdb, "pyarrow": by_pyarrow, "datasets": by_datasets}[tool](files)
