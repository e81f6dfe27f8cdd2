#!/usr/bin/env bash
# pipelines/zh-en/run.sh, with characters and with words, from a text without dev and test sets to the page: both systems are the right
# models, the Chinese side is split as the option says, held-out sets are stratified by the length of the English side, and a folder with
# results of another --chinese is rejected.
set -euo pipefail
source "$SOURCE/tests/train/support.sh"
tiny=(-- --max-updates 60 --validate-every 20 --checkpoint-every 20 --embedding 8 --state 8 --alignment 8 --maxout 4)

# Parallel text of all English lengths to 70: words of a small dictionary, in reverse order in Chinese, without spaces.
perl -CO -Mutf8 -e 'srand 1; my @zh = qw(软件 文件 开发 学生 图书 我们 系统 中国 使用 工具 网络 数据);
  my @en = qw(software file development student book we system China use tool network data);
  for my $i (1 .. 700) { my @n = map { int rand @en } 1 .. 1 + $i % 70;
    print join("", @zh[reverse @n]), "。\t@en[@n].\n" }' >both
cut -f1 both >text.zh
cut -f2 both >text.en
run() { # FOLDER OPTIONS...
  "$SOURCE/pipelines/zh-en/run.sh" --text text --words 16 --beam 2 --retry-below 0 --folder "$@" "${tiny[@]}"
}
says() { # FILE NAME VALUE: an attribute or option of a run or checkpoint
  "$RNNSEARCH" inspect "$1" >inspected
  grep -Eq "^ *$2 +$3\$" inspected || fail "$1: $2 is not $3: $(grep -E "^ *$2 " inspected)"
}

for chinese in characters words; do
  folder=by-$chinese
  run $folder --chinese $chinese >$folder.out 2>&1 || fail "$(tail -n 5 $folder.out $folder/*.out)"
  for system in seq2seq RNNsearch; do
    grep -q "^| score |.* $system |" $folder/table.md || fail "$system is not in the table: $(<$folder/table.md)"
    grep -q $system $folder/report.html || fail "the page does not name $system"
  done
  { grep -q '^over 60 ' $folder/scores.txt && grep -q 'differs from RNNsearch' $folder/scores.txt; } || fail "scores: $(<$folder/scores.txt)"
  [[ $(count $folder/looked-at/*.svg) == 4 ]] || fail "pictures: $(ls $folder/looked-at)"
  says $folder/rnnsearch system RNNsearch
  says $folder/seq2seq system 'traditional sequence to sequence; lstm cells, forward encoder'
done
# 软 and 件, or 软件. The corpora and the models record it, and translate splits new text in the same way.
says by-characters/rnnsearch tokenizer words
says by-words/rnnsearch tokenizer icu-words
says by-words/corpus.h5 tokenizer icu-words
"$RNNSEARCH" inspect by-words/corpus.h5 --json - >words.json
"$RNNSEARCH" inspect by-characters/corpus.h5 --json - >characters.json
words=$(perl -MJSON::PP -e 'for (@ARGV) { open F, $_; local $/; print decode_json(<F>)->{sets}{"test/test"}{source_words}, " " }' words.json characters.json)
read -r by_words by_characters <<<"$words"
((by_words * 5 < by_characters * 3)) || fail "words of the test set by words, by characters: $words"
# English sentences of more than 60 words are held out, too.
[[ $(awk 'NF > 60' by-words/held-out/test.en | wc -l) -ge 10 ]] || fail "held out: $(awk '{print NF}' by-words/held-out/test.en | sort -n | paste -sd ' ')"

tiny=(-- --max-updates 2 --log-every 1 --validate-every 2 --checkpoint-every 2 --embedding 8 --state 8 --alignment 8 --maxout 4)
run rounds --rounds 2 >rounds.out 2>&1 || fail "$(tail -n 5 rounds.out rounds/*/*.out)"
[[ $(grep -cE '^\| (seq2seq|RNNsearch) \| 2 \|' rounds/rounds.md) == 2 ]] || fail "means of two rounds: $(<rounds/rounds.md)"
for round in 1 2; do grep -qx "seed = $round" rounds/round-$round/rnnsearch/config.ini || fail "round $round has another seed"; done

# A signal to the script reaches the trainings of the round, which write their checkpoints, and then all of it ends. (perl, because a
# shell lets what it starts in the background ignore SIGINT.)
for how in "TERM local" "INT local" "INT mpirun"; do
  read -r signal launch <<<"$how"
  tiny=(-- --max-updates 1000000 --max-epochs 0 --log-every 1 --validate-every 0 --embedding 8 --state 8 --alignment 8 --maxout 4)
  (exec perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' "$SOURCE/pipelines/zh-en/run.sh" --text text --words 16 --rounds 2 \
    --launch "$launch" --folder "$signal-$launch" "${tiny[@]}") >"$signal.out" 2>&1 &
  job=$! run=$signal-$launch/round-1
  until grep -qs '"event":"update"' "$run"/rnnsearch/log.jsonl &&
    { [[ $launch == mpirun ]] || grep -qs '"event":"update"' "$run"/seq2seq/log.jsonl; }; do # one after the other
    kill -0 $job || fail "$signal: $(<"$signal.out")"
    sleep 0.05
  done
  kill -"$signal" $job
  code_of wait $job
  [[ $code == 85 ]] || fail "$signal: code $code: $(<"$signal.out")"
  for log in "$run"/*/log.jsonl; do grep -q '"event":"stop".*signal' "$log" || fail "$signal: $(tail -n 1 "$log")"; done
done

code_of run by-words --chinese characters >other.out 2>&1
{ [[ $code == 1 ]] && grep -q 'give another --folder' other.out; } || fail "other words: code $code: $(<other.out)"
code_of run by-words --chinese pinyin >pinyin.out 2>&1
{ [[ $code == 1 ]] && grep -q "zh-en: --chinese is 'pinyin'; it must be characters or words" pinyin.out; } || fail "pinyin: code $code: $(<pinyin.out)"
