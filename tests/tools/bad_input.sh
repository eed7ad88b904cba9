#!/usr/bin/env bash
# What the command answers to words and files that mean nothing, or too much.
source "${BASH_SOURCE%/*}/common.sh"
isochrone=$1
cd "$work"

# ends CODE ARGS...: leaves what it said in out and err
ends() {
  local wanted=$1 code=0
  shift
  "$isochrone" "$@" >out 2>err || code=$?
  ((code == wanted)) || fail "isochrone $* ended with $code, expected $wanted: $(tail -n 5 out err)"
}

# tells PATTERN: in what the last command said on stderr
tells() { grep -qE -- "$1" err || fail "nobody is told: $1, but: $(cat err)"; }

"$isochrone" init -o mine.yaml

# A sweep. Each mistake of the grid at its place, before anything is planned.
cat >sweep.yaml <<EOT2
name: mistakes
scenario: mine.yaml
grid:
  - {path: limits.max_site, values: [6, 5]}
  - {path: max_sites, values: [6]}
  - {path: "demand[userz].users", values: [6]}
  - {path: headroom, values: [6, no, 0.5]}
  - {path: "workloads[chat].slo.ttft_p95", values: [5]}
EOT2
ends 2 sweep run sweep.yaml -o refused
tells '^sweep.yaml:4:12: error: .* did you mean "limits.max_sites"'
tells '^sweep.yaml:5:12: error: .* did you mean "limits.max_sites"'
tells '^sweep.yaml:6:12: error: .* did you mean "users"'
tells '^sweep.yaml:7:34: error: headroom is "no"'
tells '^sweep.yaml:7:38: error: headroom is 0.5'
tells '^sweep.yaml:8:12: error: .* did you mean "workloads\[chat\].slo.ttft_p95_ms"'
(($(grep -c error: err) == 6)) || fail "not each mistake once: $(cat err)"
[[ ! -e refused ]] || fail "a refused sweep leaves a folder"
ends 2 sweep run sweep.yaml -o refused --set limits.max_sitez=3
tells 'max_sitez'

# Nothing in Virginia is lawful for Germany and France, so each point ends at once; a later
# and smaller sweep leaves no plan and no row of an earlier one.
cat >sweep.yaml <<EOT2
name: nowhere
scenario: mine.yaml
grid:
  - {path: headroom, values: [1.1, 1.2]}
  - {path: limits.max_sites, values: [1, 2]}
EOT2
virginia='sites.only=["aws/us-east-1"]'
mkdir found
touch found/point-00012.pb found/point-x.pb
ends 0 sweep run sweep.yaml -o found --threads 2 --set "$virginia"
(($(wc -l <found/results.csv) == 5)) || fail "results.csv has not one line per point"
tail -n +2 found/results.csv | cut -d, -f1 | diff - <(seq 0 3) || fail "rows out of order"
[[ ! -e found/point-00012.pb && -e found/point-x.pb ]] || fail "not just old plans are removed"
ends 0 sweep run sweep.yaml -o found1 --threads 1 --set "$virginia"
cmp found/results.csv found1/results.csv || fail "a sweep differs with the threads"

# A sweep that is killed keeps the rows that it had: here until the first is there.
"$isochrone" sweep run sweep.yaml -o killed --threads 1 --set "$virginia" >out 2>err &
for ((wait = 0; wait < 600; ++wait)); do
  [[ -s killed/results.csv ]] && (($(wc -l <killed/results.csv) > 1)) && break
  sleep 0.1
done
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
head -n 2 killed/results.csv | cmp - <(head -n 2 found/results.csv) || fail "the row is lost"

ends 2 sweep run sweep.yaml -o mine.yaml
tells 'mine.yaml: error: is a file'

