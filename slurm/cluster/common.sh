# shellcheck shell=bash
# Functions of the scripts of the cluster: its folder, and how to enter its namespaces. To be sourced.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

# default_base prints a folder in memory, one per copy of the project: slurmctld syncs its state to disk, and a busy disk
# stalls the cluster. The name is short because socket paths have at most 107 characters.
default_base() {
  local name dir=/tmp free
  name=busbar-slurm-$(id -u)-$(printf '%s' "$root" | cksum | cut -d' ' -f1)
  free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 262144 ]; then dir=/dev/shm; fi
  echo "$dir/$name"
}

BASE=${BUSBAR_SLURM:-$(default_base)} # shared by all nodes, at this path
case $BASE in
  /*[[:space:]]*) echo "the cluster's folder must be a path without spaces (BUSBAR_SLURM): $BASE" >&2 && exit 2 ;;
  /*) ;;
  *) echo "the cluster's folder must be an absolute path (BUSBAR_SLURM): $BASE" >&2 && exit 2 ;;
esac
export BASE
export mark=.busbar-slurm # a file that marks the folder of a cluster, which may be deleted

# The namespaces of a node; they end with their first process.
export NAMESPACES="--net --mount --uts --ipc --pid --fork --kill-child --mount-proc"

# login_node prints the command that creates the namespaces of the login node, which contain those of the nodes.
login_node() { echo "unshare $(if [ "$(id -u)" != 0 ]; then echo "--user --map-root-user"; fi) $NAMESPACES"; }

# Without root the calling user is root of a user namespace, which the other namespaces require. Daemons and commands run
# in a further one as the user: as root slurmctld would call setgroups(), which is denied there.
as_self() { if [ "$(id -u)" != 0 ]; then echo "unshare --user --map-user=$(id -u) --map-group=$(id -g)"; fi; }

# head_pid prints the first process of the cluster; it fails if that does not run, or its number is reused.
head_pid() {
  local pid
  pid=$(cat "$BASE/run/head.pid" 2>/dev/null) && grep -qzxF -- "$BASE" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# enter PID prints the command that enters the namespaces of PID's children.
enter() { echo "nsenter -t $1 --mount --uts --ipc --net --pid=/proc/$1/ns/pid_for_children"; }
