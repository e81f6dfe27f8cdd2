#!/usr/bin/env bash
# BLEU by minute of training: rnnsearch, and any other trainers beside it, on the same text and test set, with the same subwords.
#   pipelines/benchmark/time_to_bleu.sh [--peer NAME=COMMAND]... [-- OPTIONS of rnnsearch train]
# Without --peer it trains rnnsearch alone, with the settings and the corpus of the quickstart. README.md beside this file says what a
# peer's COMMAND finds in its environment and what it has to write. Finished stages are skipped: stop the script and run it again.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=time-to-bleu
source "$here/../experiment.sh"

# Settings, which can be changed here or in the environment
folder=${RNNSEARCH_WORK:-runs/time-to-bleu} # the folder for all results
minutes=${RNNSEARCH_MINUTES:-30}          # of training, for each trainer, one trainer after the other
every=${RNNSEARCH_EVERY:-3}               # minutes between two checkpoints of rnnsearch whose BLEU is measured
updates=${RNNSEARCH_UPDATES:-0}           # maximum number of updates of rnnsearch; 0: no limit
every_updates=${RNNSEARCH_EVERY_UPDATES:-0} # number of updates between two more such checkpoints; 0: by time alone
ranks=${RNNSEARCH_RANKS:-2}               # MPI ranks of rnnsearch, each with one thread; a peer is told the number as THREADS
config=${RNNSEARCH_CONFIG:-}              # model and training of rnnsearch [pipelines/quickstart/config.ini]
text=${RNNSEARCH_TEXT:-}                  # folder with {train,dev,test}.{SOURCE,TARGET} [made by data/debian.sh]
source=${RNNSEARCH_SOURCE:-en}            # source language
target=${RNNSEARCH_TARGET:-fr}            # target language
set=${RNNSEARCH_SET:-dev}                 # the set that is translated: dev or test
subwords=${RNNSEARCH_SUBWORDS:-16000}     # size of the vocabulary that both languages share, in subwords
max_length=${RNNSEARCH_MAX_LENGTH:-200}   # training pairs with more subwords on either side are left out
beam=${RNNSEARCH_BEAM:-10}                # beam width of rnnsearch's translations; a peer decides itself
# rnnsearch translate --retry-below. A model of the first minutes ends few sentences, and searching for all of them again would take hours.
retry_below=${RNNSEARCH_RETRY_BELOW:-0}

peers=() names=(rnnsearch)
while (($#)); do
  case $1 in
    --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --) shift && break ;;
    --peer) [[ ${2:-} =~ ^([A-Za-z0-9_][A-Za-z0-9_-]*)=(.+)$ ]] ||
      fail "--peer is '${2:-}'; it must be NAME=COMMAND, with a name of letters, digits, _ and -" ;;
    *) fail "unknown option $1; options of rnnsearch train stand behind --, see $0 --help" ;;
  esac
  name=${BASH_REMATCH[1]}
  [[ " ${names[*]} " != *" $name "* ]] || fail "two trainers are called $name; give each --peer another name, not rnnsearch"
  names+=("$name")
  peers+=("${BASH_REMATCH[2]}")
  shift 2
done
case $set in dev | test) ;; *) fail "RNNSEARCH_SET is '$set'; it must be dev or test" ;; esac
[[ $minutes =~ ^[1-9][0-9]*$ ]] || fail "RNNSEARCH_MINUTES is '$minutes'; it must be a whole number from 1 on"

