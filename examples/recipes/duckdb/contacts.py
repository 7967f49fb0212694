"""`python contacts.py FILE`: the contacts of a Parquet file that `svc sql` has written, a line of JSON each."""

import sys

import duckdb

CONTACTS = """
    SELECT connection_id AS connection, payload
    FROM read_parquet(?)
    WHERE model = 'Contact' AND action <> 'deleted'
    ORDER BY connection, record_id
"""

for connection, payload in duckdb.execute(
    f"SELECT to_json(connection), payload FROM ({CONTACTS})", [sys.argv[1]]
).fetchall():
    print(f'{{"connection": {connection}, "record": {payload}}}')
