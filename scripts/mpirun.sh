#!/usr/bin/env bash
# mpirun for tests, the demo and the documentation: `scripts/mpirun.sh -np 4 bin/rank …`. It sets the variables that
# Open MPI requires for root and for more ranks than cores. MPIRUN names another launcher (mpirun.mpich), which ignores
# them.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Always allowed, so that -np has no limit; Open MPI yields only with more ranks than slots.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
exec "${MPIRUN:-mpirun}" "$@"