# Round trips: one of several cities of a name is taken, and said; the format is kept.
ends 0 rtt London aws/us-east-1
tells '"London" is taken for London, GB; there is also London, CA \(ca-london\)'
ends 0 rtt 'London, CA' ca-london --format json
[[ ! -s err ]] || fail "a city with its country is in doubt: $(cat err)"
/usr/bin/python3 - <<EOT2 || fail "the hops do not sum to the round trip"
import json
route = json.load(open("out"))
assert route["from"] == {"name": "London", "country": "CA"}, route
assert abs(sum(hop["rtt_ms"] for hop in route["hops"]) - route["rtt_ms"]) < 1e-6, route
EOT2
ends 0 rtt gb-london aws/us-east-1 --format csv
[[ $(head -n 1 out) == what,from,to,km,rtt_ms ]] || fail "no CSV of hops"
ends 2 rtt --cut chokepoint/red_sea --format json
ends 2 rtt Frankfurt London
tells 'did you mean "Frankfurt am Main"'

# Words that are nearly right.
ends 2 catalog offers --gpu h100
tells 'did you mean "H100-80GB-SXM"'
ends 2 catalog offers --country Germany
tells 'did you mean "DE"'
ends 2 explain --residency general DE
tells 'did you mean --residency DE general'
ends 0 explain mine.yaml --residency DE general
ends 0 explain --residency DE general mine.yaml
ends 2 explain --residency DE genral
tells 'did you mean "general"'
ends 2 explain --residency DE general --mechanisms adequasy
tells 'did you mean "adequacy"'
ends 2 explain --residency DE general --on tomorrow
tells '"tomorrow" is no day'
ends 2 validate mine.yaml --seed 99999999999999999999
tells '99999999999999999999 is no whole number from 0 to 9007199254740992'
ends 2 validate mine.yaml --set seed=99999999999999999999
tells 'seed is 99999999999999999999, expected 0 to 9007199254740992'
ends 2 show --set seed=3 plan.pb
ends 2 show --seed 3 plan.pb

# The manual of commands and of fields; a name of both tells both.
ends 0 help plan
grep -q -- --time-limit out || fail "help plan tells no option of plan"
ends 0 help simulate
grep -q -- --plan out && grep -q max_requests out || fail "help simulate tells half"
ends 0 help
grep -q sweep out && grep -q headroom out || fail "help names not commands and fields"
ends 2 help plam
tells 'did you mean "plan"'
ends 2 help sites.biuld.pue
tells 'did you mean "sites.build.pue"'

# Files that are no plan.
: >empty.pb
cp empty.pb empty.json
printf '\n' >empty.textproto
for file in empty.pb empty.json empty.textproto /dev/null; do
  ends 2 show $file
  tells "^$file: error: .*empty"
done
printf '{"a"' >half.json
ends 2 show half.json
tells 'half.json: error: this is no plan in JSON'
(($(wc -l <err) == 1)) || fail "a fault of JSON takes several lines"
ends 2 show .

# What an input says is shown, not obeyed.
printf 'name: x\n"\\e]0;title\\a\\e[31m": 1\n' >escape.yaml
ends 2 validate escape.yaml
ends 2 show $'no\e[2Jsuch.pb'
cp err before
ends 2 plan $'--\e[2J'
if cat before err out | LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]'; then
  fail "a control character of an input reaches the terminal"
fi

# Languages that write numbers and letters otherwise change nothing.
for language in de_DE.UTF-8 tr_TR.UTF-8 C; do
  LC_ALL=$language "$isochrone" validate mine.yaml --normalised >"normal.$language"
  cmp "normal.$language" normal.de_DE.UTF-8 || fail "$language reads another scenario"
done

# A mark at the start and line ends of Windows are read; hostile sizes are refused.
{ printf '\xef\xbb\xbf'; sed 's/$/\r/' mine.yaml; } >windows.yaml
ends 0 validate windows.yaml
head -c 50000000 /dev/zero | tr '\0' '#' >large.yaml
ends 2 validate large.yaml
tells 'large.yaml: error: is larger than'
ends 2 show large.yaml
ends 2 validate .
ends 2 validate /dev/zero
if "$isochrone" help >/dev/full 2>err; then fail "what cannot be written is not missed"; fi
tells 'cannot write to standard output'
echo "bad input: all as expected"
