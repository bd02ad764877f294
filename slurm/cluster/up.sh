#!/usr/bin/env bash
# A small real Slurm on one Linux machine, for tests:
#   up.sh                starts a login node and four compute nodes, and returns when all are idle
#   up.sh off nodeN      cuts the power of a node: its processes and its network vanish at once
#   up.sh on nodeN       starts it again
#   up.sh mend           cancels all jobs, starts and resumes all nodes; fails unless all nodes are idle within 20 s
#   up.sh state          prints the nodes, the jobs and the end of slurmctld's log
#   up.sh possible       says nothing, or why this machine allows no such cluster, and ends with 3
#   login.sh CMD…        runs CMD on the login node, in the current folder (--on nodeN, --as USER)
#   down.sh              ends everything, and leaves nothing behind
# Every node is a set of namespaces with a host name, an address, /tmp, /dev/shm and processes of its own, and runs one
# ordinary slurmd, so that MPI sees four hosts. State, logs and sockets are in one folder, BUSBAR_SLURM (by default below
# /dev/shm), which all nodes see, as they see the project. A Slurm that is installed or running here is not touched.
# As root every user can submit; without root (where user namespaces are allowed) only the user who started it.
# NODES=4, CPUS=4 and GPUS=4 (of a node, they may exceed the real ones), TASK=none (affinity binds tasks to cores;
# CPUS must then be real ones), SHARED=folders below /tmp or /dev/shm that nodes see too, split by colons. OWNER=N is an
# open file: the reading end of a pipe, at whose end the cluster goes too, as when the process that holds the other died.
# shellcheck disable=SC2046 # words that make namespaces
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
  # Only what a cluster has left is cleared away.
  if [ -n "$(ls -A "$BASE" 2>/dev/null)" ] && [ ! -e "$BASE/$mark" ]; then
    fail "$BASE is not empty and not of a cluster; name another folder with BUSBAR_SLURM"
  fi
  mkdir -p "$BASE"
  touch "$BASE/$mark"
  rm -rf "${BASE:?}"/{etc,dev,run,state,spool,log,munge}
  mkdir -p "$BASE"/{etc,dev,run,state,log,munge,shared}
  chmod 1777 "$BASE/shared" # for everybody's jobs
  for i in $(seq "$NODES"); do mkdir -p "$BASE/spool/node$i"; done
  (umask 077 && head -c 1024 /dev/urandom >"$BASE/munge/munge.key")
}

# login runs a command on the login node, for at most 20 s.
login() { "$root/slurm/cluster/login.sh" timeout --kill-after=5 20 "$@"; }

# idle prints how many nodes have a slurmd and take a job, which a drained node does not, and neither one with a job.
idle() {
  # shellcheck disable=SC2016 # for the shell on the login node
  login bash -c 'n=$(sinfo -h -N -p main -o %T | grep -cx idle); d=$(pgrep -xc slurmd); echo $((n < d ? n : d))' 2>/dev/null || true
}

# possible makes the namespaces of the login node, of a node in it, and those of a daemon there.
possible() {
  local said
  # What is not installed is no word about the machine.
  command -v unshare >/dev/null || return 0
  # shellcheck disable=SC2086 # words of unshare
  said=$($(login_node) unshare $NAMESPACES $(as_self) true 2>&1) && return
  echo "this machine makes no namespaces for the user $(id -un): ${said//$'\n'/; }"
  echo "They want root with CAP_SYS_ADMIN (of containers: --privileged), or a kernel that allows user namespaces (sysctl kernel.unprivileged_userns_clone)."
  return 3
}

# go_with_owner ends the cluster of process $1 when the owner has gone, unless it was ended in good order.
go_with_owner() {
  # shellcheck disable=SC2016 # for the shell that waits
  setsid bash -c 'cat <&"$0" >/dev/null; if [ "$(cat "$BASE/run/head.pid")" = "$1" ]; then "$2"; fi' \
    "$OWNER" "$1" "$root/slurm/cluster/down.sh" >/dev/null 2>&1 </dev/null &
}

up() {
  local pid end=$((SECONDS + 100))
  possible >&2 || exit
  if head_pid >/dev/null; then fail "it is up already, in $BASE; make slurm-down ends it"; fi
  "$root/scripts/deps.sh" slurm
  folders
  "$root/slurm/cluster/configure.sh"
  setsid $(login_node) "$root/slurm/cluster/inside.sh" head "$BASE" >"$BASE/log/head.out" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$BASE/run/head.pid"
  if [ -n "${OWNER:-}" ]; then go_with_owner "$pid"; fi
  while [ $SECONDS -lt $end ] && kill -0 "$pid" 2>/dev/null; do
    if [ "$(idle)" = "$NODES" ]; then
      echo "a Slurm of $NODES nodes is up in $BASE: slurm/cluster/login.sh sinfo"
      return
    fi
    sleep 0.1
  done
  tail -n 20 "$BASE"/log/*.out "$BASE/log/slurmctld.log" >&2 || true
  KEEP=1 "$root/slurm/cluster/down.sh"
  fail "it did not come up in $SECONDS s; the logs are in $BASE/log"
}

# mend leaves nothing of earlier work: no job, and no node that is drained, down or without power.
mend() {
  local end=$((SECONDS + 20)) pids=("$BASE"/run/node*.pid) pid
  until [ -z "$(login squeue -h)" ] && [ "$(idle)" = ${#pids[@]} ]; do
    [ $SECONDS -lt $end ] || fail "after 20 s a job is left or a node is not idle" "$(state)"
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
  local words
  for words in "sinfo -N -l" "sinfo -R" "squeue -l" "scontrol show node -o" "scontrol show job -o"; do
    printf -- '--- %s\n' "$words"
    # shellcheck disable=SC2086 # words of a command
    "$root/slurm/cluster/login.sh" timeout --kill-after=1 4 $words 2>&1 | tail -n 20 || true
  done
  printf -- '--- slurmctld.log\n'
  tail -n 30 "$BASE/log/slurmctld.log" || true
}

on() { BUSBAR_SLURM_AS='' "$root/slurm/cluster/login.sh" env "AS=$AS" "$root/slurm/cluster/inside.sh" boot "$BASE" "$1"; }

node_given() { [ -e "$BASE/run/${1:-}.pid" ] || fail "there is no node \"${1:-}\" in $BASE"; }

case ${1:-up} in
  up) up ;;
  possible) possible ;;
  off)
    node_given "${2:-}"
    # shellcheck disable=SC2016 # for the shell on the login node
    "$root/slurm/cluster/login.sh" bash -c 'kill -9 "$(<"$0")"' "$BASE/run/$2.pid"
    ;;
  on)
    node_given "${2:-}"
    on "$2"
    ;;
  mend) mend ;;
  state) state ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
