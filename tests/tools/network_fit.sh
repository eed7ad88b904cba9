#!/usr/bin/env bash
# The committed coefficients of the backbone are what the program makes of the committed
# measurements.
set -euo pipefail
fit=$1
datasets=$2/datasets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for operator in azure aws; do
  echo from,to,rtt_ms_p50 >"$work/$operator.csv"
  grep "^$operator/" "$datasets/measured_rtt.csv" | cut -d, -f1,2,4 >>"$work/$operator.csv"
done
"$fit" "$datasets" backbone 2026-03-01 --neighbours "$work/weights.csv" --no-folds \
  "$work/azure.csv" "$datasets/measured_places.csv" \
  "$work/aws.csv" "$datasets/measured_places.csv" >"$work/row" 2>"$work/errors"
cmp "$work/weights.csv" "$datasets/neighbour_weights.csv"
grep -qF "$(cat "$work/row")," "$datasets/network_regimes.csv" || {
  echo "FAILED: network_regimes.csv has no row $(cat "$work/row")" >&2
  exit 1
}
echo "network_fit: weights and coefficients as committed"
