"""Makes and checks the Parquet files of the bench.

parquet-corpus.py write TYPES IN > OUT: lines of JSON as pyarrow writes tables, with zstd at level 3; TYPES is a JSON object of
the types of columns. parquet-corpus.py digest FILES...: prints the number of rows and the sum of their hashes, which do not
depend on the order, and the hash of the first row, by DuckDB.
"""

import json
import sys

ROWS_OF_GROUP = 50_000


def write(types, source):
    import pyarrow
    from pyarrow import json as lines
    from pyarrow import parquet

    schema = pyarrow.schema([(name, pyarrow.type_for_alias(alias)) for name, alias in json.loads(types).items()])
    table = lines.read_json(source, parse_options=lines.ParseOptions(explicit_schema=schema))
    parquet.write_table(
        table.select(schema.names),
        sys.stdout.buffer,
        compression="zstd",
        compression_level=3,
        row_group_size=ROWS_OF_GROUP,
    )


def digest(*files):
    import duckdb

    read = f"read_parquet({list(files)!r}) AS row"
    rows, total = duckdb.sql(f"SELECT count(*), sum(hash(row)) FROM {read}").fetchone()
    (first,) = duckdb.sql(f"SELECT hash(row) FROM {read} LIMIT 1").fetchone()
    print(json.dumps({"rows": rows, "sum": str(total), "first": str(first)}))


{"write": write, "digest": digest}[sys.argv[1]](*sys.argv[2:])
