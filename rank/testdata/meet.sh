#!/usr/bin/env bash
# meet.sh PORT N PROGRAM ARGS... starts N ranks that meet over TCP and passes signals on. As torchrun does, it kills
# those that are left when one has failed. It exits with the code of rank 0, or of another rank if that is 0 or was killed.
port=$1 n=$2
shift 2
pids=() killer=''
trap 'kill -TERM "${pids[@]}" 2>/dev/null' TERM
trap 'kill -INT "${pids[@]}" 2>/dev/null' INT
for ((r = 0; r < n; r++)); do
  RANK=$r WORLD_SIZE=$n LOCAL_RANK=$r LOCAL_WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$@" &
  pids+=($!)
done
first=${pids[0]} code=0 code0=0
while [ ${#pids[@]} -gt 0 ]; do
  gone=''
  wait -n -p gone "${pids[@]}" # a signal ends it early
  ended=$?
  [ -n "$gone" ] || continue
  for i in "${!pids[@]}"; do
    if [ "${pids[i]}" = "$gone" ]; then unset "pids[i]"; fi
  done
  if [ "$gone" = "$first" ]; then code0=$ended; fi
  if [ "$ended" != 0 ]; then
    if [ "$ended" != 137 ] || [ "$code" = 0 ]; then code=$ended; fi
    if [ -z "$killer" ]; then
      (
        sleep 8
        kill -KILL "${pids[@]}"
      ) >/dev/null 2>&1 &
      killer=$!
    fi
  fi
done
if [ -n "$killer" ]; then kill "$killer" 2>/dev/null; fi
if [ "$code0" != 0 ] && [ "$code0" != 137 ]; then exit "$code0"; fi
exit "$code"
