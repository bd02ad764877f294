# shellcheck shell=bash
# Sourced by the scripts that test in a bare Debian. The sourcing script defines fail.

# bare_root FOLDER [OPTION…] makes a root folder with Debian's base packages once, from the mirror that apt uses, with
# these options of debootstrap.
bare_root() {
  local to=$1 suite mirror
  shift
  [ ! -d "$to" ] || return 0
  # shellcheck disable=SC1091 # every Linux has it
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016 # the field is apt's
  mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" "Component: main" | sed -n 1p)
  echo "making a bare Debian ($suite) from ${mirror:-the default mirror}, once"
  rm -rf "$to.new"
  mkdir -p "$to.new"
  debootstrap --variant=minbase "$@" "$suite" "$to.new" ${mirror:+"$mirror"} >"$to.log" 2>&1 || {
    tail -n 20 "$to.log" >&2
    fail "debootstrap failed; its log is $to.log"
  }
  mv "$to.new" "$to"
}

# can_be_bare reports whether this user may create namespaces in this container.
can_be_bare() { [ "$(id -u)" = 0 ] && unshare --mount --net --pid --ipc --fork true 2>/dev/null; }
