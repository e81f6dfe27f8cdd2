#!/usr/bin/env bash
# Every pipeline, in its shortest form, in a project folder whose path has spaces, quotes, a colon, a line break, a leading dash and
# other characters that are special in a shell, perl, sed, awk, make and printf; results and texts are in folders that begin with a dash.
# Paths that CMake cannot handle are rejected with a one-line error, before anything is installed or made.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
scratch=$PWD
odd=$'-n it\'s "odd": 100%d\nof $HOME \\1 & #1; `a` *? [b] e=f <c> |d (é)'
project=$PWD/$odd
cp -r "$SOURCE/cluster" "$SOURCE/data" "$SOURCE/pipelines" -t "$(mkdir -- "$odd" && echo "./$odd")"
odd=${odd//[$'#\n']/ } # for results, without the characters that a run's config.ini cannot hold
mkdir -- "$odd"
cd -- "$odd"

# Parallel text of all lengths to 70: numbers, and their doubles in reverse order.
mkdir -- -text
perl -e 'srand 1; for my $i (1 .. 280) { my @n = map { int rand 30 } 1 .. 1 + $i % 70;
  print "@n\t", join(" ", map { 2 * $_ } reverse @n), "\n" }' >both
for part in train:1,140 dev:141,210 test:211,280; do
  sed -n "${part#*:}p" both | cut -f1 >"./-text/${part%:*}.en"
  sed -n "${part#*:}p" both | cut -f2 >"./-text/${part%:*}.fr"
done
tiny=(-- --max-updates 2 --log-every 1 --validate-every 1 --checkpoint-every 1 --embedding 8 --state 8 --alignment 8 --maxout 8)
run() { # PIPELINE OPTIONS...
  "$project/pipelines/$1/run.sh" "${@:2}" >"$scratch/$1.out" 2>&1 || fail "$1: $(tail -n 5 "$scratch/$1.out") $(tail -qn 1 ./-*/*.out)"
}
text=(--text -text --words 30 --beam 1 --retry-below 0)
run paper "${text[@]}" --units words --folder -paper "${tiny[@]}"
run attention-scores "${text[@]}" --folder -scores "${tiny[@]}" --encoder-state 4
run zh-en "${text[@]}" --source en --target fr --folder -zh "${tiny[@]}"
run replication --lengths 5 --systems full --rounds 1 --updates 2 --test 10 --folder -replication
run reversal --systems seq2seq --rounds 1 --updates 2 --max-length 4 --folder -reversal -- --validate-every 0 --log-every 1
run quickstart "${text[@]}" --words 300 --max-updates 2 --folder -quick -- "${tiny[@]:3}"
for page in paper scores zh reversal quick; do grep -q '<svg' "./-$page/report.html" || fail "no page of $page"; done
[[ -s ./-replication/chart.svg && -s ./-paper/table2.md ]] || fail "no chart, or no table"

refused() { # FACT COMMAND...: a one-line error that contains FACT, before anything is made
  local fact=$1 code=0 before
  shift
  before=$(find . "$project" | sort)
  "$@" >"$scratch/refused" 2>&1 || code=$?
  { [[ $code == 1 && $(wc -l <"$scratch/refused") == 1 ]] && grep -qF -- "$fact" "$scratch/refused"; } || fail "$*: code $code: $(<"$scratch/refused")"
  [[ $(find . "$project" | sort) == "$before" ]] || fail "$*: refused, but something was made"
}
# The program would have to be built.
for pipeline in paper attention-scores zh-en replication reversal quickstart; do
  refused "CMake cannot build in" env -u RNNSEARCH bash "$project/pipelines/$pipeline/run.sh"
done
for path in 'a"b' 'a\b' 'a;b' 'a[b' 'a]b' 'a|b' 'a<b' 'a>b' $'a\nb'; do
  refused "name another folder in RNNSEARCH_BUILD" env RNNSEARCH_BUILD="$scratch/$path" "$SOURCE/pipelines/build.sh"
done
refused "move the project" "$project/pipelines/build.sh"
# A folder that a run's config.ini cannot hold.
for pipeline in paper attention-scores zh-en replication reversal quickstart; do
  refused "which a run's config.ini cannot hold; name another folder" "$project/pipelines/$pipeline/run.sh" --folder 'a #1'
done
