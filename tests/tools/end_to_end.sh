#!/usr/bin/env bash
# The command on the examples: exit codes, the ranges that hand arithmetic gives, and equal
# bytes at one and two threads.
source "${BASH_SOURCE%/*}/common.sh"
isochrone=$1
examples=$2/scenarios/examples
datasets=$2/datasets

expect() {  # expect CODE ARGS...
  local wanted=$1 code=0
  shift
  "$isochrone" "$@" -q >"$work/out" 2>"$work/err" || code=$?
  if ((code != wanted)); then
    tail -n 20 "$work/out" "$work/err" >&2
    fail "isochrone $* ended with $code, expected $wanted"
  fi
}

# bill PLAN LOW HIGH: dollars a month
bill() {
  local usd
  usd=$("$isochrone" export "$1" --format json |
    sed -n 's/.*"bill_usd_micro": *"\([0-9]*\)[0-9]\{6\}".*/\1/p' | head -n 1)
  ((usd >= $2 && usd <= $3)) || fail "$1 bills $usd, expected $2 to $3"
}

expect 0 validate "$examples"/*.yaml

# eu-bank-fraud. Fraud: 1500 rps x 1.5 at 1.2 ms and 4 streams need 2250 x 0.0012 / 4 = 0.7
# GPUs of any kind, so 1 to 3 at each of two providers, $0.3 to 3 an hour: $440 to $13,000.
# Retraining: 12,000 H100 hours at $1.9 to 5 each, fewer on faster GPUs: $15,000 to $60,000.
# Two sites at $4,000. Together $23,000 to $81,000.
expect 0 plan "$examples/eu-bank-fraud.yaml" -o "$work/eu1.pb" --threads 1
expect 0 plan "$examples/eu-bank-fraud.yaml" -o "$work/eu2.pb" --threads 2
cmp "$work/eu1.pb" "$work/eu2.pb" || fail "one and two threads plan differently"
bill "$work/eu1.pb" 23000 81000
expect 0 verify "$examples/eu-bank-fraud.yaml" "$work/eu1.pb"
# Of another question a plan is said to be so, and not fault by fault.
expect 7 verify "$examples/eu-bank-fraud.yaml" "$work/eu1.pb" --set headroom=2
head -n 1 "$work/out" | grep -q 'is a plan of another scenario' || fail "no word of the other scenario"
(($(grep -c : "$work/out") <= 15)) || fail "every fault of a stranger is listed"
grep -q ' more; isochrone verify --all' "$work/out" || fail "the rest is not counted"
expect 0 show "$work/eu1.pb"
expect 0 show --detail "$work/eu1.pb"
expect 0 explain --region DE "$work/eu1.pb"
expect 2 explain --region EEA "$work/eu1.pb"
expect 0 diff "$work/eu1.pb" "$work/eu2.pb"
"$isochrone" export "$work/eu1.pb" --format csv --table sites |
  tail -n +2 | grep -qE ',(AT|BE|BG|CY|CZ|DE|DK|EE|ES|FI|FR|GR|HR|HU|IE|IS|IT|LI|LT|LU|LV|MT|NL|NO|PL|PT|RO|SE|SI|SK),' ||
  fail "a site outside the EEA"

# southeast-asia-latency. 400,000 x 5 + 120,000 x 8 + 150,000 x 5 = 3.71 M requests a day =
# 43 rps in the mean, about 1.7 x 1.3 x 1.15 of it at the peak: 60 to 110 rps (hours differ
# by country). One takes 400 / 8000 + 179 x 0.02 = 3.6 s of a stream, 24 streams a GPU:
# 0.15 GPUs per rps, 9 to 17 GPUs and room for waiting: 10 to 30, at $700 to $2,500 a month,
# 1 to 4 sites at $3,000: $10,000 to $87,000.
expect 0 plan "$examples/southeast-asia-latency.yaml" -o "$work/sea.pb"
bill "$work/sea.pb" 10000 87000
expect 3 plan "$examples/southeast-asia-latency.yaml" --set 'sites.only=["*/us-east*"]' \
  -o "$work/none.pb"
grep -q Jakarta "$work/out" && grep -q Nairobi "$work/out" && grep -q Dubai "$work/out" ||
  fail "the cities that Virginia cannot serve are not named"
