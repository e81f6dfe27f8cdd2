#!/usr/bin/env bash
# The benchmark at a small size: its figures are consistent, on one rank and on two, for updates and for translation; wrong
# options are rejected.
set -euo pipefail
source "$SOURCE/tests/support/shell.sh"
tiny=(--embedding 8 --state 8 --alignment 8 --maxout 8 --source-words 50 --target-words 60 --threads 1)

# adds_up NAME: checks that the figures of the JSON are consistent; prints a line of those to be compared
adds_up() {
  perl -MJSON::PP -e '
    local $/; my $r = decode_json(<STDIN>);
    my $fail = sub { print "@_\n"; exit 1 };
    my ($s, $p) = @$r{qw(seconds phase_seconds)};
    $s->{minimum} > 0 && $s->{minimum} <= $s->{median} && $s->{median} <= $s->{maximum} or $fail->("seconds are out of order");
    @{$s->{all}} == $r->{updates} or $fail->("not a time for each update");
    my ($sum, $all) = (0, 0); $sum += $_ for values %$p; $all += $_ for @{$s->{all}};
    abs($sum / $s->{mean} - 1) < 1e-6 && abs($all / $r->{updates} / $s->{mean} - 1) < 1e-9
      or $fail->("phases sum to $sum of $s->{mean} seconds");
    $r->{peak_memory_bytes} > 1e6 && $r->{instruction_set} && $r->{libraries} =~ /oneTBB/ && @{$r->{load_average}} == 3
      or $fail->("memory, instruction set, libraries or load is missing");
    my ($machine, $share) = @$r{qw(machine share_of_bound)};
    for my $rates (@$machine{qw(gflop_per_second gflop_per_second_of_one_thread)}) {
      $_ > 0 or $fail->("the machine multiplies at $_") for @$rates{qw(registers level1 level2)};
    }
    $machine->{memory_bytes_per_second} > 0 && ($r->{ranks} == 1) == !exists $machine->{all_reduce_bytes_per_second}
      or $fail->("bandwidths of the machine are missing");
    !exists $r->{gflop} && !%$share
      || abs($r->{gflop_per_second} / $machine->{gflop_per_second}{level1} / $share->{$r->{timed} eq "updates" ? "update" : "batch"} - 1) < 1e-6
      or $fail->("the share of the machine does not follow from its rate");
    $r->{arithmetic} =~ /^$r->{precision}/ or $fail->("the precision is not that of the arithmetic");
    if ($r->{timed} eq "updates") {
      my ($dense, $tables, $last) = (0, 0, 0);
      for my $part (@{$r->{gradient_parts}}) {
        $part->{table} < 0 ? $dense += $part->{elements} : ++$tables;
        $part->{seconds} >= $last && ($last = $part->{seconds}) <= $s->{maximum} or $fail->("parts are out of order");
      }
      my $words = $r->{configuration}{"source-words"} + $r->{configuration}{"target-words"};
      $dense == $r->{parameters} - 8 * $words && $tables == 2 or $fail->("parts are not the gradient: $dense, $tables");
      # twice (n - 1) / n of the dense part, and rows of tables besides; of one rank nothing
      my $least = 2 * ($r->{ranks} - 1) / $r->{ranks} * 4 * $dense;
      $r->{bytes_sent} >= $least && $r->{bytes_sent} <= $least + 8 * 8 * $words + 100 or $fail->("$r->{bytes_sent} bytes sent");
      $r->{visible_reduction_seconds} <= $s->{maximum} or $fail->("more was to be seen than there was");
    }
    print join(" ", $r->{timed}, $r->{updates}, $r->{ranks}, $r->{threads},
      map({ sprintf "%.0f", $r->{$_ . "_words_per_second"} * $s->{mean} } qw(source target)),
      exists $r->{gflop} ? sprintf("%.6f", $r->{gflop}) : "-",
      exists $r->{estimate} ? sprintf("%d %.3f", $r->{estimate}{updates}, $r->{estimate}{seconds} / $s->{mean}) : "-"), "\n"'
}
is() {  # expected line; then the arguments of rnnsearch benchmark after its launcher
  local expected=$1 found
  shift
  "$@" --json - >json 2>log || fail "$*: $(<log)"
  found=$(adds_up <json) || fail "$*: $found: $(<json)"
  [[ $found == "$expected" ]] || fail "$*: '$found' instead of '$expected'"
}

