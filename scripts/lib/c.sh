# shellcheck shell=bash
# What scripts share that build C of ours and test it. It is sourced by a script that has set `me`, its own name, and that has
# the functions build FOLDER FLAG… and check NAME FLAG…, which builds into $folder/NAME and runs the test.
# shellcheck disable=SC2034,SC2154 # cc and flags are for the scripts, me is theirs
cc=${CC:-cc}
flags=(-std=gnu11 -Wall -Wextra -Werror -pthread)
read -ra extra <<<"${CFLAGS:-}"
folder=''
trap 'rm -rf "$folder"' EXIT

fail() {
  printf "$me: %s\n" "$@" >&2
  exit 1
}

need_cc() { command -v "$cc" >/dev/null || fail "there is no C compiler $cc here; CC=… names another."; }

# build_or_test WORD FOLDER FILES builds into FOLDER where WORD is empty, and says which FILES that made; with `test` it checks
# in a folder of its own, plain and under sanitizers.
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
