#!/usr/bin/env perl
# difficulty.pl PREFIX SCORES.json WHOLE.json BY_SENTENCE.json NAME=SCORES...: how hard long lines are, apart from their length. Two tables:
# the loss per word of the reference under forced decoding, which depends neither on search nor on BLEU; and BLEU of whole lines beside
# BLEU of the same lines translated sentence by sentence. The three JSON files are outputs of rnnsearch evaluate --json for the test set,
# SCORES.json with --sentences; each SCORES is the output of rnnsearch score. Writes PREFIX.json and PREFIX.md (Paper.pm).
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Paper qw(words read_evaluation read_scores write_section fail);

@ARGV >= 5 or fail("usage: difficulty.pl PREFIX SCORES.json WHOLE.json BY_SENTENCE.json NAME=SCORES...");
my ($prefix, $evaluation, @two) = splice @ARGV, 0, 4;
my $json = read_evaluation($evaluation);
my $sentences = $json->{sentences} or fail("$evaluation has no sentences; make it with --sentences");
my (@names, %loss, %words, %count);
for (@ARGV) {
  my ($name, $path) = split /=/, $_, 2;
  my @scores = read_scores($path);
  @scores == @$sentences or fail("$path has ", scalar @scores, " scores, and $evaluation ", scalar @$sentences, " sentences");
  push @names, $name;
  for my $i (0 .. $#scores) {
    my $sentence = $sentences->[$i];
    $loss{$name}{$_} -= $scores[$i] for $sentence->{bucket}, "all";
    next if @names > 1;
    my $length = 1 + (() = words($sentence->{references}[0]));    # 1: the end of the sentence
    for ($sentence->{bucket}, "all") { $words{$_} += $length; ++$count{$_} }
  }
}
my @buckets = ((grep { $count{$_} } map { $_->{label} } @{$json->{systems}[0]{buckets}}), "all");
my @two_ways = map {
  my %of = map { my $system = $_; $system->{system} => {map { $_->{label} => $_ } @{$system->{buckets}}, {%{$system->{all}}, label => "all"}} }
    @{read_evaluation($_)->{systems}};
  \%of;
} @two;

sub columns { [map { {title => $_, number => $_ eq "reference words" ? JSON::PP::false : JSON::PP::true} } "reference words", "lines", @_] }
write_section($prefix, {title => "How hard long lines are", text => [
    "The long lines of a text may be harder than its short ones for other reasons than their length. The loss is the mean negative "
    . "natural logarithm of the probability that a system gives to a word of the reference after all words before it (forced "
    . "decoding). In the second table each sentence of a line is also translated by itself, and the translations are put together: "
    . "the text is as hard as before, but hardly any sentence is long. What a system gains in this way, it loses because "
    . "lines are long; what it does not gain, it loses because they are hard."],
  tables => [{
  caption => "Negative log-likelihood per word of the reference",
  columns => columns(@names),
  rows => [map { my $bucket = $_; [$bucket, "$count{$bucket}", map { sprintf "%.3f", $loss{$_}{$bucket} / $words{$bucket} } @names] } @buckets],
  notes => ["Words are split nearly as by Moses's tokenizer, for all units, and the end of the sentence counts as a word."],
}, {
  caption => "BLEU of whole lines, and of the same lines translated sentence by sentence",
  columns => columns(map { ($_, "by sentence") } @names),
  rows => [map {
    my $bucket = $_;
    [$bucket, "$count{$bucket}", map { my $name = $_; map { sprintf "%.2f", $_->{$name}{$bucket}{bleu} } @two_ways } @names]
  } @buckets],
  notes => ["Search normalised by length. A sentence ends with a full stop, a question mark or an exclamation mark, if a space and a "
    . "capital letter follow (by_sentence.pl)."],
}]});
