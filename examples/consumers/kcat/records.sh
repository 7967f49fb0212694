#!/bin/sh
# records.sh BROKERS TOPIC: one line for each committed message, separated by tabs: partition, offset, key, bytes of
# the value (-1 of a tombstone), the zero byte and the schema id that the value begins with, headers.
set -eu
exec kcat -C -q -b "$1" -t "$2" -o beginning -e -X isolation.level=read_committed \
  -s value='>bI' -f '%p\t%o\t%k\t%S\t%s\t%h\n'
