#!/usr/bin/env bash
# Each example states in its comments which outcome hand arithmetic gives:
#   # Expected: A to B GPUs, C to D sites, $E to $F a month.
# This plans it quickly and holds the plan against that line. Further conditions of an
# example stand below, where its plan is at hand.
source "${BASH_SOURCE%/*}/common.sh"
isochrone=$1
examples=$2/scenarios/examples

# within NAME VALUE LOW HIGH: numbers may have thousands separators
within() {
  local value=${2//,/} low=${3//,/} high=${4//,/}
  ((value >= low && value <= high)) || fail "$1 is $value, by hand it is $low to $high"
}

# plan NAME ARGS...: leaves NAME.txt and NAME.pb; the exit code must be 0
plan() {
  local name=$1
  shift
  "$isochrone" plan "$examples/$name.yaml" -q -o "$work/$name.pb" \
    --set optimize.work=quick "$@" >"$work/$name.txt" 2>"$work/$name.err" ||
    fail "$name ended with $?: $(tail -n 3 "$work/$name.txt" "$work/$name.err")"
}

bill() { sed -nE 's/^  bill +\$([0-9,]+) a month.*/\1/p' "$work/$1.txt"; }

# check NAME ARGS...: plans and compares with the stated outcome
check() {
  local name=$1 numbers stated
  plan "$@"
  numbers='^# Expected: ([0-9,]+) to ([0-9,]+) GPUs, ([0-9]+) to ([0-9]+) sites, \$([0-9,]+) to \$([0-9,]+) a month\.$'
  stated=$(sed -nE "s/$numbers/\1 \2 \3 \4 \5 \6/p" "$examples/$name.yaml")
  [[ -n $stated ]] || fail "$name states no expected outcome"
  read -r -a stated <<<"$stated"
  local gpus sites
  gpus=$(sed -nE 's/^  hardware +([0-9]+) GPUs.*/\1/p' "$work/$name.txt")
  sites=$(sed -nE 's/^  hardware .* ([0-9]+) sites.*/\1/p' "$work/$name.txt")
  within "$name: GPUs" "$gpus" "${stated[0]}" "${stated[1]}"
  within "$name: sites" "$sites" "${stated[2]}" "${stated[3]}"
  within "$name: dollars a month" "$(bill "$name")" "${stated[4]}" "${stated[5]}"
  echo "$name: $gpus GPUs, $sites sites, \$$(bill "$name") a month, as stated"
}

# column NAME TABLE N: the distinct values of a column of an exported table
column() {
  "$isochrone" export "$work/$1.pb" --format csv --table "$2" | tail -n +2 |
    cut -d, -f"$3" | sort -u
}

case $3 in
  hospital-imaging)
    check hospital-imaging
    if column hospital-imaging sites 1 | grep -qvE '^(aws|azure|gcp)/'; then
      fail "a provider that is not known to hold C5, HDS and a BAA"
    fi
    ;;
  drug-discovery)
    check drug-discovery
    if grep ' dynamics ' "$work/drug-discovery.txt" | grep -qE 'L40|L4-|RTX|A10G|A10-|B300'; then
      fail "a GPU without FP64"
    fi
    ;;
  av-simulation)
    check av-simulation
    grep -E ' sensors ' "$work/av-simulation.txt" |
      grep -qE 'L40|RTX6000Ada|RTXPRO6000' || fail "not a GPU with graphics cores and 40 GB"
    plan av-simulation --set 'workloads[0].requires.graphics=false'
    grep -E ' sensors ' "$work/av-simulation.txt" | grep -qE 'H100|H200|B200' ||
      fail "without graphics the tensor rate should decide"
    ;;
  generative-video)
    check generative-video
    if grep -E ' clip ' "$work/generative-video.txt" | grep -qE 'L40S|40GB|24GB|PCIe'; then
      fail "a GPU below 80 GB or outside an NVLink domain of eight"
    fi
    ;;
  hyperscaler-vs-neocloud)
    check hyperscaler-vs-neocloud
    plan hyperscaler-vs-neocloud --set 'sites.tiers=[neocloud]'
    neocloud=$(bill hyperscaler-vs-neocloud)
    cp "$work/hyperscaler-vs-neocloud.pb" "$work/neocloud.pb"
    # The budget is lifted, so that the difference is known where it does not do.
    plan hyperscaler-vs-neocloud --set 'sites.tiers=[hyperscaler]' \
      --set limits.budget_usd_month=200000
    within "hyperscalers over neoclouds" "$(bill hyperscaler-vs-neocloud)" "$neocloud" 200000
    "$isochrone" diff "$work/neocloud.pb" "$work/hyperscaler-vs-neocloud.pb" >"$work/diff" ||
      (($? == 1)) || fail "no difference"
    for line in gpu egress fixed; do
      grep -q "^$line " "$work/diff" || fail "the difference names no line $line"
    done
    ;;
  edge-voice)
    check edge-voice
    ;;
  training-and-inference)
    check training-and-inference
    grep -qE '^tune runs in the valleys of chat at ' "$work/training-and-inference.txt" ||
      fail "the trainings do not fill the valleys"
    if grep -E '^gpu ' "$work/training-and-inference.txt" | grep -q ' jobs x '; then
      fail "the trainings rent GPUs of their own"
    fi
    ;;
  code-completion)
    check code-completion
    ;;
  global-chat)
    check global-chat
    ;;
  *)
    fail "no example $3"
    ;;
esac
