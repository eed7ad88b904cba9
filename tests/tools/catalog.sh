#!/usr/bin/env bash
# What the command says about the world: the tables keep their promises, a price says why
# it holds, and the law prints its chain.
source "${BASH_SOURCE%/*}/common.sh"
isochrone=$1

says() {  # says PATTERN ARGS...
  local pattern=$1
  shift
  "$isochrone" "$@" >"$work/out" 2>&1 || fail "isochrone $* ended with $?"
  grep -qE "$pattern" "$work/out" || fail "isochrone $* does not say: $pattern"
}

says 'ok +every place lies in its country' catalog check
! grep -q FAIL "$work/out" || fail "a promise of the tables is broken"

# Lambda names no price for Frankfurt, so its list price holds; Google's is the region's.
says '\+ +3\.9900 .* shapes of 8, on_demand: provider.s list price \(2026-09-25' \
  catalog offers --gpu H100-80GB-SXM --country DE
grep -qE '\+ +12\.9553 .* on_demand: site price' "$work/out" || fail "no site price"
grep -q 'model not stated' "$work/out" || fail "no reason for sites without a price"
if "$isochrone" catalog offers --gpu H100-80GB-SXN 2>"$work/err"; then
  fail "a GPU that does not exist has offers"
fi
grep -q 'did you mean "H100-80GB-SXM"' "$work/err" || fail "no suggestion for a GPU"
for table in sites offers rules; do
  if "$isochrone" catalog $table --country Germany 2>"$work/err"; then
    fail "$table of a country that does not exist"
  fi
  grep -q '"Germany" is no country code' "$work/err" || fail "$table: the code passes"
done

# 8B on one L4 in bf16: weights of 16 GB at 300 GB/s are 54 ms a step, never 30 a second; on
# H100 in fp8 8 GB at 3350 GB/s are 3 to 5 ms.
says '^llama-3.1-8b/L4-24GB/tp1/bf16 +[0-9.]+ +[0-9]+ +0 +0 ' catalog profiles
grep -qE '^llama-3.1-8b/H100-80GB-SXM/tp1/fp8 +[0-9.]+ +[0-9]+ +[1-9][0-9]* +[1-9]' \
  "$work/out" || fail "an H100 does not stream 80 tokens a second"

# Without a mechanism: home and the 29 others of the EEA; with one, those it opens.
says '^ +FR +allowed +free' explain --residency DE general
grep -q 'residency.csv:[0-9]*: GDPR, free movement inside the EEA' "$work/out" ||
  fail "the chain does not name the row"
grep -qE '^ +JP +forbidden' "$work/out" || fail "JP is open without adequacy"
says '^ +JP +allowed +adequacy' explain --residency DE general --mechanisms adequacy,scc
says '^ +GB +allowed +scc' explain --residency DE general --mechanisms adequacy,scc \
  --on 2032-01-01
says '^unknown in' explain --residency TZ general
echo "catalog: all as expected"