alone=("$RNNSEARCH" benchmark "${tiny[@]}")
together=("$MPIEXEC" -n 2 "$RNNSEARCH" benchmark "${tiny[@]}")
lengths=(--source-length 6 --target-length 4 --batch-sentences 5)
{ command -v perl >/dev/null && perl -MJSON::PP -e1; } || { echo "skipped: perl has no JSON::PP" >&2; exit 77; }
# 6 operations per weight and row: 5 rows of s_0; 35 of two encoders and the key; 25 of query, unit, contexts and readout. With dropout an
# embedding has another mask at each place of its word, and is multiplied at each.
each=(--dropout 0.1)
flop=$((6 * (5 * 64 + 35 * (2 * 16 * 24 + 16 * 8) + 25 * (64 + 16 * 24 + 16 * 40 + 16 * 16 + 8 * 60))))
gflop=$(awk "BEGIN { printf \"%.6f\", $flop / 1e9 }")
is "updates 3 1 1 30 20 $gflop -" "${alone[@]}" "${lengths[@]}" "${each[@]}" --updates 3
is "updates 3 2 1 30 20 $gflop 700 700.000" "${together[@]}" "${lengths[@]}" "${each[@]}" --updates 3 --estimate-updates 700
# Without dropout, each rank multiplies the embeddings of the only word and of </s> once for each piece of its share, in two encoders and
# the decoder.
one_word=("$RNNSEARCH" benchmark "${tiny[@]:0:8}" --threads 1 --source-words 4)
once() {  # SHARES
  awk "BEGIN { printf \"%.6f\", 6 * (5 * 64 + 35 * (2 * 8 * 24 + 16 * 8) + 25 * (64 + 8 * 24 + 16 * 40 + 16 * 16 + 8 * 4) + $1 * 2 * 3 * 8 * 24) / 1e9 }"
}
is "updates 3 1 1 30 20 $(once 2) -" "${one_word[@]}" --target-words 4 "${lengths[@]}" --updates 3 --accumulate 2
is "updates 3 2 1 30 20 $(once 4) -" "$MPIEXEC" -n 2 "${one_word[@]}" --target-words 4 "${lengths[@]}" --updates 3 --accumulate 2
# Greedy and beam: every translation has target-length words. 2 operations per weight and row; the steps are 4 of one hypothesis, or one
# of one hypothesis and 6 of three.
translation_gflop() { # STEPS SHORTLIST RANKS: of five sentences of one word, with so many steps each over so many words
  awk "BEGIN { printf \"%.6f\", 2 * (5 * 64 + 35 * (2 * 8 * 24 + 16 * 8) + $3 * 2 * 2 * 8 * 24 + 5 * $1 * (64 + 16 * 24 + 16 * 40 + 16 * 16 + 8 * $2)) / 1e9 }"
}
is "batches translated 2 1 1 30 20 $(translation_gflop 4 23 1) -" "${one_word[@]}" --target-words 60 "${lengths[@]}" --updates 2 \
  --decode --beam 1 --shortlist-frequent 20
is "batches translated 2 2 1 30 35 $(translation_gflop 19 60 2) -" "$MPIEXEC" -n 2 "${one_word[@]}" --target-words 60 \
  "${lengths[@]:0:2}" --target-length 7 --batch-sentences 5 --updates 2 --decode --beam 3
# a whole pool of real lengths has the mean lengths of the file
printf '%s\n' '3 4' '9 2' '1 12' '7 6' >lengths
is "updates 2 1 1 10 12 $(awk 'BEGIN { x = 6 * (2 * 64 + 12 * 896 + 14 * 1824) / 1e9; printf "%.6f", x }') -" \
  "${alone[@]}" --lengths lengths "${each[@]}" --batch-sentences 2 --pool-batches 2 --updates 2 --untimed-updates 0
# a configuration's limit is what is estimated; fewer pairs than ranks
echo 'max-updates = 1800' >limit.ini
is "updates 1 2 1 6 4 0.000093 1800 1800.000" "${together[@]}" --config limit.ini "${lengths[@]:0:4}" "${each[@]}" \
  --batch-sentences 1 --updates 1
# a corpus, and the configuration of a training on it
"$SOURCE/data/reversal.sh" text --train 100 --dev 5 --test 5 >/dev/null
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --tokenizer none --output corpus.h5 \
  >/dev/null
"$RNNSEARCH" train --corpus corpus.h5 --run run "${tiny[@]:0:8}" --max-updates 1 --threads 1 \
  --dropout 0.2:0@9 --attention-dropout 0.1 --dropout-kind variational 2>/dev/null
