#!/usr/bin/env bash
# Runs a small real Slurm on one Linux machine, for tests:
#   up.sh                starts a login node and four compute nodes, and returns when all are idle
#   up.sh off nodeN      kills all processes of a node and removes its network at once
#   up.sh on nodeN       restarts it
#   up.sh mend           cancels all jobs, starts and resumes all nodes; fails unless all nodes are idle within 20 s
#   up.sh state          prints the nodes, the jobs and the end of slurmctld's log
#   up.sh possible       exits with 3 and the reason if this machine cannot run such a cluster
#   login.sh CMD…        runs CMD on the login node, in the current folder (--on nodeN, --as USER)
#   down.sh              stops the cluster and removes its files
# Every node has namespaces with its own host name, address, /tmp, /dev/shm and processes, and runs one slurmd, so that
# MPI sees four hosts. State, logs and sockets are in one folder, BUSBAR_SLURM (default: in /dev/shm). All nodes share it
# and the project. Another Slurm on this machine is not affected. As root every user can submit; without root (it requires
# user namespaces) only the user who started it.
# NODES=4; CPUS=4 and GPUS=4 per node, which may exceed the real ones; TASK=none (affinity binds tasks to cores, and CPUS
# must be real); SHARED=more folders in /tmp or /dev/shm that nodes share, separated by colons. OWNER=N is an open file,
# the read end of a pipe: the cluster stops when the process with the write end exits.
# shellcheck disable=SC2046 # commands of several words
set -euo pipefail
# shellcheck source=slurm/cluster/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export NODES=${NODES:-4} CPUS=${CPUS:-4} GPUS=${GPUS:-4} TASK=${TASK:-none}
export SHARED=${SHARED:+$SHARED:}$root
AS=$(as_self)
export AS

fail() {
  printf 'slurm cluster: %s\n' "$@" >&2
  exit 1
}

folders() {
  local i
  umask 022
  # Delete only the files of a cluster.
  if [ -n "$(ls -A "$BASE" 2>/dev/null)" ] && [ ! -e "$BASE/$mark" ]; then
    fail "$BASE is not empty and has no cluster; set another folder with BUSBAR_SLURM"
  fi
  mkdir -p "$BASE"
  touch "$BASE/$mark"
  rm -rf "${BASE:?}"/{etc,dev,run,state,spool,log,munge}
  mkdir -p "$BASE"/{etc,dev,run,state,log,munge,shared}
  chmod 1777 "$BASE/shared" # for the jobs of all users
  for i in $(seq "$NODES"); do mkdir -p "$BASE/spool/node$i"; done
  (umask 077 && head -c 1024 /dev/urandom >"$BASE/munge/munge.key")
}

# login runs a command on the login node, for at most 20 s.
login() { "$root/slurm/cluster/login.sh" timeout --kill-after=5 20 "$@"; }

# idle prints the number of idle nodes that run a slurmd.
idle() {
  # shellcheck disable=SC2016 # for the shell on the login node
  login bash -c 'n=$(sinfo -h -N -p main -o %T | grep -cx idle); d=$(pgrep -xc slurmd); echo $((n < d ? n : d))' 2>/dev/null || true
}

# possible creates the namespaces of the login node, of a node in it, and of a daemon there.
possible() {
  local output
  # up.sh installs missing tools later.
  command -v unshare >/dev/null || return 0
  # shellcheck disable=SC2086 # options of unshare
  output=$($(login_node) unshare $NAMESPACES $(as_self) true 2>&1) && return
  echo "this machine does not allow namespaces for user $(id -un): ${output//$'\n'/; }"
  echo "They require root with CAP_SYS_ADMIN (of containers: --privileged), or a kernel that allows user namespaces (sysctl kernel.unprivileged_userns_clone)."
  return 3
}

# stop_with_owner stops the cluster of process $1 when its owner exits.
stop_with_owner() {
  # shellcheck disable=SC2016 # for the shell that waits
  setsid bash -c 'cat <&"$0" >/dev/null; if [ "$(cat "$BASE/run/head.pid")" = "$1" ]; then "$2"; fi' \
    "$OWNER" "$1" "$root/slurm/cluster/down.sh" >/dev/null 2>&1 </dev/null &
}

up() {
  local pid end=$((SECONDS + 100))
  possible >&2 || exit
  if head_pid >/dev/null; then fail "it already runs in $BASE; make slurm-down stops it"; fi
  "$root/scripts/deps.sh" slurm
  folders
  "$root/slurm/cluster/configure.sh"
  setsid $(login_node) "$root/slurm/cluster/inside.sh" head "$BASE" >"$BASE/log/head.out" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$BASE/run/head.pid"
  if [ -n "${OWNER:-}" ]; then stop_with_owner "$pid"; fi
  while [ $SECONDS -lt $end ] && kill -0 "$pid" 2>/dev/null; do
    if [ "$(idle)" = "$NODES" ]; then
      echo "a Slurm of $NODES nodes runs in $BASE: slurm/cluster/login.sh sinfo"
      return
    fi
    sleep 0.1
  done
  tail -n 20 "$BASE"/log/*.out "$BASE/log/slurmctld.log" >&2 || true
  KEEP=1 "$root/slurm/cluster/down.sh"
  fail "it did not start in $SECONDS s; the logs are in $BASE/log"
}

mend() {
  local end=$((SECONDS + 20)) pids=("$BASE"/run/node*.pid) pid
  until [ -z "$(login squeue -h)" ] && [ "$(idle)" = ${#pids[@]} ]; do
    [ $SECONDS -lt $end ] || fail "after 20 s a job remains or a node is not idle" "$(state)"
    for pid in "${pids[@]}"; do
      # shellcheck disable=SC2016 # for the shell on the login node
      if ! login bash -c 'kill -0 "$(<"$0")"' "$pid" 2>/dev/null; then on "$(basename "$pid" .pid)"; fi
    done
    # shellcheck disable=SC2016
    login bash -c '
      squeue -h -o %A | sort -u | xargs -r scancel --quiet
      sinfo -h -N -p main -o "%N %T" | while read -r node is; do
        case $is in down* | drain*) scontrol update NodeName="$node" State=RESUME ;; esac
      done' || true
    sleep 0.3
  done
}

state() {
  local command
  for command in "sinfo -N -l" "sinfo -R" "squeue -l" "scontrol show node -o" "scontrol show job -o"; do
    printf -- '--- %s\n' "$command"
    # shellcheck disable=SC2086 # command and options
    "$root/slurm/cluster/login.sh" timeout --kill-after=1 4 $command 2>&1 | tail -n 20 || true
  done
  printf -- '--- slurmctld.log\n'
  tail -n 30 "$BASE/log/slurmctld.log" || true
}

on() { BUSBAR_SLURM_AS='' "$root/slurm/cluster/login.sh" env "AS=$AS" "$root/slurm/cluster/inside.sh" boot "$BASE" "$1"; }

check_node() { [ -e "$BASE/run/${1:-}.pid" ] || fail "unknown node \"${1:-}\" in $BASE"; }

case ${1:-up} in
  up) up ;;
  possible) possible ;;
  off)
    check_node "${2:-}"
    # shellcheck disable=SC2016 # for the shell on the login node
    "$root/slurm/cluster/login.sh" bash -c 'kill -9 "$(<"$0")"' "$BASE/run/$2.pid"
    ;;
  on)
    check_node "${2:-}"
    on "$2"
    ;;
  mend) mend ;;
  state) state ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
