echo "$- pipefail:$(set +o | grep -c "^set -o pipefail" | sed s/1/on/)"
