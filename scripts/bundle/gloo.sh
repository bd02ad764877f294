#!/usr/bin/env bash
# gloo.sh SHIM FOLDER copies the shim for Gloo into FOLDER, and libgloo with its libraries into FOLDER/gloo. FOLDER can be
# moved. The C++ library is not copied: nearly every system has one, and Debian's requires a newer glibc than Gloo. The
# script prints the names of the copied Debian files.
set -euo pipefail
cd "$(dirname "$0")/../.."

shim=$1
to=$2
lib=$to/gloo
export OF_SYSTEM='libstdc\+\+|libgcc_s'
# shellcheck source=scripts/bundle/copy.sh
. scripts/bundle/copy.sh

mkdir -p "$lib"
copy "$shim" "$to/busbar-gloo.so" "\$ORIGIN/gloo" >/dev/null
libraries "$shim"