[[ ! -e $work/none.pb ]] || fail "an infeasible question left a plan behind"

# 300 ms to the first token over a cold connection (three round trips) at 150 ms each.
expect 3 plan "$examples/southeast-asia-latency.yaml" -o "$work/none.pb" \
  --set 'workloads[0].connection=cold_tls' --set 'workloads[0].slo={ttft_p95_ms: 300}' \
  --set 'sites.only=["*/us-east*"]'

# Counting proves it: survival needs two sites. And where nothing is proven and nothing
# found, it says what to do.
expect 3 plan "$examples/eu-bank-fraud.yaml" --set limits.max_sites=1 -o "$work/none.pb"
grep -q 'sites_to_survive' "$work/out" && grep -q 'resilience: {survive: provider' "$work/out" ||
  fail "the lines that ask one site to survive its loss are not cited"

# interrupt SIGNAL LINE: sends the signal when the line of progress is there; it must end
# with 130 within a second (three are allowed on a busy machine).
interrupt() {
  local code=0 pid start
  rm -f "$work/cut.pb"
  "$isochrone" plan "$examples/southeast-asia-latency.yaml" -o "$work/cut.pb" \
    >"$work/out" 2>"$work/err" &
  pid=$!
  until grep -q "$2" "$work/err"; do
    kill -0 $pid 2>/dev/null || fail "it ended before \"$2\""
    sleep 0.02
  done
  kill -"$1" $pid
  start=$(date +%s%N)
  wait $pid || code=$?
  ((code == 130)) || fail "interrupted at \"$2\" it ended with $code"
  (($(date +%s%N) - start < 3000000000)) || fail "interrupted at \"$2\" it went on"
}
interrupt INT 'candidate sites'
[[ ! -e $work/cut.pb ]] || fail "a plan was written before there was one"
interrupt TERM 'living through'
grep -q ': interrupted' "$work/out" || fail "a plan that nobody lived through does not say so"
expect 0 verify "$examples/southeast-asia-latency.yaml" "$work/cut.pb"
grep -q 'BUT it was interrupted' "$work/out" || fail "verify takes it for a whole plan"
simulated=0
"$isochrone" simulate "$examples/southeast-asia-latency.yaml" --plan "$work/cut.pb" \
  -o "$work/whole.pb" -q >"$work/out" || simulated=$?
((simulated == 0)) || fail "living through it later ended with $simulated"
expect 0 verify "$examples/southeast-asia-latency.yaml" "$work/whole.pb"
grep -q 'none missing' "$work/out" || fail "the cells of the plan are not checked"

# A sweep: one row and one plan per point, the same bytes at one and two threads.
cat >"$work/sweep.yaml" <<EOT
name: headroom
scenario: $examples/eu-bank-fraud.yaml
grid:
  - {path: headroom, values: [1.2, 2.0]}
EOT
expect 0 sweep run "$work/sweep.yaml" -o "$work/one" --threads 1
expect 0 sweep run "$work/sweep.yaml" -o "$work/two" --threads 2
diff -r "$work/one" "$work/two" || fail "a sweep differs with the threads"
(($(wc -l <"$work/one/results.csv") == 3)) || fail "results.csv has not one row per point"

# Wrong usage and wrong input.
expect 2 paln "$examples/eu-bank-fraud.yaml"
grep -q 'did you mean "plan"' "$work/err" || fail "no suggestion for a misspelt command"
expect 2 plan "$work/absent.yaml"
printf 'name: x\nresidancy: {}\n' >"$work/bad.yaml"
expect 2 validate "$work/bad.yaml"
grep -q 'bad.yaml:2:1: error' "$work/err" || fail "the fault is not at its line"
expect 0 init -o "$work/mine.yaml"
expect 0 validate "$work/mine.yaml"
expect 0 rtt Frankfurt\ am\ Main aws/us-east-1

# One's own measurements beside the model: 400 ms measured, and a ping faster than light.
cat >"$work/places.csv" <<EOT
place,city,country,lat,lon
a,Nairobi,KE,-1.2833,36.8167
b,Mumbai,IN,19.0728,72.8826
EOT
printf 'from,to,rtt_ms_p50\na,b,400\nb,a,4\n' >"$work/pings.csv"
for format in table json csv; do
  expect 0 rtt --evaluate "$work/pings.csv" --places "$work/places.csv" --regime public \
    --no-overrides --format $format
