#!/usr/bin/env bash
# A training meets one fault after another and loses nothing: processes are killed, stopped or told to stop at any moment, the newest
# checkpoint is damaged, the disk fills up, cables are cut or slowed, hosts lose power, and attempts resume on other hosts and numbers
# of ranks, some while the former still runs.
#
#   tests/run.sh -R train_torture       six faults of different kinds, which the seed chooses; FAULTS=20 has each kind once
#   FAULTS=150 SEED=7 RNNSEARCH=/path/to/build/rnnsearch SOURCE=/path/to/project bash tests/train/torture_test.sh
#                                       for a night; in an empty folder, which is kept. As root, mpirun wants
#                                       OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
#
# SEED determines the faults, their order, ranks, hosts and the updates after which they come; without it, a seed is drawn. It cannot
# determine the instruction, so reproducing a failure with its seed may take several attempts.
#
# After each attempt, at most 200 s after the fault, none of its processes runs; the newest checkpoint can be read, is not older than
# any in the log, nor more than two intervals older than the last update in the log; and the attempt had resumed from the newest
# checkpoint, or from the one before if the newest was damaged. The run ends with the batches and the bits of an undisturbed run, also
# where the number of ranks changes (--reproducible-shards). Where no virtual hosts are possible (tests/support/lab) faults are limited to
# processes and damaged checkpoints.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
: "${FAULTS:=6}" "${SEED:=$((RANDOM * 32768 + RANDOM))}"
source "$SOURCE/tests/train/support.sh"
lab=$SOURCE/tests/support/lab/lab
export LAB=$PWD/lab
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 RNNSEARCH_OVERSUBSCRIBE=1
limit=200    # seconds from a fault until the processes that it ends are gone, or until the attempt continues
interval=5   # updates between checkpoints
stall=10     # --stall-timeout; longer than a busy machine leaves a process without a processor, which must not look like a fault
export RNNSEARCH_START_TIMEOUT=40

hosts=1 run='' job='' kind=none shards=''
attempts=0 changes=0 last_ranks=0 writes_cut=0 launchers_ended=0 worst=0 worst_kind=none
declare -A count=()
disks=()        # a small file system for each run, which a fault can fill
forgiven=0      # the lines of the log that tell of checkpoints which a fault has damaged

fail() {
  echo "FAILED: $run: $*" >&2
  [[ ! -e $run.$attempts.log ]] || tail -n 5 "$run.$attempts.log" >&2
  exit 1
}

