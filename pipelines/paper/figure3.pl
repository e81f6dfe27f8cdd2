#!/usr/bin/env perl
# figure3.pl SEED SCORES.json [ALIGNMENT.json]: draws the four sentences of Figure 3 by the paper's rule: (a) an arbitrary one, here of
# 10 to 40 words; (b) to (d) random test sentences of 10 to 20 words without unknown words. Prints their line numbers as a value of
# rnnsearch align --lines. With ALIGNMENT.json, the output of align for these lines, it adds the labels (a) to (d) to that file instead.
# SCORES.json is the output of rnnsearch evaluate --json --sentences for the test set.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use Paper qw(words chosen read_evaluation fail);

@ARGV == 2 || @ARGV == 3 or fail("usage: figure3.pl SEED SCORES.json [ALIGNMENT.json]");
my ($seed, $evaluation, $alignment) = @ARGV;
my $sentences = read_evaluation($evaluation)->{sentences} or fail("$evaluation has no sentences; make it with --sentences");
my (@any, @known);
for my $sentence (@$sentences) {
  my $length = () = words($sentence->{source} // fail("$evaluation has no source text; make it with --corpus"));
  push @any, $sentence->{line} if $length >= 10 && $length <= 40;
  push @known, $sentence->{line} if $length >= 10 && $length <= 20 && defined $sentence->{unknown_share} && $sentence->{unknown_share} == 0;
}
my @drawn = chosen($seed, 3, @known);
my %taken = map { $_ => 1 } @drawn;
my ($first) = chosen($seed, 1, grep { !$taken{$_} } @any);
my @lines = grep { defined } $first, @drawn;
@lines = (1) if !@lines;    # the test set has only short sentences
if (!defined $alignment) {
  print join(",", sort { $a <=> $b } @lines), "\n";
  exit;
}

open my $in, "<:raw", $alignment or fail("cannot read $alignment: $!");
my $json = do { local $/; decode_json(<$in>) };
my %label;
@label{@lines} = map { "($_)" } "a" .. "d";
$_->{label} = $label{$_->{line}} // "" for @{$json->{sentences}};
$json->{sentences} = [sort { $a->{label} cmp $b->{label} } @{$json->{sentences}}];
$json->{note} = "(a) was drawn among all test sentences of 10 to 40 words, (b) to (d) among the " . @known . " of 10 to 20 words without "
  . "unknown words (the paper's rule for its Figure 3), with the seed $seed.";
open my $out, ">:raw", "$alignment.new" or fail("cannot write $alignment.new: $!");
print {$out} JSON::PP->new->utf8->canonical->encode($json);
close $out or fail("cannot write $alignment.new: $!");
rename "$alignment.new", $alignment or fail("cannot write $alignment: $!");