done
[[ $(cut -d, -f1,2,4 "$work/out" | sed -n 2p) == a,b,400.000 ]] || fail "no pair a, b"
expect 2 rtt --evaluate "$work/pings.csv" --regime public
# A country that is none is told; of no pair there is no error, rather than one of 0 %.
sed 's/KE/UK/' "$work/places.csv" >"$work/uk.csv"
"$isochrone" rtt --evaluate "$work/pings.csv" --places "$work/uk.csv" 2>"$work/err" \
  >"$work/out"
grep -q 'a of "UK" first' "$work/err" || fail "an unknown country passes without a warning"
expect 0 rtt --evaluate "$work/pings.csv" --places "$work/places.csv" --min-km 9000
grep -qE '^all +0 +- +-' "$work/out" || fail "an error of no pairs: $(cat "$work/out")"
expect 0 rtt --evaluate "$work/pings.csv" --places "$work/places.csv" --min-km 9000 \
  --format json
grep -q '"median_error_pct": null' "$work/out" || fail "an error of no pairs in JSON"
# What ships is reproduced exactly, direction by direction, under its own names.
for operator in aws azure; do
  (
    echo from,to,rtt_ms_p50
    grep "^$operator/" "$datasets/measured_rtt.csv" | cut -d, -f1,2,4 |
      sed "s,$operator/,,g"
  ) >"$work/shipped.csv"
  (
    echo place,city,country,lat,lon
    grep "^$operator/" "$datasets/measured_places.csv" | cut -d, -f1-5 |
      sed "s,^$operator/,,"
  ) >"$work/shipped_places.csv"
  expect 0 rtt --evaluate "$work/shipped.csv" --places "$work/shipped_places.csv" \
    --regime backbone --min-km 0 --format csv
  (($(wc -l <"$work/out") > 300)) || fail "few pairs of $operator"
  awk -F, 'NR > 1 && $4 != $5 { print; bad = 1 } END { exit bad }' "$work/out" ||
    fail "a measured pair of $operator is not reproduced"
done
# A reserve that a cut exceeds closes the strait; one without a cut is a slip.
expect 0 rtt 'London, GB' Mumbai --cut cable/PEACE --reserve 10
grep -q 'more than its reserve: it counts as cut' "$work/out" || fail "no full strait"
expect 2 rtt 'London, GB' Mumbai --reserve 10
cp "$examples/eu-bank-fraud.yaml" "$work/measured.yaml"
echo 'network: {measured: [{file: pings.csv, places: places.csv, regime: public}]}' \
  >>"$work/measured.yaml"
"$isochrone" validate "$work/measured.yaml" 2>"$work/err" >"$work/out"
grep -q 'faster than light in fibre' "$work/err" ||
  fail "a measurement faster than light passes without a warning"

# Two requests of a log whose engine needs about 20 ms a token: the replay is near, and an
# unknown profile is named.
printf 'arrival_s,input_tokens,output_tokens,ttft_ms,e2e_ms\n0,100,51,50,1000\n9,100,51,50,1000\n' \
  >"$work/log.csv"
for format in table json csv; do
  expect 0 replay "$work/log.csv" --profile llama-3.1-8b/RTX4090-24GB/tp1/bf16 --format $format
done
(($(wc -l <"$work/out") == 13)) || fail "a replay has not three latencies of four figures"
expect 2 calibrate "$work/log.csv" -o "$work/log.csv"
expect 0 calibrate "$work/log.csv" -o "$work/own.csv"
expect 0 replay "$work/log.csv" --profile "$work/own.csv"
expect 2 replay "$work/log.csv" --profile llama-3.1-8b/RTX4090-24GB/tp1/bf61
grep -q 'did you mean' "$work/err" || fail "no suggestion for a misspelt profile"
expect 0 catalog
expect 0 explain --residency DE general
grep -qE '^ +JP +forbidden' "$work/out" || fail "adequacy is not in place, yet JP is open"
grep -qE '^ +FR +allowed' "$work/out" || fail "data may not move inside the EEA"
echo "end to end: all as expected"
