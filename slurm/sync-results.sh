#!/usr/bin/env bash
# Copies a folder of results to where it outlives the machine. Only what is new or has changed is copied, so it may be
# stopped and started at any time; nothing is ever removed at the other end.
#   slurm/sync-results.sh results s3://my-bucket/busbar        once; with the aws CLI
#   slurm/sync-results.sh results /mnt/ebs/busbar              once; any folder: an EBS volume, FSx, NFS
#   slurm/sync-results.sh --every 30 results DEST              until stopped
#   slurm/sync-results.sh --every 30 --while PID results DEST  until that process ends, and once more
#   slurm/sync-results.sh s3://my-bucket/busbar results        back, to go on with rank --resume on another machine
# rank writes whole lines, so a copy of a file that is being written is a valid file of an interrupted run.
# Exit code: 0 all is copied; 1 usage; 2 the last round could not copy everything.
set -euo pipefail

me=sync-results
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=slurm/lib/words.sh
. "$here/lib/words.sh"

every='' while_pid=''

while [[ ${1:-} == -* ]]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --every | --while)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || give_up 1 "$1 wants a number, not \"${2:-}\"" "sync-results.sh --every 30 results s3://my-bucket/busbar"
      if [ "$1" = --every ]; then every=$2; else while_pid=$2; fi
      shift
      ;;
    *) give_up 1 "unknown flag $1" "slurm/sync-results.sh --help lists them." ;;
  esac
  shift
done
[ $# = 2 ] || give_up 1 "two places are wanted, from and to; $# were given" "sync-results.sh results s3://my-bucket/busbar"
[ -z "$while_pid" ] || [ -n "$every" ] || give_up 1 "--while wants --every: how often to copy until that process ends" "sync-results.sh --every 30 --while $while_pid $1 $2"
from=${1%/} to=${2%/} # find adds a slash of its own
if [[ $from$to == *s3://* ]] && ! command -v aws >/dev/null; then
  give_up 2 "there is no aws command, which copies to S3" "Install the AWS CLI (Deep Learning AMIs have it), or name a folder: /mnt/ebs/busbar"
fi
if [[ $from != s3://* ]] && [ ! -d "$from" ] && [ -z "$every" ]; then give_up 2 "there is no folder $from" "Name the folder that rank writes to (--out)."; fi

# to_folder copies each file under a name of its own first, so that what was there before is whole until it is replaced.
to_folder() {
  local file target failed=0
  while IFS= read -r -d '' file; do
    target=$to/${file#"$from"/}
    if [ -e "$target" ] && [ ! "$file" -nt "$target" ] && [ "$(stat -c %s "$file")" = "$(stat -c %s "$target")" ]; then continue; fi
    mkdir -p "$(dirname "$target")" && cp -p "$file" "$target.part" && mv "$target.part" "$target" || failed=1
  done < <(find "$from" -type f -not -name '*.part' -print0)
  wait "$!" || failed=1 # what find could not look into is not copied either
  return "$failed"
}

copy() {
  if [[ $from$to == *s3://* ]]; then
    aws s3 sync --only-show-errors "$from" "$to"
  elif [ -d "$from" ]; then
    to_folder
  fi
}

# round copies once; in a loop a failure is said once, until it is over.
failing=''
round() {
  if copy; then
    if [ -n "$failing" ]; then note "copying to $to works again"; fi
    failing=''
  else
    if [ -z "$failing" ] && [ -n "$every" ]; then note "not all of $from could be copied to $to; trying again every $every s"; fi
    failing=1
  fi
}

if [ -n "$every" ]; then
  trap 'every=""' TERM INT
  while [ -n "$every" ] && { [ -z "$while_pid" ] || kill -0 "$while_pid" 2>/dev/null; }; do
    round
    # Looked at each second, so that the end of the run is not waited for.
    for ((i = 0; i < every; i++)); do
      sleep 1
      if [ -n "$while_pid" ] && ! kill -0 "$while_pid" 2>/dev/null; then break; fi
    done
  done
fi
[[ $from = s3://* ]] || [ -d "$from" ] || give_up 2 "there is no folder $from, and there never was while this ran" "Name the folder that rank writes to (--out)."
round
[ -z "$failing" ] || give_up 2 "not all of $from is in $to" "The lines above say why; what is missing is still in $from."
