#!/usr/bin/env bash
# two-hosts.sh N PROGRAM ARGS... starts N ranks on two hosts that are network namespaces, connected by a virtual cable.
# They meet over TCP at the address of the first. Without root it requires user namespaces. It exits with the code of
# the first rank that fails. With SLOW_RAIL=R there are two cables, one for each local rank; cable R has
# 100 Mbit/s.
set -euo pipefail
if [ "${TWO_HOSTS:-}" = '' ]; then
  user=()
  [ "$(id -u)" = 0 ] || user=(--user --map-root-user)
  exec env TWO_HOSTS=1 unshare "${user[@]}" --net --uts --mount --pid --fork --kill-child --mount-proc bash "$0" "$@"
fi
n=$1
shift
readonly boot=/proc/sys/kernel/random/boot_id # identifies a machine
mount -t tmpfs none /mnt
cat /proc/sys/kernel/random/uuid >/mnt/boot
hostname node1
unshare --net --uts --mount sh -c "mount --bind /mnt/boot $boot && exec sleep infinity" &
second=$!
on() { if [ "$1" = 1 ]; then "${@:2}"; else nsenter --target "$second" --net --uts --mount --wd="$PWD" "${@:2}"; fi; }
until [ "$(on 2 cat $boot 2>&1)" != "$(cat $boot)" ]; do sleep 0.01; done
on 2 hostname node2
for c in 0 ${SLOW_RAIL:+1}; do
  ip link add "cable$c" type veth peer name "cable$c" netns "$second"
  for h in 1 2; do
    on "$h" ip address add "10.231.$c.$h/24" dev "cable$c"
    on "$h" ip link set "cable$c" up
    [ "$c" != "${SLOW_RAIL:-}" ] || on "$h" tc qdisc add dev "cable$c" root tbf rate 100mbit burst 32k latency 50ms
  done
done
for h in 1 2; do
  on "$h" ip link set lo up
  on "$h" ip route add default dev cable0
done
pids=()
for ((r = 0; r < n; r++)); do
  [ "${SLOW_RAIL:-}" = '' ] || export GLOO_SOCKET_IFNAME=cable$((r % (n / 2)))
  RANK=$r WORLD_SIZE=$n LOCAL_RANK=$((r % (n / 2))) LOCAL_WORLD_SIZE=$((n / 2)) MASTER_ADDR=10.231.0.1 on $((r * 2 / n + 1)) "$@" &
  pids+=($!)
done
code=0
for pid in "${pids[@]}"; do
  ended=0
  wait "$pid" || ended=$?
  [ "$code" != 0 ] || code=$ended
done
exit "$code"
