#!/usr/bin/env bash
# Makes the pack of the embedded Python, once for each revision. Where its sources cannot be had, the tests
# that need it say so.
set -u
cd "$(dirname "$0")/../../.."
dir=.testenv/python-pack
revision=$(sed -n 's/.*revision = "\([0-9]*\)".*/\1/p' internal/pybuild/library.go)
grep -qs '"version": ".*-'"$revision"'"' $dir/manifest.json && exit 0
rm -rf $dir
if ! go run ./cmd/toolcell engine build --out $dir >.testenv/python-pack.log 2>&1; then
	echo "testenv: no pack of the embedded Python: $(tail -1 .testenv/python-pack.log)"
	rm -rf $dir
fi
rm -f .testenv/python-small-*.tar.gz
exit 0
