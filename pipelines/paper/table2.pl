#!/usr/bin/env perl
# table2.pl PREFIX PROCESSOR {NAME RUN TRAIN_SCORES DEV_SCORES}...: Table 2 of the paper: updates, epochs, hours, hardware and the negative
# log-likelihood per sentence. RUN is the folder of a training; TRAIN_SCORES and DEV_SCORES are outputs of rnnsearch score for a sample
# of its training pairs and for the dev set. PROCESSOR is the name of the processor or empty. Writes PREFIX.json and PREFIX.md (Paper.pm).
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(sum);
use Paper qw(read_scores write_section fail);

# arXiv 1409.0473, appendix B, Table 2.
my @published = (["RNNencdec-30", "8.46e5", "6.4", "109", "TITAN BLACK", "28.1", "53.0"],
  ["RNNencdec-50", "6.00e5", "4.5", "108", "Quadro K-6000", "44.0", "43.6"],
  ["RNNsearch-30", "4.71e5", "3.6", "113", "TITAN BLACK", "26.7", "47.2"],
  ["RNNsearch-50", "2.88e5", "2.2", "111", "Quadro K-6000", "40.7", "38.1"],
  ["RNNsearch-50*", "6.67e5", "5.0", "252", "Quadro K-6000", "36.7", "35.2"]);

@ARGV % 4 == 2 && @ARGV > 2 or fail("usage: table2.pl PREFIX PROCESSOR {NAME RUN TRAIN_SCORES DEV_SCORES}...");
my ($prefix, $processor) = splice @ARGV, 0, 2;

# Updates, epochs, hours and hardware of a run; each figure is the last one in the log. Hours include validations and checkpoints.
sub training_of {
  my ($run) = @_;
  open my $in, "<", "$run/log.jsonl" or fail("cannot read $run/log.jsonl: $!");
  my ($updates, $epochs, $seconds) = (0, 0, 0);
  while (<$in>) {
    my $record = eval { decode_json($_) } or next;    # a line that a kill cut short
    $updates = $record->{update} // $updates;
    $epochs = $record->{epoch} + $record->{epoch_share} if $record->{event} eq "update";
    $seconds = $record->{elapsed_seconds} if defined $record->{elapsed_seconds};
  }
  my $environment = do {
    open my $file, "<", "$run/environment.json" or fail("cannot read $run/environment.json: $!");
    local $/;
    decode_json(<$file>);
  };
  my @ranks = @{$environment->{ranks}};
  my $hardware = sprintf "%d %s of %d %s, %s", scalar @ranks, @ranks == 1 ? "rank" : "ranks", $ranks[0]{threads},
    $ranks[0]{threads} == 1 ? "thread" : "threads", $environment->{instruction_set};
  $hardware .= ", $environment->{precision}" if $environment->{precision};
  $hardware .= " ($processor)" if length $processor;
  return ($updates, sprintf("%.1f", $epochs), sprintf("%.2f", $seconds / 3600), $hardware);
}
sub loss_of { my @scores = read_scores($_[0]); return (sprintf("%.1f", -sum(@scores) / @scores), scalar @scores) }

my (%ours, $train_pairs, $dev_pairs);
while (my ($name, $run, $train, $dev) = splice @ARGV, 0, 4) {
  ((my $train_loss), $train_pairs) = loss_of($train);
  ((my $dev_loss), $dev_pairs) = loss_of($dev);
  $ours{$name} = [training_of($run), $train_loss, $dev_loss];
}
my @rows;
for (@published) {
  my ($name, @theirs) = @$_;
  push @rows, [$name, @{$ours{$name}}] if $ours{$name};
  push @rows, ["$name, published", @theirs];
}
write_section($prefix, {title => "Table 2", tables => [{
  caption => "Table 2: how the systems were trained",
  columns => [map { {title => $_->[0], number => $_->[1] ? JSON::PP::true : JSON::PP::false} } ["Model", 0], ["Updates", 1], ["Epochs", 1],
    ["Hours", 1], ["Hardware", 0], ["Train NLL", 1], ["Dev. NLL", 1]],
  rows => \@rows,
  notes => ["NLL: the mean negative natural logarithm of the probability of a sentence, by the checkpoint that translates, over $train_pairs "
    . "pairs of the training text (of at most 30 words for the systems of that name, so their sentences are shorter) and over all "
    . "$dev_pairs pairs of the dev set. Hours include validations and checkpoints. A batch of the paper has 80 sentences; the record at "
    . "the end of the page has the size of ours.",
    "Published: arXiv 1409.0473, appendix B, Table 2, for another corpus."],
}]});
