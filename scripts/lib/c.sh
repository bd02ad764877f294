# shellcheck shell=bash
# Functions of the scripts that build and test C code. The sourcing script sets `me`, its own name, and defines the
# functions build FOLDER FLAG… and check NAME FLAG…, which builds into $folder/NAME and runs the test.
# shellcheck disable=SC2034,SC2154 # the scripts use cc and flags, and set me
cc=${CC:-cc}
flags=(-std=gnu11 -Wall -Wextra -Werror -pthread)
read -ra extra <<<"${CFLAGS:-}"
folder=''
trap 'rm -rf "$folder"' EXIT

fail() {
  printf "$me: %s\n" "$@" >&2
  exit 1
}

need_cc() { command -v "$cc" >/dev/null || fail "C compiler $cc not found; set CC to another."; }

# build_or_test WORD FOLDER FILES builds into FOLDER if WORD is empty and prints the names FILES. If WORD is test, it
# tests in a temporary folder, without and with sanitizers.
build_or_test() {
  case $1 in
  '')
    build "$2" -O2 ${extra[@]+"${extra[@]}"}
    printf '%s: made with %s\n' "$2/$3" "$(command -v "$cc")"
    ;;
  test)
    folder=$(mktemp -d)
    check plain -O2
    check sanitized -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
    ;;
  *)
    echo "usage: $me.sh [test]" >&2
    exit 1
    ;;
  esac
}
