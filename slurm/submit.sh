#!/usr/bin/env bash
# Submits a job with the settings of a site, if sbatch requires an account, a QOS or a constraint:
#   slurm/submit.sh [--site NAME] [--dry-run] [options of sbatch] [SCRIPT] [-- flags of rank]
#   slurm/submit.sh --site perlmutter -N4 --gpus-per-node=4 -- --backend nccl --sweep full
# NAME is a file in slurm/sites/ without .env (default: BUSBAR_SITE, else what slurm/sites/detect.sh detects, else
# generic). The file overrides variables of the environment, and options of sbatch override the file. The default SCRIPT
# is slurm/sweep.sh. --dry-run prints the settings and the command.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

me=submit
# shellcheck source=slurm/lib/site.sh
. "$here/lib/site.sh"

site='' dry='' script=''
options=() flags=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit
      ;;
    --site)
      [ $# -gt 1 ] || fail "--site requires a name; known: $(site_names)"
      site=$2
      shift
      ;;
    --site=*) site=${1#*=} ;;
    --dry-run) dry=1 ;;
    --)
      shift
      flags=("$@")
      break
      ;;
    *.sh)
      [ -e "$1" ] || fail "script $1 not found"
      script=$1
      shift
      flags=("$@")
      if [ "${flags[0]:-}" = -- ]; then flags=("${flags[@]:1}"); fi
      break
      ;;
    *) options+=("$1") ;;
  esac
  shift
done
load_site "$site"
[ -n "$dry" ] || need_sbatch
line=(sbatch ${options[@]+"${options[@]}"} "${script:-$here/sweep.sh}" ${flags[@]+"${flags[@]}"})
if [ -n "$dry" ]; then
  echo "$settings"
  printf '%q ' "${line[@]}"
  echo
  exit
fi
exec "${line[@]}"
