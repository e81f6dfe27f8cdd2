#!/usr/bin/env perl
# table1.pl ALL.json NO_UNK.json: Table 1 of the paper, in Markdown, from two outputs of rnnsearch evaluate --json: of all
# sentences, and of translations in which no unknown word could be produced, where neither side has one.
use strict;
use warnings;
use JSON::PP;

sub systems {
  my ($path) = @_;
  open my $in, "<:raw", $path or die "table1: cannot read $path: $!\n";
  local $/;
  my $json = eval { decode_json(<$in>) };
  ref $json eq "HASH" && ($json->{format} // "") eq "rnnsearch-evaluation"
    or die "table1: $path is not what rnnsearch evaluate --json prints\n";
  return $json->{systems};
}
sub cell { my ($row) = @_; sprintf "%.2f [%.2f, %.2f]", @$row{qw(bleu low high)} }

@ARGV == 2 or die "table1: two files were expected, of all sentences and of those without unknown words\n";
my ($all, $known) = map { systems($_) } @ARGV;
my %known = map { $_->{system} => $_->{without_unknown_words} } @$known;
printf "| Model | All (%d sentences) | No UNK (%d sentences) |\n| --- | ---: | ---: |\n", $all->[0]{all}{sentences},
  $known->[0]{without_unknown_words}{sentences};
printf "| %s | %s | %s |\n", $_->{system}, cell($_->{all}), cell($known{$_->{system}}) for @$all;
