#!/usr/bin/env bash
# Two paths whose mean above the floor is their deviation: Gamma of shape 1, which is
# exponential. Half of all round trips then lie under ln 2, nine tenths under ln 10 times
# the mean.
source "${BASH_SOURCE%/*}/common.sh"
fit=$1

cat >"$work/rtt.csv" <<'CSV'
from,to,rtt_ms_p50,rtt_ms_min,mdev_ms
a,b,12,10,2
b,a,22,20,2
a,a,900,1,900
lame,a,900,1,5
CSV
"$fit" --skip-from lame "$work/rtt.csv" >"$work/law"
for line in "paths 2" "shape 1.00" "deviation 0.50 2.000" "jitter 0.5 1.3863" \
  "jitter 0.9 4.6052"; do
  grep -qxF "$line" "$work/law" || fail "no line \"$line\" in: $(cat "$work/law")"
done
if "$fit" 2>"$work/errors"; then fail "no file is no question"; fi
echo "jitter_fit: an exponential law is found again"
