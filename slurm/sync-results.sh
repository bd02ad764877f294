#!/usr/bin/env bash
# Copies a folder of results to S3 or another folder. It copies only new and changed files, so you can stop and restart it
# at any time. It removes nothing at the destination.
#   slurm/sync-results.sh results s3://my-bucket/busbar        once; with the aws CLI
#   slurm/sync-results.sh results /mnt/ebs/busbar              once; any folder: an EBS volume, FSx, NFS
#   slurm/sync-results.sh --every 30 results DEST              until stopped
#   slurm/sync-results.sh --every 30 --while PID results DEST  until process PID exits, and once more
#   slurm/sync-results.sh s3://my-bucket/busbar results        back, to continue on another machine with rank --resume
# rank writes whole lines, so a copy of a file during a run is a valid file of an interrupted run.
# Exit code: 0 everything is copied; 1 usage; 2 the last round did not copy everything.
set -euo pipefail

me=sync-results
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=slurm/lib/messages.sh
. "$here/lib/messages.sh"

every='' while_pid=''

while [[ ${1:-} == -* ]]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --every | --while)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die 1 "$1 requires a number, not \"${2:-}\"" "sync-results.sh --every 30 results s3://my-bucket/busbar"
      if [ "$1" = --every ]; then every=$2; else while_pid=$2; fi
      shift
      ;;
    *) die 1 "unknown flag $1" "slurm/sync-results.sh --help lists them." ;;
  esac
  shift
done
[ $# = 2 ] || die 1 "a source and a destination are required; got $# arguments" "sync-results.sh results s3://my-bucket/busbar"
[ -z "$while_pid" ] || [ -n "$every" ] || die 1 "--while requires --every" "sync-results.sh --every 30 --while $while_pid $1 $2"
from=${1%/} to=${2%/} # find adds a slash of its own
if [[ $from$to == *s3://* ]] && ! command -v aws >/dev/null; then
  die 2 "aws not found; copying to S3 requires it" "Install the AWS CLI (Deep Learning AMIs have it), or set a folder: /mnt/ebs/busbar"
fi
if [[ $from != s3://* ]] && [ ! -d "$from" ] && [ -z "$every" ]; then die 2 "folder $from not found" "Set the folder that rank writes to (--out)."; fi

# to_folder copies each file under a temporary name first, so that the old copy is complete until it is replaced.
to_folder() {
  local file target failed=0
  while IFS= read -r -d '' file; do
    target=$to/${file#"$from"/}
    if [ -e "$target" ] && [ ! "$file" -nt "$target" ] && [ "$(stat -c %s "$file")" = "$(stat -c %s "$target")" ]; then continue; fi
    mkdir -p "$(dirname "$target")" && cp -p "$file" "$target.part" && mv "$target.part" "$target" || failed=1
  done < <(find "$from" -type f -not -name '*.part' -print0)
  wait "$!" || failed=1 # find could not read a folder
  return "$failed"
}

copy() {
  if [[ $from$to == *s3://* ]]; then
    aws s3 sync --only-show-errors "$from" "$to"
  elif [ -d "$from" ]; then
    to_folder
  fi
}

# copy_once copies, and with --every reports the first failure and the recovery.
failing=''
copy_once() {
  if copy; then
    if [ -n "$failing" ]; then warn "copying to $to works again"; fi
    failing=''
  else
    if [ -z "$failing" ] && [ -n "$every" ]; then warn "cannot copy all of $from to $to; retrying every $every s"; fi
    failing=1
  fi
}

if [ -n "$every" ]; then
  trap 'every=""' TERM INT
  while [ -n "$every" ] && { [ -z "$while_pid" ] || kill -0 "$while_pid" 2>/dev/null; }; do
    copy_once
    # In steps of a second, to notice the end of the run.
    for ((i = 0; i < every; i++)); do
      sleep 1
      if [ -n "$while_pid" ] && ! kill -0 "$while_pid" 2>/dev/null; then break; fi
    done
  done
fi
[[ $from = s3://* ]] || [ -d "$from" ] || die 2 "folder $from never existed" "Set the folder that rank writes to (--out)."
copy_once
[ -z "$failing" ] || die 2 "cannot copy all of $from to $to" "The errors are above; missing files are still in $from."