"$RNNSEARCH" benchmark --config run/config.ini --updates 2 --threads 1 >table || fail "a run's config.ini was refused"
grep -q 'words per second' table || fail "no table: $(<table)"
"$RNNSEARCH" benchmark "${tiny[@]}" --updates 1 --machine false --json - >json
! grep -q -e '"machine": {' -e share_of_bound json || fail "--machine false measured the machine: $(<json)"

# An update in pieces needs less memory.
peak() { # PIECES
  "$RNNSEARCH" benchmark --embedding 32 --state 128 --alignment 128 --maxout 32 --source-words 200 --target-words 200 --batch-sentences 320 \
    --updates 1 --untimed-updates 0 --threads 1 --machine false --json - --accumulate "$1" | sed -n 's/.*"peak_memory_bytes": \([0-9]*\).*/\1/p'
}
(($(peak 8) < $(peak 1) * 6 / 10)) || fail "eight pieces need $(peak 8) bytes, one needs $(peak 1)"

# Latency: the batch of five is translated in pieces of 1, 2, 4 and 5 sentences.
"${alone[@]}" "${lengths[@]}" --updates 1 --machine false --decode --beam 2 --latency-sentences 7 --json - >json || fail "no latency"
found=$(perl -MJSON::PP -e 'local $/; my $l = decode_json(<STDIN>)->{latency};
  print "$l->{sentences} ", join(",", map { $_->{batch_sentences} } @{$l->{rates}}), " ",
    $l->{p50_seconds} > 0 && $l->{p50_seconds} <= $l->{p99_seconds} ? "ordered" : "not ordered"' <json)
[[ $found == "7 1,2,4,5 ordered" ]] || fail "the latency is: $found"

# A list of threads: every number of them has its run, ascending, and the last update the same loss.
"${alone[@]:0:${#alone[@]}-2}" "${lengths[@]}" --updates 2 --threads 3,1,2 --json - >json 2>log || fail "--threads 3,1,2: $(<log)"
found=$(perl -MJSON::PP -e '
  local $/; my $r = decode_json(<STDIN>);
  my ($curve, $runs) = @$r{qw(thread_scaling runs)};
  my @threads = map { $_->{threads} } @$curve;
  for my $i (0 .. $#$runs) {
    my ($point, $run) = ($curve->[$i], $runs->[$i]);
    my $right = $run->{threads} == $threads[$i] && $run->{places}[0]{threads} == $threads[$i] &&
      @{$run->{seconds}{all}} == 2 && $point->{seconds} == $run->{seconds}{median} && $run->{machine} &&
      abs($point->{share_of_bound} / $run->{share_of_bound}{update} - 1) < 1e-9 &&
      abs($point->{speed_up} / $point->{efficiency} / $threads[$i] - 1) < 1e-9 &&
      exists $point->{gain_of_added_threads} == ($i > 0) && $run->{last_loss} == $runs->[0]{last_loss};
    $right or do { print "run $i is inconsistent"; exit 1 };
  }
  $runs->[0]{last_loss} > 0 && grep { $r->{worthwhile_threads} == $_ } @threads or do { print "loss or limit is missing"; exit 1 };
  print "@threads, ", scalar @$runs, " runs. ", $r->{conclusion} =~ /^More threads pay up to [123]/ ? "concluded" : ""' <json) ||
  fail "--threads 3,1,2: $found: $(<json)"
[[ $found == "1 2 3, 3 runs. concluded" ]] || fail "--threads 3,1,2: $found"
"$MPIEXEC" -n 2 "$RNNSEARCH" benchmark --config run/config.ini --updates 1 --threads 1,2 --machine false >table 2>log ||
  fail "two ranks with --threads 1,2: $(<log)"
grep -q '^More threads pay up to [12]' table || fail "the scaling of two ranks: $(<table)"

benchmark=("$RNNSEARCH" benchmark "${tiny[@]}")
printf '3 4\n5\n' >malformed
refused 1 "malformed, line 2|'5'" "$MPIEXEC" -n 2 "${benchmark[@]}" --lengths malformed
printf '3 4\n5 0\n' >zero
refused 1 "zero, line 2|'5 0'" "${benchmark[@]}" --lengths zero
RNNSEARCH_OVERSUBSCRIBE='' refused 1 "4096 threads" "${benchmark[@]:0:14}" --threads 1,4096
refused 1 "missing.h5" "$RNNSEARCH" benchmark --corpus missing.h5