leave() {
  local code=$?
  kill -KILL $job $(grep -lszF "TORTURE=$PWD/" /proc/[0-9]*/environ | cut -d / -f 3) 2>/dev/null || true
  ((hosts == 1)) || "$lab" down
  ((${#disks[@]} == 0)) || umount --lazy "${disks[@]}"
  ((code == 0)) || echo "again: SEED=$SEED FAULTS=$FAULTS; logs and checkpoints are in $PWD" >&2
}
trap leave EXIT

# --- the plan, made before anything runs, so that a seed always gives the same faults ------------------------------------------

on_processes="kill-rank kill-mpirun kill-all kill-writing kill-starting term-mpirun term-rank usr1-mpirun usr1-rank stop-rank \
  stop-starting pause-rank damaged"
on_hosts="cut cut-starting cut-briefly slow power-loss moved full-disk"
# kinds of faults that need an attempt of their own
from_the_start=" kill-starting stop-starting cut-starting moved "

# survives KIND: whether the attempt continues after such a fault, and meets the next one, too
survives() {
  [[ $1 == pause-rank || $1 == cut-briefly || $1 == slow ]]
}

deck=()
# draw_kind: draws a kind of fault; each kind comes once before any comes again
draw_kind() {
  ((${#deck[@]} > 0)) || read -ra deck <<<"$kinds"
  draw ${#deck[@]}
  kind=${deck[drawn]}
  deck=("${deck[@]:0:drawn}" "${deck[@]:drawn+1}")
}

# draw_places RANKS LEAST MOST AVOIDED: sets `places`, a host for each rank, LEAST to MOST different ones, and `launcher`, one of them
draw_places() {
  local there=() width first i
  for ((i = 1; i <= hosts; ++i)); do [[ n$i == "$4" ]] || there+=("n$i"); done
  draw $(($3 - $2 + 1)) && width=$(($2 + drawn))
  draw ${#there[@]} && first=$drawn
  places=''
  for ((i = 0; i < $1; ++i)); do places+=${places:+,}${there[(first + i % width) % ${#there[@]}]}; done
  draw "$width" && launcher=${there[(first + drawn) % ${#there[@]}]}
}

# make_plan COUNT RANKS...: sets the arrays kind_of, ranks_of and so on for COUNT faults, each on one of these numbers of ranks; a last
# entry is for the attempt that finishes the run
make_plan() {
  local planned=$1 i kind former=none ranks=0 places launcher avoided=none least most later
  shift
  for ((i = 0; i <= planned; ++i)); do
    if ((i < planned)); then draw_kind; else kind=none; fi
    later=()
    while survives "$former" && [[ $from_the_start == *" $kind "* ]]; do
      later+=("$kind")
      draw_kind
    done
    deck+=("${later[@]}")
    if ! survives "$former"; then
      draw $# && ranks=${*:drawn+1:1}
      # A rank that is alone needs nobody: it goes on without its launcher and its network.
      [[ " cut cut-starting cut-briefly slow power-loss stop-rank stop-starting pause-rank kill-mpirun " != *" $kind "* ]] ||
        ((ranks > 1)) || ranks=2
      least=1 most=$((ranks < hosts ? ranks : hosts))
      [[ $avoided == none ]] || most=$((most < hosts ? most : hosts - 1))
      case $kind in
        moved) most=1 ;;
        cut | cut-starting | cut-briefly | slow | power-loss | pause-rank) least=$((hosts > 1 ? 2 : 1)) ;;
      esac
      draw_places $ranks $least $most $avoided
    fi
    avoided=none
    [[ $kind != moved ]] || avoided=$launcher
    kind_of[i]=$kind ranks_of[i]=$ranks places_of[i]=$places launcher_of[i]=$launcher
    draw "$ranks" && victim_of[i]=$drawn
    draw 25 && lines_of[i]=$((drawn + 1))
    draw 100 && milliseconds_of[i]=$drawn
    draw 1500 && early_of[i]=$drawn
    former=$kind
  done
}

# --- attempts ----------------------------------------------------------------------------------------------------------------

now() {
  echo "${EPOCHREALTIME/[.,]/}"
}

# since MICROSECONDS: prints the tenths of a second since then
since() {
  echo $((($(now) - $1) / 100000))
}

# processes ATTEMPT: prints the processes of its ranks
processes() {
  grep -lszxF "TORTURE=$PWD/$1" /proc/[0-9]*/environ | cut -d / -f 3 || true
}

process_of_rank() {
  local pid
  for pid in $(processes "$1"); do
    ! grep -qszxF "OMPI_COMM_WORLD_RANK=$2" "/proc/$pid/environ" || { echo "$pid" && return; }
  done
  fail "attempt $1 has no rank $2"
}

# mpirun's daemons on other hosts
daemons() {
  local pid
  for pid in $(pgrep -x orted || true); do
    ! grep -qszxF "LAB_INIT=$LAB" "/proc/$pid/environ" || echo "$pid"
  done
}

process_of_mpirun() {
  if ((hosts > 1)); then pgrep -P "$job" || true; else echo "$job"; fi
}

# Kills a process with all that it has started on its host. It is stopped first, so that it starts nothing in the meantime.
kill_launcher() {
  kill -STOP "$job" 2>/dev/null || return 0
  kill -KILL $(pgrep -P "$job" || true) "$job" 2>/dev/null || true
}

# newest: prints the update of the newest checkpoint that no fault has damaged; 0 without any
newest() {
  local files=("$run"/checkpoints/update-*.h5) update=0
  if is_damaged "${files[-1]}"; then unset 'files[-1]'; fi
  if [[ -e ${files[-1]-} ]]; then update=$(basename "${files[-1]#*/update-}" .h5); fi
  echo $((10#$update))
}
is_damaged() {
  [[ -e $1 ]] && cmp --quiet "$1" "$run.damaged"
}

# damage FILE HUNDREDTHS: cuts it off there, or inverts a byte there
damage() {
  local size at
  size=$(stat -c %s "$1") at=$((size * $2 / 100))
  if (($2 % 2 == 0)); then
    truncate -s $at "$1"
  else
    printf %b "\\x$(printf %x $((255 - $(od -An -tu1 -j $at -N 1 "$1"))))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
  fi
}

# highest EVENT: prints the largest update of lines with EVENT in the log; last EVENT: the update of the last such line. 0 without any;
# lines that tell of damaged checkpoints do not count
highest() {
  logged "$1" $((forgiven + 1)) | sort -n | tail -n 1 | grep . || echo 0
}
last() {
  logged "$1" $((forgiven + 1)) | tail -n 1 | grep . || echo 0
}
# logged EVENT [LINE]: prints the updates of lines with EVENT, from this line on
logged() {
  sed -n "${2:-1},\$s/^{\"event\":\"$1\",\"update\":\([0-9]*\),.*}\$/\1/p" "$run/log.jsonl" 2>/dev/null || true
}

# start FAULT [UPDATES]: starts the attempt that the plan has for this fault
start() {
  local launch=(mpirun -n "${ranks_of[$1]}") fault=$1 updates=${2:-1000000}
  ((hosts == 1)) || launch=(env "LAB_MPIRUN_HOST=${launcher_of[fault]}" "$lab" mpirun -H "${places_of[fault]}")
  attempts=$((attempts + 1))
  ((ranks_of[fault] == last_ranks)) || changes=$((changes + 1))
  last_ranks=${ranks_of[fault]}
  newest_before=$(newest) log_before=$(lines_of_log "$run") began_after=$log_before
  "${launch[@]}" -x "TORTURE=$PWD/$attempts" -x RNNSEARCH_OVERSUBSCRIBE -x RNNSEARCH_START_TIMEOUT \
    "$RNNSEARCH" $(train_arguments "$run" "$updates") $shards \
    --checkpoint-every $interval --stall-timeout $stall >"$run.$attempts.log" 2>&1 &
  job=$!
}

runs() {
  [[ -n $job ]] && kill -0 "$job" 2>/dev/null
}

# gets_on LINES: waits until the attempt has logged LINES more updates and other events
gets_on() {
  local from
  from=$(now)
  until (($(lines_of_log "$run") >= log_before + $1)); do
    runs || fail "attempt $attempts ended by itself"
    (($(since "$from") < limit * 10)) || fail "attempt $attempts does not get on"
    sleep 0.02
  done
}

# ended SINCE: waits for the end of attempt `attempts`, or fails; sets `code`
ended() {
  local at=$1 tenths patience=50
  while [[ -n $(processes $attempts) ]]; do
    (($(since "$at") < limit * 10)) || fail "attempt $attempts hangs: $(ps -o pid,stat,wchan,args $(processes $attempts))"
    sleep 0.05
  done
  # mpirun has no timeout and may wait for a lost host for ever, so it is ended here, as by cluster/run.
  while runs; do
    if [[ $kind == cut* || $kind == power-loss ]] && ((--patience == 0)); then
      launchers_ended=$((launchers_ended + 1))
      kill_launcher
    fi
    (($(since "$at") < limit * 10)) || fail "mpirun of attempt $attempts hangs"
    sleep 0.1
  done
  code_of wait "$job" 2>/dev/null
  job=
  tenths=$(since "$at")
  if ((tenths > worst)); then worst=$tenths worst_kind=$kind; fi
}

# Checks after the end of an attempt, when none runs.
nothing_is_lost() {
  local there resumed
  there=$(newest)
  if ((there > 0)); then
    "$RNNSEARCH" inspect "$run/checkpoints/update-$(printf %08d "$there").h5" >inspected || fail "the newest checkpoint is damaged"
    is_damaged "$(last_checkpoint "$run")" || "$RNNSEARCH" inspect "$(last_checkpoint "$run")" >inspected ||
      fail "the latest checkpoint is damaged"
  fi
  ((there >= $(highest checkpoint))) || fail "update $(highest checkpoint) was saved, but the newest checkpoint is $there"
  # one interval, and another one while the checkpoint of the first is written
  ((there >= $(last update) - 2 * interval)) || fail "update $(last update) was done, but the newest checkpoint is $there"
  ((code != 85 || there == $(last update) || forgiven > 0 && $(last update) == 0)) || fail "it stopped after $(last update) and saved only $there"
  for resumed in $(logged resume $((began_after + 1))); do
    ((resumed >= newest_before)) || fail "attempt $attempts went on from $resumed, though there was $newest_before"
  done
}

# No daemon of mpirun may be left, except after network faults, where daemons cannot notice the end and a scheduler would remove them.
sweep() {
  local from
  from=$(now)
  [[ $kind != cut* && $kind != power-loss ]] || kill -KILL $(daemons) 2>/dev/null || true
  while [[ -n $(daemons)$(processes $attempts) ]]; do
    (($(since "$from") < limit * 10)) || fail "something stays: $(ps -o pid,stat,args $(daemons) $(processes $attempts))"
    sleep 0.1
  done
}

# --- faults ------------------------------------------------------------------------------------------------------------------

# meet FAULT: causes this fault of the plan
meet() {
  local ranks victim host at from old old_job holder next next_job newest
  kind=${kind_of[$1]}
  ranks=${ranks_of[$1]} victim=${victim_of[$1]}
  if ! runs; then start "$1"; fi
  if [[ $kind == stop-starting || $kind == cut-starting ]]; then
    until (($(processes $attempts | wc -l) == ranks)); do
      runs || fail "attempt $attempts ended by itself"
      sleep 0.01
    done
    sleep "0.$(printf %03d $((early_of[$1] / 5)))"
  elif [[ $kind == kill-starting ]]; then
    sleep "$(printf '%d.%03d' $((early_of[$1] / 1000)) $((early_of[$1] % 1000)))"
  else
    gets_on "${lines_of[$1]}"
    sleep "0.$(printf %03d "${milliseconds_of[$1]}")"
  fi
  host=$(cut -d , -f $((victim + 1)) <<<"${places_of[$1]}")
  count[$kind]=$((${count[$kind]:-0} + 1))
  at=$(now)
  echo "$(date +%T) $run, attempt $attempts ($ranks ranks on ${places_of[$1]}): $kind, rank $victim"
  case $kind in
    kill-rank) kill -KILL "$(process_of_rank $attempts "$victim")" ;;
    kill-mpirun) kill -KILL "$(process_of_mpirun)" ;;
    kill-all | kill-starting | damaged)
      kill_launcher
      kill -KILL $(processes $attempts) 2>/dev/null || true
      ;;
    kill-writing)
      from=$(process_of_rank $attempts 0)
      until compgen -G "$run/checkpoints/.update-*.tmp-*" >/dev/null; do
        (($(now) - at < limit * 1000000)) || fail "attempt $attempts writes no checkpoint"
      done
      kill -KILL "$from"
      kill_launcher
      kill -KILL $(processes $attempts) 2>/dev/null || true
      [[ -z $(find "$run" -name '.update-*.tmp-*') ]] || writes_cut=$((writes_cut + 1))
      at=$(now)
      ;;
    term-mpirun) kill -TERM "$(process_of_mpirun)" ;;
    term-rank) kill -TERM "$(process_of_rank $attempts "$victim")" ;;
    usr1-mpirun) kill -USR1 "$(process_of_mpirun)" ;;
    usr1-rank) kill -USR1 "$(process_of_rank $attempts "$victim")" ;;
    stop-rank | stop-starting) kill -STOP "$(process_of_rank $attempts "$victim")" ;;
    pause-rank)
      from=$(process_of_rank $attempts "$victim")
      kill -STOP "$from"
      sleep 1
      kill -CONT "$from"
      ;;
    cut | cut-starting) "$lab" cut "$host" ;;
    cut-briefly)
      "$lab" cut "$host"
      sleep 2
      "$lab" mend "$host"
      ;;
    slow)
      "$lab" slow "$host" 5
      sleep 2
      "$lab" fast "$host"
      ;;
    power-loss) "$lab" kill "$host" ;;
    full-disk)
      head --bytes 1G /dev/zero >"$run/filler" 2>/dev/null || true
      ;;
    moved) # the host is cut off, and its ranks do not notice, because they need no other host
      "$lab" cut "$host"
      old=$attempts old_job=$job holder=$(<"$run/attempt")
      ;;
  esac

  if survives "$kind"; then
    log_before=$(lines_of_log "$run")
    if [[ $kind != cut-briefly ]]; then
      gets_on 8
      return
    fi
    # TCP notices only after some time that the cable is back. If the ranks time out before, the attempt just ends.
    while runs && (($(lines_of_log "$run") < log_before + 8)); do
      (($(since "$at") < limit * 10)) || fail "attempt $attempts neither goes on nor ends"
      sleep 0.1
    done
    [[ -n $(processes $attempts) ]] && return
  fi

  if [[ $kind == moved ]]; then
    start $(($1 + 1))
    # The former attempt writes log lines, too, so these do not show that the next one has begun. The next one may end early where Open
    # MPI's ranks fail to connect, and is then started again, as by cluster/run.
    while [[ $(<"$run/attempt") == "$holder" ]]; do
      (($(since "$at") < limit * 10)) || fail "attempt $attempts does not take over the run"
      if ! runs; then
        echo "attempt $attempts ended before it took over: $(grep -m 1 '^\[comm\]\|^rnnsearch' "$run.$attempts.log")"
        start $(($1 + 1))
      fi
      sleep 0.02
    done
    log_before=$(lines_of_log "$run")
    gets_on 8
    # the former attempt has to notice the takeover
    next=$attempts next_job=$job
    attempts=$old job=$old_job
    ended "$at"
    ((code != 0 && code != 85)) || fail "the attempt that was left behind ended with code $code"
    grep -q "another trainer has taken over" "$run.$attempts.log" ||
      fail "attempt $attempts has not said why it ended"
    attempts=$next job=$next_job
    "$lab" mend "$host"
    return
  fi

  ended "$at"
  case $kind in
    *-rank | usr1-mpirun)
      if [[ $kind == term-rank || $kind == usr1-* ]]; then
        ((code == 85)) || fail "expected code 85 after $kind, found $code"
      else
        ((code != 0 && code != 85)) || fail "expected a failure after $kind, found code $code"
      fi
      ;;
    *) ((code != 0)) || fail "code 0 after $kind" ;;
  esac
  if [[ $kind == stop-rank ]]; then
    grep -q "rank $victim on [^ ]* gives no sign of life" "$run.$attempts.log" || fail "no word of rank $victim"
  fi
  if [[ $kind == full-disk ]]; then
    grep -qi "no space left" "$run.$attempts.log" || fail "no word of the full disk"
    rm "$run/filler"
  fi
  nothing_is_lost
  if [[ $kind == damaged && $(count "$run"/checkpoints/update-*.h5) -gt 1 ]]; then
    newest=$run/checkpoints/update-$(printf %08d "$(newest)").h5
    damage "$newest" "${milliseconds_of[$1]}"
    cp "$newest" "$run.damaged"
    forgiven=$(lines_of_log "$run")
  fi
  [[ $kind != cut && $kind != cut-starting ]] || "$lab" mend "$host"
  [[ $kind != power-loss ]] || "$lab" boot "$host"
  sweep
}

