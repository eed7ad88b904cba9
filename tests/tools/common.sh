# Sourced by the scripts beside it: strictness, a folder for their files, and how to fail.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
