#!/usr/bin/env bash
# Refuses words that the project's English does without; CONTRIBUTING.md says why.
cd "$(dirname "$0")/../.."
! git grep -nwiIE 'told|untold|nobody|heed|heeds|heeded|mended|called off' -- . ':!*/testdata/*' ':!internal/lint/words.sh' ':!LICENSE'
