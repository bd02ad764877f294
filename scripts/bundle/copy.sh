# Sourced by the scripts that copy libraries of this machine into a bundle. $lib is the folder.
# shellcheck shell=bash disable=SC2154 # lib is the caller's

fail() {
  printf 'bundle: %s\n' "$@" >&2
  exit 1
}

needed() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# of_glibc reports whether a library is part of glibc. OF_SYSTEM is a pattern of more libraries that are not copied.
of_glibc() { [[ $1 =~ ^(lib(c|m|dl|rt|pthread|resolv)|ld-linux.*)\.so || $1 =~ ^(${OF_SYSTEM:-none})\.so ]]; }

# The search path is an RPATH, which precedes LD_LIBRARY_PATH: a module of another Open MPI may have set that.
copy() { # copy FILE TO RPATH
  cp -L "$1" "$2"
  chmod u+w "$2"
  patchelf --force-rpath --set-rpath "$3" "$2"
  readlink -f "$1"
}

# libraries FILE copies the libraries that FILE requires into the folder $lib, recursively.
libraries() {
  local name found
  for name in $(needed "$1"); do
    if of_glibc "$name" || [ -e "$lib/$name" ]; then continue; fi
    found=$(ldd "$1" | awk -v n="$name" '$1 == n { print $3 }')
    [ -e "$found" ] || fail "$1 requires $name, which is missing"
    copy "$found" "$lib/$name" "\$ORIGIN"
    libraries "$found"
  done
}
