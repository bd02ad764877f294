#!/usr/bin/env bash
#SBATCH --job-name=busbar
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=01:00:00
# Measures in the image with enroot and pyxis: sbatch deploy/container/pyxis.sh [rank flags]
# IMAGE is a squashfs file that all nodes see: enroot import -o busbar.sqsh dockerd://busbar:0.1.0 (or podman://…).
# The ranks meet by TCP, so that no MPI of the host has to fit that of the image.
set -euo pipefail
image=${IMAGE:-$PWD/busbar.sqsh} out=$PWD/results/job$SLURM_JOB_ID
mkdir -p "$out"
# enroot mounts the driver and the RDMA devices for these.
export NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility MELLANOX_VISIBLE_DEVICES=all
srun --mpi=none --kill-on-bad-exit=1 --container-image="$image" --container-mounts="$out:/results" \
  /opt/busbar/bin/rank --backend nccl --sweep baseline --out /results "$@"
