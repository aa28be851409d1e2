#!/usr/bin/env bash
# The pack of the embedded Python: CI makes one, which takes four minutes of a processor
# once; elsewhere a line says how to.
. "$(dirname "$0")/lib"
[ -f "$root/python-pack/manifest.json" ] && exit 0
[ -n "${CI:-}" ] && exec bash internal/testenv/full/pythonpack.sh
echo "testenv: no pack of the embedded Python, whose tests are skipped: go run ./cmd/toolcell engine build --out .testenv/python-pack makes one"
