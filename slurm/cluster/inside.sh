#!/usr/bin/env bash
# The first process in a namespace of the cluster; only up.sh starts it:
#   inside.sh head BASE           the login node, with munged, slurmctld and the bridge
#   inside.sh node BASE nodeN     a compute node, with a slurmd
#   inside.sh boot BASE nodeN     on the login node: creates the namespaces of nodeN and connects its network
# AS is the command before each daemon, SHARED the folders that nodes share besides BASE, NODES the number of nodes,
# NAMESPACES the namespaces of a node.
# shellcheck disable=SC2086 # AS and NAMESPACES are several words
set -euo pipefail
self=$(readlink -f "$0")
role=$1 BASE=$2 node=${3:-}
export BASE

boot() {
  local node=$1 i=${1#node} pid
  setsid unshare $NAMESPACES "$self" node "$BASE" "$node" >>"$BASE/log/$node.out" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$BASE/run/$node.pid" # a PID in the login node's namespace
  until [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do
    kill -0 "$pid"
    sleep 0.02
  done
  ip link del "veth$i" 2>/dev/null || true
  # A restarted node keeps its MAC address: other nodes have the old one in their ARP caches for seconds.
  ip link add "veth$i" type veth peer name eth0 address "$(printf '02:77:00:00:00:%02x' "$i")" netns "$pid"
  ip link set "veth$i" master br0 up
}

# private FOLDER mounts a private FOLDER that contains only the shared folders.
private() {
  local dir own=$BASE/spool/$node/${1##*/}
  [ -d "$1" ] || return 0 # no /dev/shm
  mkdir -p "$own"
  mount -t tmpfs -o mode=1777 tmpfs "$own"
  local IFS=:
  for dir in $BASE $SHARED; do
    case $dir in
      "$1"/*)
        mkdir -p "$own${dir#"$1"}"
        mount --bind "$dir" "$own${dir#"$1"}"
        ;;
    esac
  done
  mount --rbind "$own" "$1"
}

head_node() {
  local i
  hostname login
  mount --bind "$BASE/etc" /etc/slurm # so nobody needs SLURM_CONF
  mount --bind "$BASE/etc/hosts" /etc/hosts
  ip link set lo up
  ip link add br0 type bridge
  ip addr add 10.77.0.254/24 dev br0
  ip link set br0 up
  $AS munged --foreground --force --key-file="$BASE/munge/munge.key" --socket="$BASE/run/munge.sock" \
    --pid-file="$BASE/run/munged.pid" --log-file="$BASE/log/munged.log" --seed-file="$BASE/munge/seed" &
  daemons=($!)
  until [ -S "$BASE/run/munge.sock" ]; do
    kill -0 "${daemons[0]}"
    sleep 0.02
  done
  $AS slurmctld -D &
  daemons+=($!)
  for i in $(seq "$NODES"); do boot "node$i"; done
}

compute_node() {
  hostname "$node"
  # rank identifies hosts by the boot ID.
  cat /proc/sys/kernel/random/uuid >"$BASE/spool/$node.boot_id"
  mount --bind "$BASE/spool/$node.boot_id" /proc/sys/kernel/random/boot_id
  private /tmp
  # Open MPI names its shared memory by host and job only.
  private /dev/shm
  until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
  ip link set lo up
  ip addr add "10.77.0.${node#node}/24" dev eth0
  cd /
  # Tasks inherit the batch policy. Otherwise ranks that share a core in MPI_Init, one spinning and one sleeping briefly,
  # can block all other processes for a minute.
  $AS chrt --batch 0 slurmd -D &
}

# The first process of a PID namespace inherits orphans, and its children end with it. The cluster ends with its daemons.
daemons=()
wait_for_daemons() {
  if [ ${#daemons[@]} = 0 ]; then
    sleep infinity &
    daemons=($!)
  fi
  wait -n "${daemons[@]}" || true
  echo "munged or slurmctld exited; the cluster stops"
}

case $role in
  head) head_node; wait_for_daemons ;;
  node) compute_node; wait_for_daemons ;;
  boot) boot "$node" ;;
esac
