# shellcheck shell=bash
# What the scripts of the cluster share: where it lies, and how to get into it. To be sourced.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# default_base is a folder in memory, one for each copy of the project: slurmctld syncs its state to disk, and a busy
# disk stalls the whole cluster. Short, because paths of sockets may have 107 characters.
default_base() {
  local name dir=/tmp free
  name=busbar-slurm-$(id -u)-$(printf '%s' "$root" | cksum | cut -d' ' -f1)
  free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 262144 ]; then dir=/dev/shm; fi
  echo "$dir/$name"
}

BASE=${BUSBAR_SLURM:-$(default_base)} # all nodes see this folder, at this path
case $BASE in
  /*[[:space:]]*) echo "the cluster's folder must be a path without spaces (BUSBAR_SLURM): $BASE" >&2 && exit 2 ;;
  /*) ;;
  *) echo "the cluster's folder must be an absolute path (BUSBAR_SLURM): $BASE" >&2 && exit 2 ;;
esac
export BASE
export mark=.busbar-slurm # stands in a folder that may be cleared away

# What a node has of its own; all of it goes with the process that was first in there.
export NAMESPACES="--net --mount --uts --ipc --pid --fork --kill-child --mount-proc"

# login_node prints the words that make the namespaces of the login node, in which those of the nodes are made.
login_node() { echo "unshare $(if [ "$(id -u)" != 0 ]; then echo "--user --map-root-user"; fi) $NAMESPACES"; }

# Without root all is done as the calling user, who is "root" of a user namespace: only there may one make the others.
# Daemons and commands run in one more, as oneself: as root slurmctld would ask for setgroups(), which is denied there.
as_self() { if [ "$(id -u)" != 0 ]; then echo "unshare --user --map-user=$(id -u) --map-group=$(id -g)"; fi; }

# head_pid prints the process whose death ends the cluster; it fails if that is gone, or is another by now.
head_pid() {
  local pid
  pid=$(cat "$BASE/run/head.pid" 2>/dev/null) && grep -qzxF -- "$BASE" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# enter PID prints the words that enter the namespaces of what PID has started.
enter() { echo "nsenter -t $1 --mount --uts --ipc --net --pid=/proc/$1/ns/pid_for_children"; }
