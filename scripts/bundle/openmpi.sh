#!/usr/bin/env bash
# openmpi.sh FOLDER copies this machine's Open MPI into FOLDER, which can be moved: the launcher, its daemon,
# libraries, help texts, and the plugins that require only copied libraries. It leaves out plugins for fabrics, and so
# UCX, libfabric and the verbs libraries. The script prints the names of the copied files for the licence notices.
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck source=scripts/lib/target.sh
. scripts/lib/target.sh
to=$1
# Folders below the prefix are compiled into Open MPI, so the layout is Debian's.
lib=$to/lib/$triplet/openmpi/lib
from=$root/usr/lib/$triplet
# Plugins of MPI-IO and OpenSHMEM, which rank does not use.
readonly UNUSED='^mca_(io|fbtl|fcoll|fs|sharedfp|atomic|memheap|scoll|spml|sshmem)_'

# shellcheck source=scripts/bundle/copy.sh
. scripts/bundle/copy.sh

# fits reports whether all libraries of a plugin were copied.
fits() {
  local name
  for name in $(needed "$1"); do
    of_glibc "$name" || [ -e "$lib/$name" ] || return 1
  done
}

# Debian's libevent requires glibc 2.36 for two functions; libevent.c replaces them.
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

mpirun=$(readlink -e "$root/usr/bin/mpirun.openmpi") || fail "mpirun.openmpi is missing"
mkdir -p "$to/bin" "$lib/openmpi3" "$to/share/openmpi" "$to/etc" "$to/pmix/lib/pmix"
libevent
for program in "$mpirun" "$(dirname "$mpirun")/orted"; do
  copy "$program" "$to/bin/${program##*/}" "\$ORIGIN/../lib/$triplet/openmpi/lib"
  libraries "$program"
done
ln -s orterun "$to/bin/mpirun"
libraries "$from/libmpi.so.40"
copy "$from/libmpi.so.40" "$lib/libmpi.so.40" "\$ORIGIN"
# Ranks and launcher communicate through this plugin; its library belongs to no fabric.
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
for text in "$root"/usr/share/openmpi/help-*.txt; do
  cp "$text" "$to/share/openmpi/"
  echo "$text"
done
cp scripts/bundle/openmpi-mca-params.conf "$to/etc/"
