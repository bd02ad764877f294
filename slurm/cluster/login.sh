#!/usr/bin/env bash
# Runs a command inside the cluster of up.sh, in the current folder: login.sh [--on nodeN] [--as USER] CMD…
# The default is the login node; --as requires root.
# shellcheck disable=SC2046,SC2086 # commands of several words
set -euo pipefail
# shellcheck source=slurm/cluster/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

node='' user=''
while :; do
  case ${1:-} in
    --on) node=$2 && shift 2 ;;
    --as) user=$2 && shift 2 ;;
    *) break ;;
  esac
done
head=$(head_pid) || {
  echo "slurm cluster: no cluster in $BASE; run make slurm-up" >&2
  exit 1
}
into=$(enter "$head")
if [ "$(id -u)" != 0 ]; then into+=" --user --preserve-credentials"; fi
if [ -n "$node" ]; then into+=" $(enter "$(<"$BASE/run/$node.pid")")"; fi
into+=" ${BUSBAR_SLURM_AS-$(as_self)}"
if [ -n "$user" ]; then
  into+=" setpriv --reuid=$(id -u "$user") --regid=$(id -g "$user") --clear-groups env HOME=/tmp USER=$user LOGNAME=$user"
fi
# shellcheck disable=SC2016 # for the shell in the namespaces
exec $into bash -c 'cd "$0" 2>/dev/null || cd /; exec "$@"' "$PWD" "$@"
