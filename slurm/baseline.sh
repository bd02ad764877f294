#!/usr/bin/env bash
# Measures the baseline of a machine: all_reduce from 8 B to 8 GiB, then the report with its table and plots.
#   slurm/baseline.sh [-np N] [--host LIST | --hostfile FILE] [--out DIR] [--sync DEST] [--spot] [rank flags]
# It does not require Slurm: mpirun starts one rank per GPU, or without GPUs one per core (2 to 8). Message sizes that
# exceed memory are skipped. The same command with --resume measures what is missing in DIR.
#   --out DIR     folder of all output (results/baseline)
#   --sync DEST   copy DIR to DEST every 30 s and at the end: s3://bucket/prefix (aws CLI), or a folder (an EBS volume)
#   --spot        on EC2's spot notice finish the current case and copy DIR; --resume continues on another machine
# The exit code is that of rank (rank --help), or of post if rank exits with 0.
set -euo pipefail
me=baseline
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# sbatch runs a copy of this file in another folder.
if [ ! -e "$here/lib/launch.sh" ]; then here=${SLURM_SUBMIT_DIR:-.}/slurm; fi
# shellcheck source=slurm/lib/launch.sh
. "$here/lib/launch.sh" || {
  echo "baseline: slurm/lib not found; submit from the folder that contains slurm/" >&2
  exit 2
}

out=results/baseline sync='' spot='' rehearse='' children=()
read_arguments "--out --sync" "--spot" "$@"

# choose_defaults sets np, and puts default flags before the given ones.
choose_defaults() {
  local devices own=(--sweep baseline --out "$out")
  devices=$(gpus)
  if [ -n "$rehearse" ]; then
    info "GPUs and NCCL are simulated; the results do not describe hardware"
    np=${np:-2}
  elif [ ${#hosts[@]} -gt 0 ]; then
    [ -n "$np" ] || die 1 "--host and --hostfile require -np" "Set -np to the number of ranks on all hosts."
    if [ "$devices" -gt 0 ] && ! has_flag --backend; then own+=(--backend nccl); fi
  elif [ "$devices" -ge 2 ]; then
    np=${np:-$devices}
    has_flag --backend || own+=(--backend nccl)
  elif [ "$devices" = 1 ] && ! has_flag --backend; then
    info "one GPU: two ranks share it, so their speed has no meaning; to measure the network between two machines: --host A,B -np 2"
    np=${np:-2}
    own+=(--backend nccl --allow-shared-gpu)
  else
    np=${np:-$(cores)}
    has_flag --time-limit || own+=(--time-limit 5m)
  fi
  flags=("${own[@]}" ${flags[@]+"${flags[@]}"})
}

# recorded_code prints the exit code in rank's newest results file; the launcher may exit with another.
recorded_code() {
  local file
  file=$(find "$out" -maxdepth 1 -name 'profile_*.jsonl' -not -name '*_ranks.jsonl' -newer "$out/machine.txt" | sort | tail -n 1)
  if [ -n "$file" ]; then tail -n 1 "$file" | sed -n 's/^{"kind":"end",.*"code":\([0-9]*\).*/\1/p'; fi
}

need_programs
case " ${flags[*]-} " in *" --rehearse "* | *" --simulate "*) rehearse=1 ;; esac
if has_flag --step; then
  die 1 "baseline.sh does not support --step" "Use mpirun -np N bin/rank --step MODEL, or sbatch slurm/sweep.sh --step MODEL."
fi
choose_defaults
make_folder "$out"
describe_machine >"$out/machine.txt"
info "$np ranks; results: $out"

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
# A signal ends wait before the launcher exits.
while kill -0 "$launcher" 2>/dev/null; do
  code=0
  wait "$launcher" || code=$?
done
if [ "$code" != 0 ]; then
  recorded=$(recorded_code)
  code=${recorded:-$code}
fi
for child in ${children[@]+"${children[@]}"}; do wait "$child" || true; done
case $code in
  1 | 2) die "$code" "rank exited with $code" "Its error message is above." ;;
esac

report=0
"$top/bin/post" report ${rehearse:+--include-simulated} "$out" || report=$?
if [ -n "$sync" ]; then "$here/sync-results.sh" "$out" "$sync" || info "the report was not copied to $sync; it is in $out"; fi
printf '\n'
find "$out" -type f -not -name '*.svg' | sort | sed 's/^/  /'
if [ "$code" != 0 ]; then info "rank exited with $code; its message is above (bin/rank --help explains the codes)"; fi
exit $((code > 0 ? code : report))
