# shellcheck shell=bash
# What submit.sh and campaign.sh share: the settings of a site, which have to be known before a job is submitted. It is
# sourced by a script that has set `here`, the folder of the scripts, and `me`, its own name.
# shellcheck disable=SC2154 # here and me are theirs

fail() {
  printf "$me: %s\n" "$@" >&2
  exit 1
}

sites() { (cd "$here/sites" && printf '%s ' *.env) | sed 's/\.env//g'; }

detected() { if [ -x "$here/sites/detect.sh" ]; then "$here/sites/detect.sh" 2>/dev/null || true; fi; }

# take_site NAME exports what slurm/sites/NAME.env says; without a name BUSBAR_SITE, else what is detected, else generic.
# settings is what it changed.
take_site() {
  local site=${1:-${BUSBAR_SITE:-$(detected)}} before
  site=${site:-generic}
  [ -e "$here/sites/$site.env" ] || fail "there is no site \"$site\" in $here/sites; there is $(sites)"
  before=$(export -p | sort)
  # shellcheck source=/dev/null
  . "$here/sites/$site.env"
  export BUSBAR_SITE=$site
  # shellcheck disable=SC2034 # for the scripts
  settings=$(comm -13 <(echo "$before") <(export -p | sort) | sed 's/^declare -x //')
}

need_sbatch() { command -v sbatch >/dev/null || fail "there is no sbatch here: submit on the login node of a cluster with Slurm"; }
