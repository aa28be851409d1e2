#!/usr/bin/env bash
# Installs bubblewrap, which the tests of bwrap mode need.
. "$(dirname "$0")/lib"
need bwrap bubblewrap >"$root/bwrap.log" 2>&1 || echo "testenv: could not install bubblewrap: see $root/bwrap.log"
