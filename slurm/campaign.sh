#!/usr/bin/env bash
# Submits a campaign: every variant of a plan, on every number of nodes, in several launches in random order.
#   slurm/campaign.sh [--site NAME] [--dry-run] [--out DIR] PLAN.yaml [options of sbatch]
#   slurm/campaign.sh --dry-run slurm/campaign.yaml
# It submits one job array per number of nodes, and a last job that writes the report. It leaves out launches that have
# results in DIR (default: results/NAME of the plan) or are in the queue, so run it again to submit what is missing.
# --dry-run prints the plan, its cost and the sbatch commands, and writes nothing.
# slurm/campaign.sh --report DIR writes the report now. docs/campaigns.md lists the keys of a plan.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
me=campaign
# shellcheck source=slurm/lib/site.sh
. "$here/lib/site.sh"
post=$here/../bin/post rank=$here/../bin/rank

# report writes the report and show.txt; each step runs even if the one before fails.
report() {
  local dir=$1 failed=0
  "$post" report "$dir" || failed=$?
  "$post" show "$dir" >"$dir/show.txt" || failed=$?
  "$post" campaign show "$dir" || failed=$?
  echo "campaign: $dir has report.html, merged.csv, plots/ and show.txt, which ends with the variants' ratios"
  exit "$failed"
}

# check_plan sets id, and checks the flags of every variant with rank --list in a world of the job's size. If the plan does
# not set the ranks per node, it checks with 64.
check_plan() {
  local checked output nodes ranks line args
  checked=$("$post" campaign check ${out[@]+"${out[@]}"} "$plan")
  {
    read -r id
    while read -r nodes ranks line; do
      eval "args=($line)"
      if [ "$ranks" = 0 ]; then ranks=64; fi
      output=$(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=$((nodes * ranks)) OMPI_COMM_WORLD_LOCAL_SIZE=$ranks "$rank" --list ${args[@]+"${args[@]}"} 2>&1) ||
        [ $? != 1 ] || fail "rank rejects flags of the plan (--nodes=$nodes): ${args[*]-}" "$output"
    done
  } <<<"$checked"
}

# read_queue sets queued and jobs to the campaign's tasks and arrays in the queue.
read_queue() {
  local name task array output
  if ! output=$(squeue --noheader --array --user="$(id -un)" --format='%j %K %F' 2>&1); then
    [ -n "$dry" ] || fail "squeue failed, so nothing is submitted: $output"
    echo "campaign: squeue failed; jobs of the campaign in the queue count as missing: $output" >&2
    return
  fi
  while read -r name task array; do
    case $name in "$id".report | '') continue ;; "$id".*) ;; *) continue ;; esac
    queued+=${queued:+,}${name#"$id".}:$task
    case $jobs: in *":$array:"*) ;; *) jobs+=:$array ;; esac
  done <<<"$output"
}

site='' dry='' plan='' id='' queued='' jobs=''
out=() options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit
      ;;
    --report)
      [ $# = 2 ] || fail "--report requires the folder of a campaign"
      report "$2"
      ;;
    --site | --out)
      [ $# -gt 1 ] || fail "$1 requires a value$([ "$1" = --out ] || echo "; known: $(site_names)")"
      if [ "$1" = --site ]; then site=$2; else out=(--out "$2"); fi
      shift
      ;;
    --site=*) site=${1#*=} ;;
    --out=*) out=("$1") ;;
    --dry-run) dry=1 ;;
    -*) fail "unknown option $1 before the plan; options of sbatch go after it" ;;
    *)
      plan=$1
      shift
      options=("$@")
      if [ "${options[0]:-}" = -- ]; then options=("${options[@]:1}"); fi
      break
      ;;
  esac
  shift
done
[ -n "$plan" ] || fail "a plan is required; see slurm/campaign.sh --help"
if [ ! -x "$post" ] || [ ! -x "$rank" ]; then fail "bin/post or bin/rank not found in $here/..: run make build, or unpack the bundle"; fi

check_plan
load_site "$site"
if [ -z "$dry" ]; then
  need_sbatch
  # Of two concurrent campaign.sh the second waits, and then sees the jobs of the first in the queue. Without locks on the
  # filesystem it does not wait.
  exec 9<"$plan"
  flock -w 300 9 2>/dev/null || [ $? != 1 ] || fail "another campaign.sh has been submitting $plan for five minutes: retry when it has exited"
fi
read_queue
"$post" campaign show ${out[@]+"${out[@]}"} --queued "$queued" "$plan"
lines=$("$post" campaign jobs ${out[@]+"${out[@]}"} --queued "$queued" --scripts "$here" "$plan" -- ${options[@]+"${options[@]}"})
if [ -n "$dry" ]; then
  echo "$settings"
  echo "$lines"
  exit
fi
[ -n "$lines" ] || exit 0
"$post" campaign begin ${out[@]+"${out[@]}"} "$plan" >/dev/null
while read -r line; do
  echo "$line"
  number=$(eval "$line" </dev/null)
  echo "  submitted: ${number%%;*}"
  jobs+=:${number%%;*}
done <<<"$lines"
