#!/usr/bin/env bash
# data/reversal.sh OUT_DIR [OPTION VALUE]...: makes a synthetic task. The source is a random sequence of --min-length (1) to
# --max-length (15) words from 1 to --vocabulary (20), and the target is that sequence reversed.
# Makes OUT_DIR/{train,dev,test}.{source,target} with --train (20000), --dev (500) and --test (1000) pairs. No source of dev
# or test is in train or occurs twice. The same options, including --seed (1), give the same bytes. Does nothing
# when OUT_DIR is complete.
set -euo pipefail

fail() {
  echo "reversal.sh: $*" >&2
  exit 1
}
usage="data/reversal.sh OUT_DIR [--vocabulary|--min-length|--max-length|--train|--dev|--test|--seed NUMBER]..."
{ (($# >= 1)) && [[ $1 != --* ]]; } || fail "usage: $usage"
out=$1
[[ $out != -* ]] || out=./$out # a name that begins with a dash would be read as an option
shift
declare -A option=([vocabulary]=20 [min-length]=1 [max-length]=15 [train]=20000 [dev]=500 [test]=1000 [seed]=1)
while (($#)); do
  name=${1#--}
  [[ $1 == --* && -v option[$name] ]] || fail "unknown option '$1': usage: $usage"
  [[ ${2-} =~ ^[0-9]{1,9}$ ]] || fail "--$name needs a whole number, not '${2-}'"
  option[$name]=$((10#$2))
  shift 2
done
((option[vocabulary] >= 1)) || fail "--vocabulary must be at least 1"
((1 <= option[min-length] && option[min-length] <= option[max-length])) ||
  fail "--min-length ${option[min-length]} must be at least 1 and at most --max-length ${option[max-length]}"
((option[train] >= 1)) || fail "--train must be at least 1"

made=
for name in vocabulary min-length max-length train dev test seed; do made+="--$name ${option[$name]} "; done
if [[ -e $out/.complete ]]; then
  [[ $(<"$out/.complete") == "$made" ]] ||
    fail "$out holds the task with $(<"$out/.complete")and not with ${made}; name another folder or remove that one"
  exit 0
fi
[[ ! -d $out || -z $(find "$out" -mindepth 1 -maxdepth 1 ! -name .new -print -quit) ]] || fail "$out holds something else; name an empty or new folder"
mkdir -p "$out/.new" || fail "cannot write to $out"

# Park and Miller's generator (1988, exact in doubles) in place of rand(), so that every awk gives the same bytes.
# The folder is not passed with -v, which would interpret backslashes in its name.
OUT=$out/.new awk -v vocabulary="${option[vocabulary]}" \
  -v low="${option[min-length]}" -v high="${option[max-length]}" \
  -v train="${option[train]}" -v dev="${option[dev]}" -v test="${option[test]}" -v seed="${option[seed]}" '
  function below(n) {
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * n)
  }
  function draw(    i, word) {
    words = low + below(high - low + 1)
    source = target = ""
    for (i = 1; i <= words; ++i) {
      word = 1 + below(vocabulary)
      source = source (i > 1 ? " " : "") word
      target = word (i > 1 ? " " : "") target
    }
  }
  function make(part, pairs,    made, tries) {
    printf "" > (out "/" part ".source")
    printf "" > (out "/" part ".target")
    for (made = 0; made < pairs;) {
      draw()
      # at most a tenth of the short sequences of each length is held out, so that training sees every length
      if (source in held_out || (part != "train" && held_out_of[words] >= vocabulary ^ words / 10)) {
        if (++tries > 1000 + 100 * pairs) {
          print "reversal.sh: there are too few sequences for " pairs " pairs of " part "; use a larger vocabulary, " \
            "longer sequences, or smaller dev and test sets" > "/dev/stderr"
          exit 1
        }
        continue
      }
      if (part != "train") {
        held_out[source]
        ++held_out_of[words]
      }
      print source > (out "/" part ".source")
      print target > (out "/" part ".target")
      ++made
    }
  }
  BEGIN {
    out = ENVIRON["OUT"]
    state = 1 + (seed * 7919 + 12345) % 2147483646
    for (i = 0; i < 20; ++i) below(1)  # the first numbers of small seeds are alike
    make("test", test)
    make("dev", dev)
    make("train", train)
  }' || { rm -r "$out/.new"; rmdir --ignore-fail-on-non-empty "$out"; exit 1; }
mv "$out/.new"/* "$out"
rmdir "$out/.new"
echo "$made" >"$out/.complete"