config=$(realpath -m -- "${config:-$project/pipelines/quickstart/config.ini}")
folder=$(realpath -m -- "$folder")
begin
RNNSEARCH=$(realpath -- "$RNNSEARCH") # the chart is made in another folder
perl -MJSON::PP -e1 2>/dev/null || fail "Perl's JSON::PP is missing; Debian has it in the package perl"
((${#peers[@]} == 0)) || command -v h5dump >/dev/null ||
  fail "h5dump is missing, which takes the subwords for a peer out of the corpus; Debian has it in the package hdf5-tools"
mapfile -t launcher < <(launcher_of_ranks)

[[ -z $text ]] || text=$(realpath -- "$text")
find_text "--source $source --target $target, $subwords joint subwords, at most $max_length of them"
corpus=$folder/corpus.h5
prepare "$corpus" "$max_length" --subwords bpe --joint-vocabulary --source-words "$subwords"

# Each trainer has a folder of translations. The name of each is the number of seconds of training before it.
mkdir -p "$folder/rnnsearch"
if [[ ! -e $folder/checkpoints.tsv ]]; then
  run=$folder/run
  rm -rf "$run" # of a training that was interrupted: resumed, it would have lost time that nobody measured
  say "training rnnsearch for $minutes minutes"
  begun=$EPOCHREALTIME
  "${launcher[@]}" "$RNNSEARCH" train --config "$config" --corpus "$corpus" --run "$run" --threads 1 --max-minutes "$minutes" \
    --max-updates "$updates" --checkpoint-minutes "$every" --checkpoint-every "$every_updates" --keep-checkpoints 100000 "$@"
  # The time of a checkpoint is that of its last byte, so starting the program and writing the file count. It is the name of the
  # translation, so it has more digits than anybody needs: no two checkpoints may have the same.
  for checkpoint in "$run"/checkpoints/update-*.h5; do
    printf '%s\t%s\n' "$(perl -e 'printf "%.6f", $ARGV[1] - $ARGV[0]' "$begun" "$(stat -c %.6Y "$checkpoint")")" "$checkpoint"
  done >"$folder/checkpoints.tsv.new"
  mv "$folder/checkpoints.tsv.new" "$folder/checkpoints.tsv"
fi
while IFS=$'\t' read -r seconds checkpoint; do
  [[ ! -e $folder/rnnsearch/$seconds ]] || continue
  say "rnnsearch: translating the $set set with the model of second $seconds"
  "${launcher[@]}" "$RNNSEARCH" translate --model "$checkpoint" --input "$text/$set.$source" --output "$folder/rnnsearch/$seconds" \
    --beam "$beam" --retry-below "$retry_below" --normalize --threads 1 </dev/null
done <"$folder/checkpoints.tsv"

if ((${#peers[@]} > 0)); then
  for side in source target; do # the SentencePiece models, byte by byte
    h5dump -d "/vocabulary/${side}_model" -b LE -o "$folder/$side.model" "$corpus" >/dev/null ||
      fail "cannot take the subwords of the $side side out of $corpus"
  done
fi
for i in "${!peers[@]}"; do
  name=${names[i + 1]} output=$folder/${names[i + 1]}
  [[ ! -e $output/.complete ]] || continue
  rm -rf "$output"
  mkdir -p "$output"
  say "training $name for $minutes minutes: ${peers[i]}"
  SOURCE=$source TARGET=$target TEXT=$text INPUT=$text/$set.$source OUTPUT=$output SOURCE_MODEL=$folder/source.model \
    TARGET_MODEL=$folder/target.model MAX_LENGTH=$max_length MINUTES=$minutes THREADS=$ranks \
    bash -c "${peers[i]}" </dev/null || fail "$name ended with exit code $?: ${peers[i]}"
  touch "$output/.complete"
done

say "scoring"
# scores NAME: prints seconds and BLEU of each translation
scores() {
  local file
  if [[ -e $folder/$1/bleu.log ]]; then
    perl -ne '/^\s*(?:#|$)/ and next; /^\s*(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s*$/ or die qq(line $.: $_); print "$1\t$2\n"' \
      "$folder/$1/bleu.log" ||
      fail "$folder/$1/bleu.log has a line that is not 'SECONDS BLEU'"
  fi
  for file in "$folder/$1"/*; do
    [[ ${file##*/} =~ ^[0-9]+(\.[0-9]+)?$ ]] || continue
    "$RNNSEARCH" evaluate --hypotheses "it=$file" --references "$text/$set.$target" --bootstrap 0 --json "$folder/score.json" >/dev/null ||
      fail "cannot score $file"
    printf '%s\t%s\n' "${file##*/}" \
      "$(perl -MJSON::PP -e 'local $/; printf "%.2f", decode_json(<STDIN>)->{systems}[0]{all}{bleu}' <"$folder/score.json")"
  done
}
for name in "${names[@]}"; do
  scores "$name" >"$folder/$name.scores"
  [[ -s $folder/$name.scores ]] || fail "$name has written no translation and no bleu.log to $folder/$name; see $here/README.md"
done

# For each minute the BLEU of the newest translation until then; and the first minute at which a translation reached so much BLEU.
cd "$folder"
perl - "$minutes" "${names[@]}" <<'PERL'
use strict;
use warnings;
use POSIX 'ceil';
my ($minutes, @names) = @ARGV;
my %points;
for my $name (@names) {
  open my $in, '<', "$name.scores" or die "time_to_bleu.sh: cannot read $name.scores: $!\n";
  $points{$name} = [sort { $a->[0] <=> $b->[0] } map { [split] } <$in>];
  my $last = ceil($points{$name}[-1][0] / 60);
  $minutes = $last if $last > $minutes;
}
sub newest { my ($name, $minute) = @_; my $bleu; $_->[0] <= 60 * $minute and $bleu = $_->[1] for @{$points{$name}}; return $bleu }
open my $table, '>', 'bleu.tsv' or die "time_to_bleu.sh: cannot write bleu.tsv: $!\n";
open my $text, '>', 'bleu.txt' or die "time_to_bleu.sh: cannot write bleu.txt: $!\n";
my $wide = (sort { $b <=> $a } map { length } @names)[0];
print {$table} join("\t", 'Minutes of training', @names), "\n";
for my $minute (1 .. $minutes) {
  my @bleu = map { newest($_, $minute) } @names;
  print {$table} join("\t", $minute, map { $_ // '' } @bleu), "\n";
  for my $i (0 .. $#names) {
    defined $bleu[$i] or next;
    printf {$text} "minute %3d  %-${wide}s %6.2f %s\n", $minute, $names[$i], $bleu[$i], '#' x ($bleu[$i] + 0.5);
  }
}
my ($best) = sort { $b <=> $a } map { $_->[1] } map { @$_ } values %points;
print {$text} "\nMinutes of training to a translation of at least this BLEU\n";
print {$text} join(' ', '  BLEU', map { sprintf "%${wide}s", $_ } @names), "\n";
for (my $bleu = 5; $bleu <= $best; $bleu += 5) {
  print {$text} join(' ', sprintf('%6d', $bleu), map {
    my ($first) = grep { $_->[1] >= $bleu } @{$points{$_}};
    sprintf "%${wide}s", $first ? sprintf('%.1f', $first->[0] / 60) : '-';
  } @names), "\n";
}
close $table or die "time_to_bleu.sh: cannot write bleu.tsv: $!\n";
close $text or die "time_to_bleu.sh: cannot write bleu.txt: $!\n";
PERL
"$RNNSEARCH" report --chart bleu.tsv --chart-of BLEU --title "BLEU by minute of training, $set set, $source to $target" --svg bleu.svg
cat bleu.txt
say "done. In $folder: bleu.svg, bleu.txt, bleu.tsv, and translations of the $set set in a folder for each trainer"
