#!/usr/bin/env bash
# Repeats the experiment of the paper (arXiv 1409.0473): trains RNNsearch-50, RNNsearch-30, RNNencdec-50 and RNNencdec-30 on one text,
# and makes Tables 1 and 2, Figures 2 and 3, and the comparison of long sentences (section 5.2.2 and appendix C), all on one page.
#   pipelines/paper/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch train]
#     --scale small|paper    small: sizes for one machine (small.ini beside this file); paper: the paper's sizes (pipelines/presets)
#                            [small]
#     --units words|subwords units of the systems: words of Moses's tokenizer, as in the paper, or subwords (byte-pair encoding by
#                            SentencePiece); the limits of 50 and 30 count words in both cases
#                            [words with --scale paper; subwords with --scale small, whose text is too small for words]
#     --pieces N             number of subwords of each side, with --units subwords [4000]
#     --tokenizer moses|words
#                            tokenizer for --units words; moses supports English, French and German [moses, if it supports both
#                            languages]
#     --longer yes|no        also train RNNsearch-50*: RNNsearch-50 with 667,000 updates; at the small scale its updates grow by the
#                            same factor as the paper's [no]
#     --seed N               seed that draws the sentences of Figure 3, the long sentences and the sample of the training text [1]
# The default text is English and French: Debian's package descriptions with 3,000 test sentences for the small scale, WMT'14 for the
# paper's. Vocabularies have 10,000 and 30,000 words; with subwords they only decide which sentences have unknown words. The default
# folder is runs/paper-SCALE-UNITS.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=paper
source "$here/../experiment.sh"
scale=small units='' pieces=4000 tokenizer='' longer=no seed=1
read_options "scale units pieces tokenizer longer seed" "$@"
case $scale in small | paper) ;; *) fail "--scale is '$scale'; it must be small or paper" ;; esac
if [[ -z $units ]]; then units=$([[ $scale == paper ]] && echo words || echo subwords); fi
case $units in words | subwords) ;; *) fail "--units is '$units'; it must be words or subwords" ;; esac
case $longer in yes | no) ;; *) fail "--longer is '$longer'; it must be yes or no" ;; esac
[[ $pieces =~ ^[1-9][0-9]*$ ]] || fail "--pieces is '$pieces'; it must be a whole number from 1 on"
[[ $seed =~ ^[0-9]+$ ]] || fail "--seed is '$seed'; it must be a whole number"
if [[ -z $tokenizer ]]; then
  tokenizer=words
  [[ ! $source =~ ^(en|fr|de)$ || ! $target =~ ^(en|fr|de)$ ]] || tokenizer=moses
fi
if [[ $scale == paper ]]; then : "${words:=30000}"; else : "${words:=10000}"; fi
folder=${folder:-runs/paper-$scale-$units}
begin

# --- text and corpora ------------------------------------------------------------------------------------------------------
if [[ -z $text ]]; then
  text=$folder/text
  if [[ $scale == paper ]]; then
    [[ $source-$target == en-fr ]] || fail "the paper's text is English and French; for $source and $target give --text PREFIX"
    "$project/data/wmt14-en-fr.sh" "$text"
  else
    "$project/data/debian.sh" "$source" "$target" "$text" --test 3000
  fi
fi
made="--scale $scale --source $source --target $target --words $words --units $units --tokenizer $tokenizer"
[[ $units == words ]] || made+=" --pieces $pieces"
find_text "$made"
# Sentences of at most 50 and at most 30 words (section 4.2), with the same vocabularies. $word_corpus tells which test sentences have
# unknown words, also if the systems use subwords.
word_corpus=$folder/corpus-50.h5
if [[ $units == words ]]; then
  prepare "$folder/corpus-50.h5" 50 --tokenizer "$tokenizer" --source-words "$words" --target-words "$words"
  prepare "$folder/corpus-30.h5" 30 --vocabulary-of "$folder/corpus-50.h5"
