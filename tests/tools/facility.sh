#!/usr/bin/env bash
# Facility-location files whose optima are worked out by hand.
#   facility.sh PROGRAM FOLDER
#
# three.txt (OR-Library's layout): demand 18, capacities 10, 10 and 12, so two sites at
# least. First and second: 45 + 4 + 5 + 3 + 5 = 62, and 9 units fit on each. With the
# third 80 or more. Without capacities one site is enough: the first 20 + 30 = 50, the
# second 25 + 25 = 50, the third 60 + 11 = 71, both of the cheap ones 62: 50.
set -euo pipefail
program=$1 folder=$2
expect() {
  local row
  row=$("$program" "${@:3}" | tail -n 1)
  read -r _ objective bound _ <<<"$row"
  [[ $objective == "$1" ]] || { echo "FAIL: $row, not $1"; exit 1; }
  awk -v b="$bound" -v least="$2" 'BEGIN { exit !(b >= least && b <= least + 0.001) }' ||
    { echo "FAIL: bound of $row"; exit 1; }
}
expect 62.000000 61.999 "$folder/three.txt"
expect 50.000000 49.999 "$folder/three.txt" --uncapacitated
expect 50.000000 49.999 "$folder/three.ufl"
complains() {
  if said=$("$program" "${@:2}" 2>&1); then echo "FAIL: accepted $*"; exit 1; fi
  [[ $said == *"$1"* ]] || { echo "FAIL: $said"; exit 1; }
}
complains "an arc of no demand" "$folder/three.txt" --format modular
complains "no such file" "$folder/none.txt"
"$program" "$folder/three.txt" --capacity 4 | grep -q infeasible ||
  { echo "FAIL: 12 of 18 is enough?"; exit 1; }
