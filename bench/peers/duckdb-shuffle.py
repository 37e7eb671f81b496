"""Shuffles lines with DuckDB: duckdb-shuffle.py MEMORY TEMP_DIRECTORY OUT FILES...

Each line is one column of text. Lines must be UTF-8 without the bytes 00 and 01, which serve as delimiters.
"""

import sys

import duckdb

memory, temp, out, *files = sys.argv[1:]
connection = duckdb.connect()
connection.execute(f"SET memory_limit = '{memory}'")
connection.execute(f"SET temp_directory = '{temp}'")
connection.execute(
    f"""
    COPY (
        SELECT line
        FROM read_csv({files!r}, columns = {{'line': 'VARCHAR'}}, delim = '\\x00', quote = '', escape = '',
                      header = false, auto_detect = false)
        ORDER BY random()
    ) TO '{out}' (HEADER false, QUOTE '', ESCAPE '', DELIMITER '\\x01')
    """
)
