#!/usr/bin/env perl
# long_sentences.pl PREFIX SEED SCORES.json TRAIN_SOURCE TRAIN_TARGET LANGUAGES: section 5.2.2 and appendix C of the paper. Shows four
# test sentences of 30 to 60 words, drawn with the seed, with their references and the translations by RNNencdec-50 and RNNsearch-50, and
# marks the words after the place where a translation leaves the source (Paper.pm, marked_place). For all sentences of 30 words and more
# it computes, by position, the share of the translation that the source supports and the share of the source that the translation
# covers. SCORES.json is the output of rnnsearch evaluate --json --sentences for the test set; TRAIN_SOURCE and TRAIN_TARGET are the
# text in which word translations are counted. LANGUAGES is a string such as "en fr". Writes PREFIX.json and PREFIX.md.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use List::Util qw(sum0);
use Paper qw(words words_apart chosen read_evaluation write_section learn supported covered marked_place fail);

@ARGV == 6 or fail("usage: long_sentences.pl PREFIX SEED SCORES.json TRAIN_SOURCE TRAIN_TARGET LANGUAGES");
my ($prefix, $seed, $evaluation, $train_source, $train_target, $languages) = @ARGV;
my ($source_language, $target_language) = split " ", $languages;
my $json = read_evaluation($evaluation);
my @names = map { $_->{system} } @{$json->{systems}};
my @shown = grep { my $name = $_; grep { $_ eq $name } @names } qw(RNNencdec-50 RNNsearch-50);
my @long = grep { (() = words($_->{source} // fail("$evaluation has no source text"))) >= 30 } @{$json->{sentences} // fail("$evaluation has no sentences; make it with --sentences")};
@long or do {
  write_section($prefix, {title => "Long sentences", text => ["The test set has no sentence of 30 words or more."]});
  exit;
};

sub translations { my ($sentence) = @_; map { $sentence->{systems}{$_}{hypothesis} } @names }
my $counts = learn($train_source, $train_target, map { [$_->{source}, $_->{references}[0], translations($_)] } @long);

my @places = ("1-10", "11-20", "21-30", "31-40", "41-50", "over 50");
sub place_of { my ($i) = @_; $i < 50 ? int($i / 10) : 5 }
my (%supported, %covered, %before, %words, %leaves);
for my $sentence (@long) {
  my %text = (reference => $sentence->{references}[0]);
  $text{$_} = $sentence->{systems}{$_}{hypothesis} for @names;
  for my $name (keys %text) {
    my @signs = supported($counts, $sentence->{source}, $text{$name});
    for my $i (grep { $signs[$_] } 0 .. $#signs) { push @{$supported{$name}[place_of($i)]}, $signs[$i] > 0 }
    my @coverage = covered($counts, $sentence->{source}, $text{$name});
    for my $i (grep { $coverage[$_] } 0 .. $#coverage) { push @{$covered{$name}[place_of($i)]}, $coverage[$i] > 0 }
    my $place = marked_place($counts, $sentence->{source}, $text{$name});
    $before{$name} += $place;
    $words{$name} += @signs;
    ++$leaves{$name} if $place < @signs;
  }
}
sub share { my ($list) = @_; $list && @$list ? sprintf("%.0f%%", 100 * sum0(map { $_ ? 1 : 0 } @$list) / @$list) : "–" }
my @columns = (@names, "reference");
sub by_place {
  my ($caption, $title, $shares) = @_;
  return {caption => $caption,
    columns => [map { {title => $_->[0], number => $_->[1] ? JSON::PP::true : JSON::PP::false} } [$title, 0], map { [$_, 1] } @columns],
    rows => [map { my $place = $_; [$places[$place], map { share($shares->{$_}[$place]) } @columns] } grep { my $place = $_; grep { $_->[$place] } values %$shares } 0 .. $#places]};
}
my $number = @long;
my @tables = (
  by_place("Content words of the translation that the source supports ($number sentences of 30 words and more)", "words of the translation", \%supported),
  by_place("Content words of the source that the translation covers ($number sentences of 30 words and more)", "words of the source", \%covered),
  {caption => "Where translations leave the source ($number sentences of 30 words and more)",
    columns => [{title => "Model", number => JSON::PP::false}, map { {title => $_, number => JSON::PP::true} } "sentences it leaves", "words of a translation", "words before it leaves"],
    rows => [map { [$_, sprintf("%.0f%%", 100 * ($leaves{$_} // 0) / $number), sprintf("%.1f", $words{$_} / $number), sprintf("%.1f", $before{$_} / $number)] } @columns]});

my @sentences;
my %short = map { $_->{line} => $_ } grep { (() = words($_->{source})) <= 60 } @long;
for my $line (chosen($seed, 4, sort { $a <=> $b } keys %short)) {
  my $sentence = $short{$line};
  my @texts = ({name => "Source", language => $source_language, text => $sentence->{source}},
    {name => "Reference", language => $target_language, text => $sentence->{references}[0]});
  for my $name (@shown) {
    my $text = $sentence->{systems}{$name}{hypothesis};
    my ($kept, $rest) = words_apart($text, marked_place($counts, $sentence->{source}, $text));
    push @texts, {name => $name, language => $target_language, text => $kept, rest => $rest};
  }
  push @sentences, {title => "Sentence $line", texts => \@texts};
}
write_section($prefix, {title => "Long sentences", tables => \@tables, sentences => \@sentences, text => [
  "As in section 5.2.2 and appendix C of the paper: sentences of 30 to 60 words, drawn from the test set with the seed $seed, and their "
  . "translations by RNNencdec-50 and RNNsearch-50. The words after the place where a translation leaves its source are marked.",
  "That place is computed from the source. A content word of the translation is supported if a word of the source is "
  . "the same or translates it in the training text (Dice coefficient of at least 0.05, counted in $counts->{pairs} pairs), as often as "
  . "the source has such words; words in more than 3% or fewer than 5 of the sentences do not count. The place is where the "
  . "number of supported words minus the number of others is greatest. A synonym that the training text does not pair counts as "
  . "unsupported, so single marks can be wrong; the columns of the reference show how often."]});
