#!/usr/bin/env bash
# Submits a campaign: every variant of a plan, on every number of nodes, in several launches whose order is shuffled.
#   slurm/campaign.sh [--site NAME] [--dry-run] [--out DIR] PLAN.yaml [options of sbatch]
#   slurm/campaign.sh --dry-run slurm/campaign.yaml
# It submits what the results in DIR (default results/NAME of the plan) do not have yet and what is not in the queue, as
# an array of jobs for each number of nodes, and at the end a job that merges, draws and reports. Run it again and it
# submits only what is missing. --dry-run shows the plan, its cost and the lines of sbatch, and writes nothing.
# slurm/campaign.sh --report DIR does at once what the last job does. docs/campaigns.md has the plan's keys.
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

# check_plan sets id, and lets rank read the flags of every variant as a launcher on so many nodes would show them to it: what
# it refuses here it would refuse in each job. Where the plan leaves the ranks of a node to the job, there are enough of them.
check_plan() {
  local checked said nodes ranks line words
  checked=$("$post" campaign check ${out[@]+"${out[@]}"} "$plan")
  {
    read -r id
    while read -r nodes ranks line; do
      eval "words=($line)"
      if [ "$ranks" = 0 ]; then ranks=64; fi
      said=$(OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=$((nodes * ranks)) OMPI_COMM_WORLD_LOCAL_SIZE=$ranks "$rank" --list ${words[@]+"${words[@]}"} 2>&1) ||
        [ $? != 1 ] || fail "rank does not take the flags of the plan (--nodes=$nodes): ${words[*]-}" "$said"
    done
  } <<<"$checked"
}

# ask_queue sets queued and jobs to the campaign's tasks and arrays in the queue.
ask_queue() {
  local name task array said
  if ! said=$(squeue --noheader --array --user="$(id -un)" --format='%j %K %F' 2>&1); then
    [ -n "$dry" ] || fail "squeue cannot be asked which jobs of the campaign are in the queue, so nothing is submitted: $said"
    echo "campaign: squeue cannot be asked; jobs of the campaign that are in the queue count as missing: $said" >&2
    return
  fi
  while read -r name task array; do
    case $name in "$id".report | '') continue ;; "$id".*) ;; *) continue ;; esac
    queued+=${queued:+,}${name#"$id".}:$task
    case $jobs: in *":$array:"*) ;; *) jobs+=:$array ;; esac
  done <<<"$said"
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
      [ $# = 2 ] || fail "--report wants the folder of a campaign"
      report "$2"
      ;;
    --site | --out)
      [ $# -gt 1 ] || fail "$1 wants a value$([ "$1" = --out ] || echo "; there is $(sites)")"
      if [ "$1" = --site ]; then site=$2; else out=(--out "$2"); fi
      shift
      ;;
    --site=*) site=${1#*=} ;;
    --out=*) out=("$1") ;;
    --dry-run) dry=1 ;;
    -*) fail "unknown option $1 before the plan; options of sbatch stand behind it" ;;
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
[ -n "$plan" ] || fail "which plan? slurm/campaign.sh --help tells more"
if [ ! -x "$post" ] || [ ! -x "$rank" ]; then fail "there is no bin/post or bin/rank in $here/..: make build, or unpack the bundle"; fi

check_plan
take_site "$site"
if [ -z "$dry" ]; then
  need_sbatch
  # Of two that are started at once, the second waits and finds the jobs of the first in the queue. Where the filesystem has
  # no locks there is none.
  exec 9<"$plan"
  flock -w 300 9 2>/dev/null || [ $? != 1 ] || fail "another campaign.sh has been submitting $plan for five minutes: try again when it has ended"
fi
ask_queue
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
