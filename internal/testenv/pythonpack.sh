#!/usr/bin/env bash
# The pack of the embedded Python: CI makes one, which takes four minutes of a processor
# once; elsewhere a line says how to, also where there is one of an older recipe.
. "$(dirname "$0")/lib"
revision=$(sed -n 's/.*revision = "\([0-9]*\)".*/\1/p' internal/pybuild/library.go)
grep -qs '"version": ".*-'"$revision"'"' "$root/python-pack/manifest.json" && exit 0
[ -n "${CI:-}" ] && exec bash internal/testenv/full/pythonpack.sh
echo "testenv: the pack of the embedded Python is missing or old: go run ./cmd/toolcell engine build --out .testenv/python-pack makes it"