else
  word_corpus=$folder/corpus-words.h5
  prepare "$word_corpus" 50 --tokenizer "$tokenizer" --source-words "$words" --target-words "$words"
  whole=$train
  for length in 50 30; do
    train=$folder/train-$length
    [[ -e $train.$target ]] ||
      perl "$here/select.pl" $length "$whole.$source" "$whole.$target" "$train.$source" "$train.$target"
    # 1,000 subwords are so many that no pair is too long.
    if [[ $length == 50 ]]; then
      prepare "$folder/corpus-50.h5" 1000 --subwords bpe --source-words "$pieces" --target-words "$pieces"
    else
      prepare "$folder/corpus-30.h5" 1000 --vocabulary-of "$folder/corpus-50.h5"
    fi
  done
  train=$whole
fi

# --- trainings -------------------------------------------------------------------------------------------------------------
options_of() { # SYSTEM; written to a file, so that options after -- override them
  local name=${1,,} config updates
  name=${name%\*} config=$(run_of "$1").ini
  if [[ $scale == paper ]]; then
    echo "preset = $name"
    [[ $1 != *\* ]] || echo "max-updates = 667000" # Table 2
  else
    cat "$here/small.ini"
    [[ $name != rnnencdec-* ]] || echo "attention = none"
  fi >"$config"
  if [[ $scale == small ]]; then
    [[ $name != rnnencdec-30 ]] || sed -i 's/^pool-batches = .*/pool-batches = 10/' "$config" # the released code, state.py: sort_k_batches
    if [[ $1 == *\* ]]; then # Table 2: 6.67e5 against 2.88e5
      updates=$(sed -n 's/^max-updates = //p' "$config")
      sed -i "s/^max-updates = .*/max-updates = $((updates * 667 / 288))/" "$config"
    fi
  fi
  options=(--corpus "$folder/corpus-${name#*-}.h5" --config "$config")
}
run_of() { # SYSTEM; the * of RNNsearch-50* is replaced, because folders should not have it in their names
  local name=${1,,}
  echo "$folder/${name/\*/-longer}"
}
systems=(RNNsearch-50 RNNsearch-30 RNNencdec-50 RNNencdec-30)        # the longest training first
paper_order=(RNNencdec-30 RNNsearch-30 RNNencdec-50 RNNsearch-50)
if [[ $longer == yes ]]; then systems=('RNNsearch-50*' "${systems[@]}") paper_order+=('RNNsearch-50*'); fi
train_systems "${systems[@]}"

# --- translations: for "All" of Table 1, and for "No UNK", where no unknown word may be produced; ranked by log-probability, as the
# paper says, and by log-probability divided by length, an option of its released code. With subwords no word is unknown.
translations_begin
all=() known=() normalized=() normalized_known=()
for system in "${paper_order[@]}"; do
  name=$folder/test.$(basename "$(run_of "$system")")
  translate "$system" "$name.$target"
  translate "$system" "$name.normalized.$target" --normalize
  all+=(--hypotheses "$system=$name.$target")
  normalized+=(--hypotheses "$system=$name.normalized.$target")
  [[ $units == words ]] || continue
  translate "$system" "$name.no-unk.$target" --no-unknown
  translate "$system" "$name.no-unk.normalized.$target" --no-unknown --normalize
  known+=(--hypotheses "$system=$name.no-unk.$target")
  normalized_known+=(--hypotheses "$system=$name.no-unk.normalized.$target")
done
if [[ $units == subwords ]]; then known=("${all[@]}") normalized_known=("${normalized[@]}"); fi
# The same lines, of which each sentence is translated by itself: what a system loses in the whole line, it loses because the line is long.
sentences=$folder/test.sentences by_sentence=()
[[ -e $sentences.$source ]] || perl "$here/by_sentence.pl" apart "$test.$source" "$sentences.$source"
for system in "${paper_order[@]}"; do
  name=$(basename "$(run_of "$system")")
  test=$sentences translate "$system" "$sentences.$name.$target" --normalize
  joined=$folder/test.$name.by-sentence.$target
  [[ $joined -nt $sentences.$name.$target ]] ||
    perl "$here/by_sentence.pl" together "$test.$source" "$sentences.$name.$target" "$joined"
  by_sentence+=(--hypotheses "$system=$joined")
done

