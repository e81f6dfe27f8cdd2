#!/usr/bin/env bash
# --precision: checkpoints record it, resumed runs keep it, it changes losses only a little, and emulation is reported once.
# shellcheck disable=SC2046,SC2086  # lists of arguments are strings here, which are split into words
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
make_corpus

arguments() { train_arguments "$1" "$2" | sed "s/ --precision f32//"; }
train() { "$RNNSEARCH" $(arguments "$1" "$2") "${@:3}"; }
arithmetic_of() { "$RNNSEARCH" inspect "$1" | awk '$1 == "arithmetic" { print $2 }'; }
is() { [[ $2 == "$3" ]] || fail "$1: expected '$3', found '$2'"; }
lines() { grep -c "$1" "$2" || true; }

train whole 40 --precision bf16 2>whole.log
sse2="" bf16="bf16-avx512"
grep -qw fma /proc/cpuinfo || sse2=-sse2 # no fused multiply-add: a name of its own
! grep -qw amx_bf16 /proc/cpuinfo || bf16="bf16-amx"
bf16=$bf16$sse2
is "inspect" "$(arithmetic_of whole)" $bf16
grep -q '"precision": "bf16"' whole/environment.json || fail "environment.json does not say bf16"
grep -q '^precision = bf16$' whole/config.ini || fail "config.ini does not say bf16"
warning='^\[rnnsearch\] precision bf16: .*emulated.*--precision f32'
expected=0 auto=f32$sse2
if ! grep -qw avx512_bf16 /proc/cpuinfo; then
  expected=1
elif grep -qwE 'amx_bf16|AuthenticAMD' /proc/cpuinfo; then # only AMD's AVX512-BF16 is faster than float32
  auto=$bf16
fi
is "warnings of emulation" "$(lines "$warning" whole.log)" $expected

# auto resumes with the checkpoint's precision, and ends with the bits of an undisturbed run
train parts 20 --precision bf16 2>/dev/null
train parts 40 2>parts.log
is "warnings of emulation, going on" "$(lines "$warning" parts.log)" $expected
is "auto, going on" "$(arithmetic_of parts)" $bf16
grep -q '"event":"resume".*"arithmetic":"'$bf16'"' parts/log.jsonl || fail "log.jsonl does not say $bf16 at the resume"
expect_equal parts whole

# another precision is refused; --allow-other-arithmetic takes it
if train parts 45 --precision f32 2>other.log; then fail "a run in $bf16 goes on in f32"; fi
grep -q "computed in $bf16 so far and would go on in f32$sse2, .*--allow-other-arithmetic" other.log || fail "$(<other.log)"
train parts 45 --precision f32 --allow-other-arithmetic 2>/dev/null
is "the other arithmetic" "$(arithmetic_of parts)" f32$sse2

# the losses change a little
train floats 40 --precision f32 2>floats.log
is "warnings of f32" "$(lines "$warning" floats.log)" 0
losses() { sed -n 's/.*"event":"update".*"loss_per_word":\([^,]*\).*/\1/p' "$1/log.jsonl"; }
# at first by rounding errors, later as between two seeds, but hardly on average
paste <(losses whole) <(losses floats) |
  awk '{ d = $1 > $2 ? $1 - $2 : $2 - $1; moved += d > 0; a += $1; b += $2; if (NR <= 5 && d > 0.005 * $2) far = NR }
       END { if (NR == 40 && moved >= 20 && !far && a < 1.02 * b && b < 1.02 * a) exit 0
             print NR " losses, " moved " differ, sums " a " and " b (far ? ", far apart at update " far : ""); exit 1 }' ||
  fail "the losses of bf16 and f32"

train first 1 2>/dev/null
is "auto, from the beginning" "$(arithmetic_of first)" $auto

# several ranks: one line; with auto, which follows the checkpoint, none
for command in "$(arguments two 2)" \
  "translate --model whole --input text/dev.source --output dev.out --threads 1" \
  "evaluate --model whole --corpus corpus.h5 --set dev --bootstrap 0 --threads 1" \
  "benchmark --embedding 8 --state 8 --alignment 8 --maxout 8 --source-words 9 --target-words 9 --batch-sentences 4 --updates 1 --threads 1 --machine false"; do
  "$MPIEXEC" -n 2 "$RNNSEARCH" $command --precision bf16 >"${command%% *}.out" 2>two.log ||
    fail "$command: $(<two.log)"
  is "warnings of $command" "$(lines "$warning" two.log)" $expected
done
grep -q ", $bf16" benchmark.out || fail "the benchmark does not say bf16: $(<benchmark.out)"
if grep -qw avx512_bf16 /proc/cpuinfo; then
  score=(score --model whole --source text/dev.source --target text/dev.target --precision bf16 --threads 1)
  "$MPIEXEC" -n 1 env RNNSEARCH_SIMD=avx512 "$RNNSEARCH" "${score[@]}" : -n 1 env RNNSEARCH_SIMD=avx2 "$RNNSEARCH" "${score[@]}" >two.out 2>two.log
  is "warnings of emulation on rank 1 alone" "$(lines "^\[rnnsearch\] rank 1 on .*${warning#*] }" two.log)" 1
fi
# int8: only trained models; the same scores with and without a unit, near those of float32, and one warning without
"$RNNSEARCH" score --model whole --source text/dev.source --target text/dev.target --precision int8 >score-int8 2>log
RNNSEARCH_SIMD=avx2 "$RNNSEARCH" score --model whole --source text/dev.source --target text/dev.target --precision int8 \
  >score-emulated 2>emulated.log || fail "int8 without a unit: $(<emulated.log)"
is "warnings of emulated int8" "$(lines '^\[rnnsearch\] precision int8: .*emulated.*--precision f32' emulated.log)" 1
"$RNNSEARCH" score --model whole --source text/dev.source --target text/dev.target --precision f32 >score-f32
for scores in score-int8 score-emulated; do
  ! cmp -s "$scores" score-f32 || fail "$scores are the scores of f32"
  paste "$scores" score-f32 | awk '{ d = $1 - $2; if (d * d > (0.02 * $2) ^ 2 + 0.01) bad = NR " " $0 } END { if (bad) { print bad; exit 1 } }' ||
    fail "$scores differ much from those of f32"
done
