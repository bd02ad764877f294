#!/usr/bin/env bash
# mpirun for tests, demos and documents: `scripts/mpirun.sh -np 4 bin/rank …`, with what Open MPI wants of root and of
# more ranks than cores. MPIRUN names another launcher (mpirun.mpich); the variables mean nothing to it.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Allowed always, so that -np is free; Open MPI then yields only when there really are more ranks than slots.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
exec "${MPIRUN:-mpirun}" "$@"
