#!/usr/bin/env bash
# The baseline of a machine in one command: all_reduce from 8 B to 8 GiB, then the merged table, pictures and a report.
#   slurm/baseline.sh [-np N] [--host LIST | --hostfile FILE] [--out DIR] [--sync DEST] [--spot] [rank flags]
# It wants no Slurm: mpirun starts a rank for each GPU, or for each core (2 to 8) where there is no GPU. Sizes that memory
# does not hold are recorded as skipped. The same command with --resume measures what is missing in DIR.
#   --out DIR     where everything goes (results/baseline)
#   --sync DEST   copy DIR to DEST every 30 s and at the end: s3://bucket/prefix (aws CLI), or a folder (an EBS volume)
#   --spot        watch for EC2's spot notice: the case in hand is ended, DIR is copied, --resume goes on elsewhere
# The exit code is rank's (rank --help), or that of post where rank ended with 0.
set -euo pipefail
me=baseline
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# sbatch runs a copy of this file, with nothing beside it.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "baseline: submit from the folder that has slurm/ in it, or start slurm/baseline.sh where it lies" >&2
  exit 2
}

out=results/baseline sync='' spot='' rehearse='' children=()
read_arguments "--out --sync" "--spot" "$@"

# choose sets the ranks, and puts the flags that nobody gave before the others.
choose() {
  local devices own=(--sweep baseline --out "$out")
  devices=$(gpus)
  if [ -n "$rehearse" ]; then
    say "stand-ins take the places of GPUs and NCCL: their figures say nothing about hardware"
    np=${np:-2}
  elif [ ${#hosts[@]} -gt 0 ]; then
    [ -n "$np" ] || give_up 1 "the number of ranks is missing" "With --host or --hostfile, -np says how many ranks there are on all hosts together."
    if [ "$devices" -gt 0 ] && ! given --backend; then own+=(--backend nccl); fi
  elif [ "$devices" -ge 2 ]; then
    np=${np:-$devices}
    given --backend || own+=(--backend nccl)
  elif [ "$devices" = 1 ] && ! given --backend; then
    say "one GPU: two ranks share it, which tries every step and whose speed means nothing; two such machines show the network between them: --host A,B -np 2"
    np=${np:-2}
    own+=(--backend nccl --allow-shared-gpu)
  else
    np=${np:-$(cores)}
    given --time-limit || own+=(--time-limit 5m)
  fi
  flags=("${own[@]}" ${flags[@]+"${flags[@]}"})
}

# meant prints the exit code that rank wrote at the end of its newest file: a launcher may give another one.
meant() {
  local file
  file=$(find "$out" -maxdepth 1 -name 'profile_*.jsonl' -not -name '*_ranks.jsonl' -newer "$out/machine.txt" | sort | tail -n 1)
  if [ -n "$file" ]; then tail -n 1 "$file" | sed -n 's/^{"kind":"end",.*"code":\([0-9]*\).*/\1/p'; fi
}

# report makes everything that is drawn from the files; each step is tried whatever became of the one before.
report() {
  local code=0
  "$top/bin/post" merge -o "$out" ${rehearse:+--include-rehearsed} "$out" || code=$?
  "$top/bin/post" plot -o "$out/plots" ${rehearse:+--include-rehearsed} "$out" || code=$?
  "$top/bin/post" report --layout comparison -o "$out/report" ${rehearse:+--include-rehearsed} "$out" || code=$?
  return "$code"
}

need_programs
case " ${flags[*]-} " in *" --rehearse "* | *" --simulate "*) rehearse=1 ;; esac
if given --step; then
  give_up 1 "--step measures training steps, and a baseline is of all_reduce" "mpirun -np N bin/rank --step MODEL, or sbatch slurm/sweep.sh --step MODEL."
fi
choose
make_folder "$out"
machine >"$out/machine.txt"
say "$np ranks; results go to $out"

(start "$np" -- "${flags[@]}") </dev/null &
launcher=$!
trap 'kill -TERM "$launcher" 2>/dev/null' TERM INT
if [ -n "$sync" ]; then
  "$here/sync-results.sh" --every 30 --while "$launcher" "$out" "$sync" </dev/null &
  children+=("$!")
fi
if [ -n "$spot" ]; then
  "$here/spot-watch.sh" --pid "$launcher" ${sync:+--sync "$out" "$sync"} </dev/null &
  children+=("$!")
fi
code=0
wait "$launcher" || code=$?
# A signal ends the wait before the launcher ends.
while kill -0 "$launcher" 2>/dev/null; do
  code=0
  wait "$launcher" || code=$?
done
if [ "$code" != 0 ]; then
  wanted=$(meant)
  code=${wanted:-$code}
fi
for child in ${children[@]+"${children[@]}"}; do wait "$child" || true; done
case $code in
  1 | 2) give_up "$code" "rank measured nothing, or ended early ($code)" "What it said is above." ;;
esac

drawn=0
report || drawn=$?
if [ -n "$sync" ]; then "$here/sync-results.sh" "$out" "$sync" || say "the report is not in $sync; it is in $out"; fi
printf '\n'
find "$out" -type f -not -name '*.svg' | sort | sed 's/^/  /'
if [ "$code" != 0 ]; then say "rank ended with $code; what it said is above (bin/rank --help explains the codes)"; fi
exit $((code > 0 ? code : drawn))
