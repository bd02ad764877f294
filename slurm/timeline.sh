#!/usr/bin/env bash
# Makes one timeline of the traces of many ranks: a job array reduces each trace to a small facts file, and a last job
# joins them (post timeline).
#   slurm/timeline.sh [--out DIR] [--tasks N] TRACES… [-- options of sbatch]
#   slurm/timeline.sh --nodes 'node[1-128]' [--out DIR] '/local/traces/rank*.json' [-- options of sbatch]
#   --out DIR      a new folder on a filesystem that all nodes share (timeline-TIME)
#   --tasks N      jobs of the array (16)
#   --nodes LIST   the traces are on the disks of these nodes: one job on each
#   --post FLAGS   flags of post timeline: --post '--step-pattern ^step'
#   --wait HOURS   how long the last job waits for nodes that are down (4)
#   --site NAME    settings of the site (submit.sh)
# TRACES are files, patterns, or folders with *.json, *.json.gz and *.sqlite. With --nodes quote patterns: the nodes expand
# them. The last job's output, DIR/timeline.out, names each trace that was not extracted, such as those of a lost node, and
# has the timeline of the others; then its exit code is 6.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
me=timeline
# shellcheck source=slurm/lib/messages.sh
. "$here/lib/messages.sh"
# shellcheck source=slurm/lib/site.sh
. "$here/lib/site.sh"
post_program=$here/../bin/post

# list TRACES… prints the traces, one a line.
list() {
  local pattern path
  for pattern in "$@"; do
    while IFS= read -r path; do
      if [ -d "$path" ]; then find -L "$path" -type f \( -name '*.json' -o -name '*.json.gz' -o -name '*.sqlite' \); else echo "$path"; fi
    done < <(compgen -G "$pattern")
  done | sort -u
}

# extract DIR "FLAGS" [TRACES…] is a job of the array. It extracts the traces that are listed for it, or those of its node.
extract() {
  local log=$1/log/$SLURM_ARRAY_TASK_ID
  if [ $# -gt 2 ]; then list "${@:3}" >"$log.traces"; fi
  # Each trace for itself: what is done counts even if a later one hangs.
  # shellcheck disable=SC2016 # for the shell of each trace
  xargs -r -d '\n' -P "${SLURM_CPUS_ON_NODE:-1}" -I{} bash -fc '"$0" timeline $3 --extract "$1/facts" -- "$4" && echo "$4" >>"$2.done"' \
    "$post_program" "$1" "$log" "$2" {} <"$log.traces"
}

# missing DIR prints the traces that were not extracted.
missing() {
  local log node
  for log in "$1"/log/*.node; do
    node=$(<"$log") log=${log%.node}
    if [ -s "$log.traces" ]; then
      comm -23 <(sort "$log.traces") <(sort "$log.done" 2>/dev/null) | while read -r trace; do echo "  $node$trace"; done
    elif [ -e "$log.traces" ]; then
      echo "  ${node}no trace found"
    else
      echo "  ${node}all its traces: no job ran there"
    fi
  done
}

# join DIR is the last job.
join() {
  local lost code=0
  lost=$(missing "$1")
  if [ -n "$lost" ]; then info "not extracted ($1/log has the reasons):"$'\n'"$lost"; fi
  "$post_program" timeline -o "$1" "$1/facts" || code=$?
  exit $((code == 0 && ${#lost} > 0 ? 6 : code))
}

case ${1:-} in --extract | --join) "${1#--}" "${@:2}"; exit ;; esac

out=timeline-$(date +%Y%m%dT%H%M%S) tasks=16 nodes='' post='' wait=4 site=''
traces=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in
    -h | --help) usage && exit ;;
    --out | --tasks | --nodes | --post | --wait | --site)
      require_value "$@"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    -*) die 1 "unknown option $1" "Options of sbatch go after --." ;;
    *) traces+=("$1") ;;
  esac
  shift
done
[ ${#traces[@]} -gt 0 ] || die 1 "no traces" "slurm/$me.sh --help shows an example."
[[ $tasks$wait =~ ^[1-9][0-9]*$ ]] || die 1 "--tasks is \"$tasks\", --wait \"$wait\"" "Set whole numbers."
[ -x "$post_program" ] || die 2 "$post_program not found" "Run make build, or start $me.sh from an unpacked bundle."
load_site "$site"
need_sbatch
if [ -n "$nodes" ]; then
  mapfile -t names < <(scontrol show hostnames "$nodes")
  [ ${#names[@]} -gt 0 ] || die 1 "no node in $nodes" "Name nodes as sinfo lists them: --nodes 'node[1-4]'"
else
  mapfile -t names < <(list "${traces[@]}")
  [ ${#names[@]} -gt 0 ] || die 2 "no trace in ${traces[*]}" "Name files or folders of the filesystem that nodes share."
fi
mkdir -p "$out" || die 2 "cannot create $out" "Set another folder: --out DIR"
out=$(cd "$out" && pwd)
mkdir "$out/log" 2>/dev/null || die 1 "$out has an earlier timeline" "Set a new folder: --out DIR"

submit=(sbatch --parsable --job-name="$me" --time=60 "${@:2}")
words=(bash "$here/timeline.sh" --extract "$out" "$post")
if [ -n "$nodes" ]; then
  for n in "${!names[@]}"; do echo "${names[n]}: " >"$out/log/$n.node"; done
  words+=("${traces[@]}")
  more=(--hold --no-requeue --nodes=1 --deadline="now+${wait}hours")
else
  tasks=$((tasks < ${#names[@]} ? tasks : ${#names[@]}))
  for n in "${!names[@]}"; do
    readlink -f "${names[n]}" >>"$out/log/$((n % tasks)).traces"
    : >"$out/log/$((n % tasks)).node"
  done
  more=(--requeue)
fi
id=$("${submit[@]}" "${more[@]}" --array="0-$(($(find "$out/log" -name '*.node' | wc -l) - 1))" --output="$out/log/%a.out" --wrap="$(printf '%q ' "${words[@]}")")
id=${id%%;*}
if [ -n "$nodes" ]; then
  down=$(sinfo --noheader --Node --nodes="$nodes" --states=down,drain,fail --format=%n | paste -sd' ') || true
  for n in "${!names[@]}"; do
    case " $down " in
      *" ${names[n]} "*) scancel "${id}_$n" ;;
      *) { scontrol update JobId="${id}_$n" ReqNodeList="${names[n]}" && scontrol release "${id}_$n"; } || scancel "${id}_$n" ;;
    esac
  done
fi
last=$("${submit[@]}" --dependency="afterany:$id" --output="$out/timeline.out" --wrap="$(printf '%q ' bash "$here/timeline.sh" --join "$out")")
info "job ${last%%;*} writes $out/timeline.out and timeline.html after array $id"