# --- Table 2: log-probabilities of a sample of the training pairs and of the dev set
trained=() losses=()
for length in 50 30; do
  sample=$folder/sample-$length-seed-$seed
  [[ -e $sample.$target ]] ||
    perl "$here/select.pl" $length "$train.$source" "$train.$target" "$sample.$source" "$sample.$target" 2000 "$seed"
done
for system in "${paper_order[@]}"; do
  name=$(basename "$(run_of "$system")")
  length=${system#*-} length=${length%\*}
  score "$system" "$folder/sample-$length-seed-$seed.$source" "$folder/sample-$length-seed-$seed.$target" \
    "$folder/loss.$name.train-seed-$seed"
  score "$system" "$dev.$source" "$dev.$target" "$folder/loss.$name.dev"
  score "$system" "$test.$source" "$test.$target" "$folder/loss.$name.test"
  trained+=("$system" "$(run_of "$system")" "$folder/loss.$name.train-seed-$seed" "$folder/loss.$name.dev")
  losses+=("$system=$folder/loss.$name.test")
done

# --- Tables, Figure 2 (BLEU of each system by length, and against RNNsearch-50), Figure 3 and the long sentences ------------
scored=(--corpus "$word_corpus" --set test/test)
say "--seed $seed draws the sentences of Figure 3 and the long sentences"
if ! is_scored "$folder/figure3.json" || [[ ! -e $folder/seed || $(<"$folder/seed") != "$seed" ]]; then
  say "scores"
  rm -f "$folder/seed" # written again when this stage is complete
  compared=(--significance randomization --baseline RNNsearch-50)
  evaluate "$folder/scores.txt" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true
  evaluate "$folder/scores.json" "${all[@]}" "${scored[@]}" "${compared[@]}" --chrf true --ter true --sentences true \
    --breakdown frequency --json -
  evaluate "$folder/scores.no-unk.json" "${known[@]}" "${scored[@]}" --json -
  evaluate "$folder/scores.normalized.txt" "${normalized[@]}" "${scored[@]}" "${compared[@]}"
  evaluate "$folder/scores.normalized.json" "${normalized[@]}" "${scored[@]}" --json -
  evaluate "$folder/scores.no-unk.normalized.json" "${normalized_known[@]}" "${scored[@]}" --json -
  evaluate "$folder/scores.by-sentence.json" "${by_sentence[@]}" "${scored[@]}" --json -
  perl "$here/long_sentences.pl" "$folder/long-sentences" "$seed" "$folder/scores.json" "$train.$source" "$train.$target" "$source $target"
  align RNNsearch-50 "$folder/test.rnnsearch-50.$target" "$(perl "$here/figure3.pl" "$seed" "$folder/scores.json")" "$folder/figure3"
  perl "$here/figure3.pl" "$seed" "$folder/scores.json" "$folder/figure3.json"
  echo "$seed" >"$folder/seed"
fi
processor=
[[ $launch == slurm || ! -r /proc/cpuinfo ]] || processor=$(sed -n 's/^model name[[:space:]]*: *//p' /proc/cpuinfo | head -n 1)
perl "$here/table1.pl" "$folder/table1" "$folder"/scores{,.no-unk,.normalized,.no-unk.normalized}.json
perl "$here/table2.pl" "$folder/table2" "$processor" "${trained[@]}"
perl "$here/difficulty.pl" "$folder/difficulty" "$folder"/scores{,.normalized,.by-sentence}.json "${losses[@]}"
pages=()
for system in "${paper_order[@]}"; do pages+=(--run "$system=$(run_of "$system")"); done
for section in table1 table2 difficulty long-sentences; do pages+=(--section "$folder/$section.json"); done
"$RNNSEARCH" report --title "Neural machine translation by jointly learning to align and translate: $source to $target" \
  "${pages[@]}" --evaluation "$folder/scores.json" --alignment "$folder/figure3.json" --output "$folder/report.html" \
  --csv "$folder/csv" --markdown "$folder/report.md"

cat "$folder/table1.md" "$folder/table2.md"
say "Figure 2, as numbers"
cat "$folder/scores.txt"
cat "$folder/difficulty.md"
say "results are in $folder: report.html shows all of them; report.md, table1.md, table2.md, difficulty.md, long-sentences.md, scores.txt," \
  "figure3/, csv/ and the runs"
