#!/usr/bin/env perl
# losses.pl PREFIX SCORES.json NAME=SCORES...: the loss per word of the reference under forced decoding, by the length of the reference.
# It shows how hard sentences of each length are for each system, independently of search and BLEU. SCORES.json is the output of
# rnnsearch evaluate --json --sentences for the test set, each SCORES the output of rnnsearch score. Writes PREFIX.json and PREFIX.md
# (Paper.pm).
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Paper qw(words read_evaluation read_scores write_section fail);

@ARGV >= 3 or fail("usage: losses.pl PREFIX SCORES.json NAME=SCORES...");
my ($prefix, $evaluation) = splice @ARGV, 0, 2;
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
my @buckets = grep { $count{$_} } map { $_->{label} } @{$json->{systems}[0]{buckets}};
write_section($prefix, {title => "Loss by sentence length", text => [
    "How hard sentences of each length are, independently of search and BLEU: the mean negative natural logarithm of the "
    . "probability that each system gives to a word of the reference after all words before it (forced decoding). Where a "
    . "system's loss stays level and its BLEU falls, the corpus is not the cause."],
  tables => [{
  caption => "Negative log-likelihood per word of the reference",
  columns => [{title => "reference words", number => JSON::PP::false}, map { {title => $_, number => JSON::PP::true} } "sentences", @names],
  rows => [map { my $bucket = $_; [$bucket, "$count{$bucket}", map { sprintf "%.3f", $loss{$_}{$bucket} / $words{$bucket} } @names] } @buckets, "all"],
  notes => ["Words are split nearly as by Moses's tokenizer, for all units, and the end of the sentence counts as a word."],
}]});
