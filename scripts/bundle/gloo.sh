#!/usr/bin/env bash
# gloo.sh FOLDER copies the shim for Gloo into FOLDER, and libgloo with what it needs into FOLDER/gloo, where the shim
# finds them wherever FOLDER is moved. The C++ library stays the system's: it is part of nearly every one, and Debian's
# wants a newer glibc than Gloo itself does. The names of the files of Debian that were copied are printed.
set -euo pipefail
cd "$(dirname "$0")/../.."

to=$1
lib=$to/gloo
export OF_SYSTEM='libstdc\+\+|libgcc_s'
# shellcheck source=scripts/bundle/copy.sh
. scripts/bundle/copy.sh

mkdir -p "$lib"
copy lib/busbar-gloo.so "$to/busbar-gloo.so" "\$ORIGIN/gloo" >/dev/null
libraries lib/busbar-gloo.so
