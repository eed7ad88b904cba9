#!/usr/bin/env bash
# The committed coefficients of the backbone are what the program makes of the committed
# measurements.
source "${BASH_SOURCE%/*}/common.sh"
fit=$1
datasets=$2/datasets

for operator in azure aws; do
  echo from,to,rtt_ms_p50 >"$work/$operator.csv"
  grep "^$operator/" "$datasets/measured_rtt.csv" | cut -d, -f1,2,4 >>"$work/$operator.csv"
done
"$fit" "$datasets" backbone 2026-03-01 --neighbours "$work/weights.csv" --no-folds \
  "$work/azure.csv" "$datasets/measured_places.csv" \
  "$work/aws.csv" "$datasets/measured_places.csv" >"$work/row" 2>"$work/errors"
cmp "$work/weights.csv" "$datasets/neighbour_weights.csv"
grep -qF "$(cat "$work/row")," "$datasets/network_regimes.csv" ||
  fail "network_regimes.csv has no row $(cat "$work/row")"
echo "network_fit: weights and coefficients as committed"
