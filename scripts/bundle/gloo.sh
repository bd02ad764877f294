#!/usr/bin/env bash
# gloo.sh FOLDER copies the shim for Gloo into FOLDER, and libgloo with its libraries into FOLDER/gloo. FOLDER can be
# moved. The C++ library is not copied: nearly every system has one, and Debian's requires a newer glibc than Gloo. The
# script prints the names of the copied Debian files.
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
