#!/bin/sh
# The native type checker with as much address space as SVC_CHECK_KB, because a hostile type may ask for all memory.
ulimit -v "$SVC_CHECK_KB" && exec "$SVC_CHECK_PROGRAM" "$@" 2>/dev/null
