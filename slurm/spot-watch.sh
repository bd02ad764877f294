#!/usr/bin/env bash
# Watches for EC2's spot notice and ends a run in good order: the case in hand is ended, results are copied.
#   slurm/spot-watch.sh --pid PID [--sync DIR DEST]      PID is mpirun, busbar-run or srun
#   slurm/spot-watch.sh --job JOBID [--sync DIR DEST]    a Slurm job of slurm/sweep.sh, which requeues itself
#   slurm/spot-watch.sh --once                           asks once and says what there is
# It asks the instance metadata service (version 2) every 5 s. On the notice, which comes two minutes before the end,
# USR1 goes to the process (or to the job's script); what still runs after --grace gets TERM, which keeps everything too.
# A rebalance recommendation is said, and results are copied; with --on-rebalance stop it is taken like the notice.
#   --interval S      seconds between two questions (5, as AWS advises)
#   --grace S         seconds that the case in hand may take (60)
#   --endpoint URL    of the metadata service (http://169.254.169.254; also AWS_EC2_METADATA_SERVICE_ENDPOINT)
# Exit code: 0 the run ended by itself, or --once and no notice; 1 usage; 2 no metadata service, or a command is missing; 3 there was a notice.
set -euo pipefail
me=spot-watch
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=slurm/lib/words.sh
. "$here/lib/words.sh"

readonly TOKEN_SECONDS=21600
pid='' job='' once='' source='' dest='' interval=5 grace=60 on_rebalance=say
endpoint=${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}
token='' status='' body='' rebalance_said='' lost_said=''

while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --once) once=1 ;;
    --sync)
      value "$1" "${3:-}"
      source=$2 dest=$3
      shift 2
      ;;
    --pid | --job | --interval | --grace | --endpoint | --on-rebalance)
      value "$1" "${2:-}"
      case $1 in
        --pid) pid=$2 ;;
        --job) job=$2 ;;
        --interval) interval=$2 ;;
        --grace) grace=$2 ;;
        --endpoint) endpoint=${2%/} ;;
        --on-rebalance) on_rebalance=$2 ;;
      esac
      shift
      ;;
    *) give_up 1 "unknown argument \"$1\"" "slurm/spot-watch.sh --help lists them." ;;
  esac
  shift
done
case $on_rebalance in
  say | stop) ;;
  *) give_up 1 "--on-rebalance is \"$on_rebalance\"" "It may be say or stop." ;;
esac
[ -n "$pid$job$once" ] || give_up 1 "nothing to watch over" "Give --pid PID of mpirun or srun, --job JOBID, or --once."
[[ $interval =~ ^[0-9]*\.?[0-9]+$ && $interval = *[1-9]* ]] || give_up 1 "--interval is \"$interval\"" "It is a number of seconds."
[[ $grace =~ ^(0|[1-9][0-9]*)$ ]] || give_up 1 "--grace is \"$grace\"" "It is a number of seconds."
[[ $pid =~ ^[0-9]*$ ]] || give_up 1 "--pid is \"$pid\"" "It is the number of a process: mpirun … & slurm/spot-watch.sh --pid \$!"
[ -z "$job" ] || command -v scancel >/dev/null || give_up 2 "there is no scancel here, with which job $job is told" "Start this where Slurm's commands are, on a node of the job; without Slurm: --pid PID."
command -v curl >/dev/null || give_up 2 "there is no curl, with which the metadata service is asked" "Install it: apt-get install curl, or dnf install curl."

