#!/usr/bin/env bash
# Every C++ file is as clang-format 14 writes it.
#   format.sh PROGRAM ROOT
set -euo pipefail
cd "$2"
find base geo datasets scenarios sim place tools tests \
  \( -name '*.cpp' -o -name '*.h' \) -print0 | sort -z | xargs -0 "$1" --dry-run --Werror
