#!/usr/bin/env bash
# openmpi.sh FOLDER copies this machine's Open MPI into FOLDER, so that it runs from wherever FOLDER is moved: the
# launcher, its daemon, the libraries, help texts and those plugins that need nothing but what is copied. Plugins for
# fabrics are thereby left out, and with them UCX, libfabric and the verbs libraries. The names of the files that were
# copied are printed, for the notices.
set -euo pipefail
cd "$(dirname "$0")/../.."

to=$1
triplet=$(cc -print-multiarch)
# Where Open MPI looks under its prefix is fixed when it is compiled, so the layout is Debian's.
lib=$to/lib/$triplet/openmpi/lib
from=/usr/lib/$triplet
# What rank never calls: files (MPI-IO) and OpenSHMEM.
readonly UNUSED='^mca_(io|fbtl|fcoll|fs|sharedfp|atomic|memheap|scoll|spml|sshmem)_'

# shellcheck source=scripts/bundle/copy.sh
. scripts/bundle/copy.sh

# fits says whether everything that a plugin needs is there.
fits() {
  local name
  for name in $(needed "$1"); do
    of_glibc "$name" || [ -e "$lib/$name" ] || return 1
  done
}

# libevent wants glibc 2.36, for two functions that have a stand-in in libevent.c.
libevent() {
  local archive
  archive=$(mktemp -d)
  cp "$from/libevent_core.a" "$archive/core.a" || fail "the package libevent-dev is missing"
  objcopy --redefine-sym stderr=busbar_stderr "$archive/core.a"
  cc -shared -O2 -std=gnu11 -Wall -Wextra -Werror -fPIC -o "$lib/libevent_core-2.1.so.7" scripts/bundle/libevent.c \
    -Wl,-soname,libevent_core-2.1.so.7 -Wl,-Bsymbolic,-z,relro,-z,now,-z,text \
    -Wl,--whole-archive "$archive/core.a" -Wl,--no-whole-archive
  rm -r "$archive"
  readlink -f "$from/libevent_core-2.1.so.7"
}

mpirun=$(readlink -f "$(command -v mpirun.openmpi)") || fail "mpirun.openmpi is missing"
mkdir -p "$to/bin" "$lib/openmpi3" "$to/share/openmpi" "$to/etc" "$to/pmix/lib/pmix"
libevent
for program in "$mpirun" "$(dirname "$mpirun")/orted"; do
  copy "$program" "$to/bin/${program##*/}" "\$ORIGIN/../lib/$triplet/openmpi/lib"
  libraries "$program"
done
ln -s orterun "$to/bin/mpirun"
libraries "$from/libmpi.so.40"
copy "$from/libmpi.so.40" "$lib/libmpi.so.40" "\$ORIGIN"
# The one through which ranks and launcher talk; its library is no fabric's.
libraries "$from/openmpi/lib/openmpi3/mca_pmix_ext3x.so"
for plugin in "$from"/openmpi/lib/openmpi3/mca_*.so; do
  name=${plugin##*/}
  if [[ $name =~ $UNUSED ]] || ! fits "$plugin"; then continue; fi
  copy "$plugin" "$lib/openmpi3/$name" "\$ORIGIN/.."
done
for plugin in "$from"/pmix2/lib/pmix/*.so; do
  if fits "$plugin"; then copy "$plugin" "$to/pmix/lib/pmix/${plugin##*/}" "\$ORIGIN/../../../lib/$triplet/openmpi/lib"; fi
done
cp -r "$from/pmix2/share" "$to/pmix/"
for text in /usr/share/openmpi/help-*.txt; do
  cp "$text" "$to/share/openmpi/"
  echo "$text"
done
cp scripts/bundle/openmpi-mca-params.conf "$to/etc/"
