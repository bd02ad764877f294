#!/usr/bin/env bash
#SBATCH --job-name=busbar
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH --time=01:00:00
# Measures in the image with Apptainer: sbatch deploy/container/apptainer.sh [rank flags]
# IMAGE is the file that busbar.def builds, on a filesystem that all nodes see.
# The ranks meet by TCP, so that no MPI of the host has to fit that of the image.
set -euo pipefail
image=${IMAGE:-$PWD/busbar.sif} out=$PWD/results/job$SLURM_JOB_ID
mkdir -p "$out"
# --nv adds the host's driver; /dev has the RDMA devices.
srun --mpi=none --kill-on-bad-exit=1 apptainer exec --nv --bind "$out:/results" "$image" \
  /opt/busbar/bin/rank --backend nccl --sweep baseline --out /results "$@"
