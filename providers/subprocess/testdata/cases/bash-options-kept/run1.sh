set -uo pipefail