# batches_of RUN: prints the batch of each update in the log; an update that was done twice with different batches appears twice
batches_of() {
  sed -n 's/^{"event":"update","update":\([0-9]*\),.*\("epoch":.*\),"loss_per_word".*\("pairs":.*\),"source_words_per.*}$/\1 \2 \3/p' \
    "$1/log.jsonl" | sort -u | sort -s -n -k 1,1
}

# torture RUN FAULTS RANKS...: trains RUN with FAULTS faults, on one of these numbers of ranks in each attempt. All end with the same bits,
# because there are shards where the number of ranks changes.
torture() {
  local i updates reference
  shards=''
  (($# == 3)) || shards='--reproducible-shards 12'
  run=$1 last_ranks=${3} forgiven=0 job=
  local faults=$2
  shift 2
  make_plan "$faults" "$@"
  for ((i = 0; i < faults; ++i)); do meet $i; done
  # To the end, alone if it is the first number of ranks, or on another one.
  if runs; then
    kind=usr1-mpirun
    gets_on 1
    kill -USR1 "$(process_of_mpirun)"
    ended "$(now)"
    ((code == 85)) || fail "expected code 85, found $code"
    nothing_is_lost
    sweep
  fi
  forgiven=0
  updates=$(($(highest update) + 10)) # also beyond those that a damaged checkpoint held
  kind=none
  start "$faults" $updates
  ended "$(now)"
  ((code == 0)) || fail "it could not go on to its end"
  nothing_is_lost
  [[ -z $(find "$run" -name '.*.tmp-*') ]] || fail "a temporary of a killed attempt is still there"

  reference=undisturbed-$run
  mpirun -n "$1" "$RNNSEARCH" $(train_arguments "$reference" $updates) $shards >"$reference.log" 2>&1 || fail "$reference failed"
  expect_equal "$run" "$reference"
  diff <(batches_of "$reference") <(batches_of "$run") >batches.diff || fail "other batches: $(head -n 4 batches.diff)"
  echo "$run: $updates updates, as $reference"
}

echo "SEED=$SEED FAULTS=$FAULTS"
kinds=$on_processes
if "$lab" check 2>no-lab; then
  hosts=4
  kinds+=" $on_hosts"
  for run in two three changing; do
    mkdir $run
    mount -t tmpfs -o size=64m torture $run
    disks+=("$PWD/$run")
  done
  "$lab" up $hosts
else
  echo "without hosts and cables: $(<no-lab)"
fi
make_corpus
torture two $((FAULTS / 4)) 2
torture three $((FAULTS / 4)) 3
torture changing $((FAULTS - 2 * (FAULTS / 4))) 2 1 3 4

met=$(for kind in $kinds; do echo "$kind ${count[$kind]:-0}"; done | paste -s -d , | sed 's/,/, /g')
echo "torture: SEED=$SEED: $FAULTS faults ($met); $attempts attempts, $changes changes of the number of ranks;" \
  "$writes_cut checkpoints cut off in the middle; mpirun ended by force $launchers_ended times;" \
  "slowest end $((worst / 10)).$((worst % 10)) s ($worst_kind); nothing lost"
