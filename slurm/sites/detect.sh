#!/usr/bin/env bash
# Prints the site of this machine (a file of this folder, without .env), or exits with 1. It checks variables of the site,
# then the name of the Slurm cluster, then hardware. For tests, SYSFS and PCLUSTER replace /sys and /opt/parallelcluster.
set -euo pipefail

found() {
  echo "$1"
  exit 0
}

cluster() {
  if [ -n "${SLURM_CLUSTER_NAME:-}" ]; then
    echo "$SLURM_CLUSTER_NAME"
  else
    { timeout 10 scontrol show config 2>/dev/null || true; } | sed -n 's/^ClusterName *= *//p'
  fi
}

case ${NERSC_HOST:-} in perlmutter) found perlmutter ;; esac
case ${LUMI_STACK_NAME:-${LMOD_SYSTEM_NAME:-}} in *LUMI* | *lumi*) found lumi ;; esac
if [ -d "${PCLUSTER:-/opt/parallelcluster}" ]; then found pcluster; fi
case $(cluster) in
  perlmutter*) found perlmutter ;;
  lumi*) found lumi ;;
  parallelcluster*) found pcluster ;;
esac

for device in "${SYSFS:-/sys}"/class/infiniband/*; do
  [ -e "$device" ] || continue
  case $(basename "$(readlink -f "$device/device/driver")") in
    efa) found aws-efa ;;
    mlx5_core | mlx4_core) found infiniband ;;
  esac
  case ${device##*/} in
    efa* | rdmap*) found aws-efa ;;
    mlx*) found infiniband ;;
  esac
done
exit 1
