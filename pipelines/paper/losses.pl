#!/usr/bin/env perl
# losses.pl PREFIX SCORES.json NAME=SCORES...: the loss for each word of the reference under forced decoding, by the length of the
# reference: how hard sentences of each length are for each system, whatever a search and BLEU make of them. SCORES.json is what
# rnnsearch evaluate --json --sentences printed of the test set, and each SCORES what rnnsearch score printed. Writes PREFIX.json and
# PREFIX.md (Paper.pm).
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Paper qw(words read_evaluation read_scores write_section fail);

@ARGV >= 3 or fail("PREFIX SCORES.json NAME=SCORES... were expected");
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
    my $length = 1 + (() = words($sentence->{references}[0]));    # and its end
    for ($sentence->{bucket}, "all") { $words{$_} += $length; ++$count{$_} }
  }
}
my @buckets = grep { $count{$_} } map { $_->{label} } @{$json->{systems}[0]{buckets}};
write_section($prefix, {title => "Loss by sentence length", text => [
    "How hard sentences of each length are, whatever search and BLEU make of them: the mean negative natural logarithm of the "
    . "probability that each system gives to a word of the reference, when it is given all words before (forced decoding). Where a "
    . "system's loss stays level and its BLEU falls, the fall is not the corpus's."],
  tables => [{
  caption => "Negative log-likelihood for each word of the reference",
  columns => [{title => "reference words", number => JSON::PP::false}, map { {title => $_, number => JSON::PP::true} } "sentences", @names],
  rows => [map { my $bucket = $_; [$bucket, "$count{$bucket}", map { sprintf "%.3f", $loss{$_}{$bucket} / $words{$bucket} } @names] } @buckets, "all"],
  notes => ["Words are counted as Moses's tokenizer nearly cuts them, and the end of the sentence as one, whatever units a system has."],
}]});
