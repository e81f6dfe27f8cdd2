#!/usr/bin/env bash
# The lab works as its head says: separate hosts, dead cables, power losses, slow links; and it leaves nothing behind.
set -euo pipefail
lab=$SOURCE/tests/support/lab/lab
"$lab" check

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
trap 'kill $(jobs -p) 2>/dev/null || true; "$lab" down; LAB=$PWD/other "$lab" down' EXIT

# send HOST HOST SECONDS: Mbit/s that the first host can send to the second; 0 without a connection
cat >receive.pl <<'END_OF_PERL'
use IO::Socket::INET; use Time::HiRes 'time';
my $server = IO::Socket::INET->new(LocalPort => 5000, Listen => 1, ReuseAddr => 1) or die;
open my $ready, '>', 'ready'; close $ready;
my $client = $server->accept; my ($bytes, $from) = (0, time);
$bytes += length while sysread $client, $_, 1 << 20;
printf "%d\n", $bytes * 8e-6 / (time - $from);
END_OF_PERL
cat >send.pl <<'END_OF_PERL'
use IO::Socket::INET; use Time::HiRes 'time';
my $server = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => 5000) or die "send: $!\n";
my $from = time;
syswrite $server, 'x' x 65536 while time - $from < $ARGV[1];
END_OF_PERL
send() {
  rm -f ready
  "$lab" on "$2" perl receive.pl &
  until [[ -e ready ]]; do sleep 0.05; done
  timeout $(($3 + 5)) "$lab" on "$1" perl send.pl "$2" "$3" || { kill $! || true; echo 0; }
  wait $! || true
}

"$lab" up 3
LAB=$PWD/other "$lab" up 1
[[ $("$lab" on n2 hostname) == n2 ]] || fail "n2 is called otherwise"
[[ $("$lab" on login cat <<<text) == text ]] || fail "standard input does not arrive"
[[ $("$lab" on n1 pwd) == "$PWD" ]] || fail "a command does not run in this folder"
status=0
"$lab" on n1 sh -c 'exit 85' || status=$?
[[ $status == 85 ]] || fail "exit code $status, not 85"
[[ $("$lab" mpirun hostname | sort | xargs) == "n1 n2 n3" ]] || fail "mpirun does not reach all hosts"
[[ $("$lab" mpirun -H n2,n3 hostname | sort | xargs) == "n2 n3" ]] || fail "mpirun does not take the hosts it is told"

"$lab" on n1 bash -c 'trap "exit 85" USR1; touch trapped; for i in {1..6000}; do sleep 0.05; done' &
until [[ -e trapped ]]; do sleep 0.05; done
kill -USR1 $!
status=0
wait $! || status=$?
[[ $status == 85 ]] || fail "USR1 does not reach a command: exit code $status"

"$lab" slow n1 20
# at_last CONDITION HOST HOST: measures `mbits`, what the first host can send to the second, and repeats it until CONDITION holds,
# because a host without a processor sends less
at_last() {
  for _ in {1..20}; do
    mbits=$(send "$2" "$3" 1)
    ! (($1)) || break
  done
}
for hosts in "n1 n2" "n2 n1"; do
  at_last 'mbits >= 15' "${hosts% *}" "${hosts#* }"
  ((mbits >= 15 && mbits <= 25)) || fail "a cable of 20 Mbit/s carries $mbits ($hosts)"
done
"$lab" fast n1
at_last 'mbits > 100' n1 n2
((mbits > 100)) || fail "a cable that is fast again carries $mbits Mbit/s"
"$lab" cut n1
[[ $(send n2 n1 1) == 0 ]] || fail "a cut cable carries"
"$lab" mend n1
at_last 'mbits > 0' n2 n1
((mbits > 0)) || fail "a mended cable does not carry"

# A power loss: the host's processes are gone, and a peer that waits for them gets nothing, not even a closed connection.
"$lab" on n3 perl receive.pl >heard &
rm -f ready
receiver=$!
until [[ -e ready ]]; do sleep 0.05; done
"$lab" on n2 perl send.pl n3 60 &
for _ in {1..100}; do
  [[ $("$lab" pids n2 | wc -l) != 2 ]] || break
  sleep 0.1
done
[[ $("$lab" pids n2 | wc -l) == 2 ]] || fail "n2 should run its init and the sender: $("$lab" pids n2)"
"$lab" kill n2
status=0
wait $! || status=$?
[[ $status == 137 ]] || fail "the lost host's command ends with $status, not 137"
sleep 1
kill -0 $receiver || fail "the peer of a lost host heard of it: $(<heard)"
! "$lab" on n2 true 2>/dev/null || fail "a lost host still answers"
"$lab" boot n2
[[ $("$lab" mpirun hostname | sort | xargs) == "n1 n2 n3" ]] || fail "a host that was booted again is not reached"

"$lab" down
[[ $(LAB=$PWD/other "$lab" on n1 hostname) == n1 ]] || fail "a lab's end took another with it"
"$lab" down
! kill -0 $receiver 2>/dev/null || fail "a process outlives the lab"

# `lab down` after a crash in the middle of `lab up`.
LAB=$PWD/other "$lab" down
LAB=$PWD/other "$lab" up 20 &
up=$!
until [[ -e other/hosts/n2/init ]]; do sleep 0.02; done
kill -KILL $up
wait $up || true
LAB=$PWD/other "$lab" down
! grep -lzxF "LAB_INIT=$PWD/other" /proc/[0-9]*/environ 2>/dev/null || fail "processes are left of a lab that crashed"
[[ $(ls other) == log ]] || fail "files are left: $(ls other)"
