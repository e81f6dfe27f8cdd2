#!/usr/bin/env perl
# table1.pl PREFIX ALL.json NO_UNK.json NORMALIZED.json NORMALIZED_NO_UNK.json: Table 1 of the paper, and Figure 2 as the share of its best
# BLEU that each system keeps in sentences of each length. The four files are outputs of rnnsearch evaluate --json: for all
# translations, and for those in which no unknown word could be produced, each without and with --normalize. Writes PREFIX.json and
# PREFIX.md (Paper.pm).
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(max);
use Paper qw(read_evaluation write_section fail);

# arXiv 1409.0473, Table 1.
my @published = (["RNNencdec-30", "13.93", "24.19"], ["RNNsearch-30", "21.50", "31.44"], ["RNNencdec-50", "17.82", "26.71"],
  ["RNNsearch-50", "26.75", "34.16"], ["RNNsearch-50*", "28.45", "36.15"], ["Moses", "33.30", "35.63"]);

@ARGV == 5 or fail("usage: table1.pl PREFIX ALL.json NO_UNK.json NORMALIZED.json NORMALIZED_NO_UNK.json");
my $prefix = shift;
my @evaluations = map { read_evaluation($_) } @ARGV;
my @systems = map { my %of = map { $_->{system} => $_ } @{$_->{systems}}; \%of } @evaluations;
sub cell { my ($row) = @_; $row ? sprintf("%.2f [%.2f, %.2f]", @$row{qw(bleu low high)}) : "–" }

my @rows;
for (@published) {
  my ($name, @theirs) = @$_;
  my @ours = map {
    my ($kind, $of) = @$_;
    cell($systems[$of]{$name} && $systems[$of]{$name}{$kind});
  } ["all", 0], ["without_unknown_words", 1], ["all", 2], ["without_unknown_words", 3];
  push @rows, [$name, @ours, @theirs];
}
my $any = $evaluations[0]{systems}[0];
my ($all, $known) = map { $any->{$_}{sentences} } "all", "without_unknown_words";
my @tables = ({
  caption => "Table 1: BLEU",
  columns => [{title => "Model", number => JSON::PP::false}, map { {title => $_, number => JSON::PP::true} }
    "All ($all sentences)", "No UNK ($known sentences)", "All, normalised", "No UNK, normalised", "published: All", "published: No UNK"],
  rows => \@rows,
  notes => ["BLEU in percent with 95% bootstrap intervals ($any->{signature}). No UNK: sentences whose words and reference words are all "
    . "in the vocabularies of words; the systems may not write an unknown word there. The search ranks hypotheses by log-probability, "
    . "as the paper says; normalised: by log-probability divided by length, an option of the paper's released code.",
    "The published scores are from Table 1 of arXiv 1409.0473, for the 3,003 sentences of newstest2014, which is another text. "
    . "RNNsearch-50* was trained longer; Moses is the paper's phrase-based system, which also used 418 million words of monolingual "
    . "text."],
});

# The share of its best bucket's BLEU that a system keeps in each bucket.
for my $of (0, 2) {
  my @buckets = map { $_->{label} } grep { $_->{sentences} } @{$any->{buckets}};
  my @kept;
  for my $system (@{$evaluations[$of]{systems}}) {
    my @rows = grep { $_->{sentences} } @{$system->{buckets}};
    my @reliable = grep { $_->{sentences} >= 100 } @rows;    # as evaluate --chart chooses the best bucket
    my $best = max map { $_->{bleu} } @reliable ? @reliable : @rows;
    push @kept, [$system->{system}, sprintf("%.2f", $best), map { $best ? sprintf("%.0f%%", 100 * $_->{bleu} / $best) : "–" } @rows];
  }
  push @tables, {
    caption => "Figure 2: BLEU by words of the reference, as a share of the system's best" . ($of ? ", normalised" : ""),
    columns => [{title => "Model", number => JSON::PP::false}, map { {title => $_, number => JSON::PP::true} } "best BLEU", @buckets],
    rows => \@kept,
    notes => [join "; ", "Sentences: " . join(", ", map { "$_->{sentences} of $_->{label} words" } grep { $_->{sentences} } @{$any->{buckets}})],
  };
}
write_section($prefix, {title => "Table 1", tables => \@tables});