# ask METHOD PATH [HEADER…] sets status (000 where nobody answered) and body. No proxy stands before this service.
ask() {
  local method=$1 path=$2 answer header words=()
  shift 2
  for header in "$@"; do words+=(-H "$header"); done
  answer=$(curl -s --noproxy '*' --connect-timeout 2 --max-time 5 -X "$method" ${words[@]+"${words[@]}"} -w '\n%{http_code}' "$endpoint$path" || true)
  status=${answer##*$'\n'} body=${answer%$'\n'*}
}

# get asks for a path with a token, and takes a new one where the old is not known any more.
get() {
  local try
  for try in 1 2; do
    if [ -z "$token" ]; then
      ask PUT /latest/api/token "X-aws-ec2-metadata-token-ttl-seconds: $TOKEN_SECONDS"
      if [ "$status" != 200 ]; then return; fi
      token=$body
    fi
    ask GET "$1" "X-aws-ec2-metadata-token: $token"
    if [ "$status" != 401 ]; then return; fi
    token=''
  done
}

# notice prints what is to happen and when, and is true, where EC2 has announced it.
notice() {
  get /latest/meta-data/spot/instance-action
  if [ "$status" = 200 ]; then
    note "spot notice: $body"
    return 0
  fi
  if unanswered; then return 1; fi
  if [ -n "$rebalance_said" ]; then return 1; fi
  get /latest/meta-data/events/recommendations/rebalance
  if [ "$status" = 200 ]; then
    rebalance_said=1
    note "rebalance recommendation: $body; this machine is likelier than others to be taken soon"
    if [ "$on_rebalance" = stop ]; then return 0; fi
    copy
  fi
  return 1
}

# unanswered is true, and says so once, where there was no answer: what does not exist is a 404.
unanswered() {
  if [ "$status" = 404 ]; then
    lost_said=''
    return 1
  fi
  if [ -z "$lost_said" ]; then note "$endpoint does not answer (status $status); asking on"; fi
  lost_said=1
}

copy() {
  if [ -n "$source" ]; then "$here/sync-results.sh" "$source" "$dest" || note "results are not all in $dest; they are in $source"; fi
}

# queued [-t STATES] says whether Slurm has the job, in one of these states. Where the controller does not answer it is taken
# to have it: nobody else would watch.
queued() {
  local listed
  if listed=$(squeue -h -j "$job" -o %i "$@" 2>/dev/null); then
    [ -n "$listed" ]
  else
    listed=$(squeue -h -j "$job" 2>&1 || true)
    [[ $listed != *'nvalid job id'* ]]
  fi
}

# runs says whether what is watched over is still there. A job that waits in the queue is not running.
runs() {
  if [ -n "$pid" ]; then kill -0 "$pid" 2>/dev/null; else queued -t running,completing,suspended; fi
}

signal() { # signal NAME
  if [ -n "$pid" ]; then
    kill -s "$1" "$pid" 2>/dev/null || true
  else
    scancel --batch --signal="$1" "$job" || true
  fi
}

finish() {
  local waited=0 limit=$((SECONDS + grace))
  note "ending the case in hand (USR1 to ${pid:+process $pid}${job:+the script of job $job})"
  signal USR1
  while runs && [ $SECONDS -lt "$limit" ]; do sleep 1; done
  if runs; then
    note "still running after $grace s; TERM ends it now"
    signal TERM
    while runs && [ $((waited += 1)) -le 10 ]; do sleep 1; done
  fi
  copy
}

# At the start the service may be slow, so it is asked three times before this counts as no EC2 instance.
reach() {
  local try
  for try in 1 2 3; do
    get /latest/meta-data/instance-id
    if [ "$status" = 200 ]; then return; fi
    if [ "$try" -lt 3 ]; then sleep 1; fi
  done
  give_up 2 "the instance metadata service at $endpoint does not answer (status $status)" \
    "Is this an EC2 instance, with metadata switched on? In a container its hop limit has to be 2: aws ec2 modify-instance-metadata-options --http-put-response-hop-limit 2 …"
}

reach
if [ -n "$once" ]; then
  if notice; then exit 3; fi
  note "no spot notice"
  exit 0
fi
note "watching over ${pid:+process $pid}${job:+job $job} on instance $body"
# A job may still wait in the queue.
while [ -n "$job" ] && ! runs && queued; do sleep "$interval"; done
while runs; do
  if notice; then
    finish
    exit 3
  fi
  sleep "$interval"
done
