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
# Of paths below 15 ms only the first is left, and a shape that is given is taken: with
# shape 1/4 and deviation 2 the scale is 4 ms, and the median 0.0437 scales (a table of
# the chi-squared law with half a degree of freedom).
"$fit" --skip-from lame --below-ms 15 --shape 0.25 "$work/rtt.csv" >"$work/law"
grep -qxF "paths 1" "$work/law" || fail "long paths were not left out"
grep -qxF "shape 0.25" "$work/law" || fail "the shape that was given is not used"
for wrong in "--shape 0" "--shape x" "--below-ms nan"; do
  # shellcheck disable=SC2086
  if "$fit" $wrong "$work/rtt.csv" 2>"$work/errors"; then fail "$wrong passes"; fi
done
if "$fit" 2>"$work/errors"; then fail "no file is no question"; fi
echo "jitter_fit: an exponential law is found again"
