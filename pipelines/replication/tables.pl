#!/usr/bin/env perl
# pipelines/replication/tables.pl FOLDER UPDATES ROUNDS LENGTHS SYSTEMS [OTHER]: makes tables and chart data from the scores that run.sh
# wrote to FOLDER. LENGTHS and SYSTEMS are lists with commas. Writes to FOLDER
#   rounds.md    for each length the PSA, LCSR and GeoMean of every round, and their averages
#   medians.md   the median GeoMean over the rounds by length, beside the published medians and the maximum that can be reached
#   chart.tsv    the medians of the full model, for `rnnsearch report --chart`; OTHER, a folder of the other protocol, adds a line
# OTHER has the form NAME=FOLDER, and so may FOLDER; the tables show NAME [ours].
use strict;
use warnings;

@ARGV == 5 || @ARGV == 6 or die "usage: tables.pl FOLDER UPDATES ROUNDS LENGTHS SYSTEMS [OTHER]\n";
my ($folder, $updates, $rounds, $lengths, $systems, $other) = @ARGV;
(my $name, $folder) = $folder =~ /^([^=]+)=(.*)/s ? ($1, $2) : ("ours", $folder);
my @lengths = sort { $a <=> $b } split /,/, $lengths;
my @systems = split /,/, $systems;
my @metrics = ("PSA", "LCSR", "GeoMean");

# Published: zhengyang-2002/Paper_reading-Replicating, Code/Bahdanau-Attention.ipynb, its last cell: medians of 3 rounds of 5,000 updates.
my @swept = (10, 60, 110, 160, 210, 260, 310);
my %medians = (
  full => [.7150, .7988, .7477, .4519, .4797, .4518, .4120],
  a => [.7137, .7860, .6526, .5937, .4239, .4091, .2997],
  b => [.7145, .0386, .5007, .0557, .0819, .0543, .0981],
  c => [.7192, .7797, .6091, .6416, .3645, .3799, .3153],
  d => [.7199, .8870, .7319, .5190, .4499, .3285, .3066]
);
# The averages of ten rounds of 2,000 updates, which the replication's text prints. The notebook's TrainingConfig has max_length=30.
my %averages = (full => [.7361, .7603, .7465], a => [.7980, .8109, .8033]);

sub published {    # SYSTEM LENGTH: the median of the published sweep
  my ($system, $length) = @_;
  for (0 .. $#swept) { return $medians{$system}[$_] if $swept[$_] == $length }
  return undef;
}
# The maximum that can be reached: a sequence without primes counts 0. A number is prime with probability 1/4, and all lengths are equally
# likely.
sub ceiling { my ($length) = @_; return 1 - 3 / $length * (1 - 0.75**$length) }

sub scores {       # FOLDER LENGTH ROUND SYSTEM: PSA, LCSR and GeoMean as fractions, or nothing
  my ($from, $length, $round, $system) = @_;
  open my $file, "<", "$from/length-$length/round-$round/$system.scores" or return;
  my %found;
  while (<$file>) { $found{$1} = $2 / 100 if /^(PSA|LCSR|GeoMean) +[0-9,]+\*? +([0-9.]+)$/ }
  return @found{@metrics};
}
sub median {
  my @sorted = sort { $a <=> $b } @_;
  return undef if !@sorted;
  my $half = int(@sorted / 2);
  return @sorted % 2 ? $sorted[$half] : ($sorted[$half - 1] + $sorted[$half]) / 2;
}
sub shown { my ($value) = @_; return defined $value ? sprintf("%.4f", $value) : "–" }
sub row { return "| " . join(" | ", @_) . " |\n" }
sub geo_means {    # FOLDER LENGTH SYSTEM
  my ($from, $length, $system) = @_;
  return grep { defined } map { (scores($from, $length, $_, $system))[2] } 1 .. $rounds;
}
sub in_file {
  my ($path, $text) = @_;
  open my $file, ">", "$path.new" or die "tables.pl: cannot write $path.new: $!\n";
  print {$file} $text;
  close $file or die "tables.pl: cannot write $path.new: $!\n";
  rename "$path.new", $path or die "tables.pl: cannot rename $path.new: $!\n";
}

my $text = "";
for my $length (@lengths) {
  $text .= "Sequences of up to $length numbers, $updates updates a round; the maximum that can be reached is " . shown(ceiling($length)) . ".\n\n";
  $text .= row("round", map { my $s = $_; map { "$s $_" } @metrics } @systems);
  $text .= row("---", ("---:") x (3 * @systems));
  my %sum;
  for my $round (1 .. $rounds) {
    my @cells;
    for my $system (@systems) {
      my @scores = scores($folder, $length, $round, $system);
      push @cells, map { shown($scores[$_]) } 0 .. 2;
      push @{ $sum{$system}[$_] }, grep { defined } $scores[$_] for 0 .. 2;
    }
    $text .= row($round, @cells);
  }
  my @average;
  for my $system (@systems) {
    for my $of (@{ $sum{$system} }[0 .. 2]) {
      my $total = 0;
      $total += $_ for @$of;
      push @average, shown(@$of ? $total / @$of : undef);
    }
  }
  $text .= row("average", @average);
  $text .= row("published", map { my $s = $_; map { shown($averages{$s} ? $averages{$s}[$_] : undef) } 0 .. 2 } @systems)
    if $length == 30 && $updates == 2000;
  $text .= "\n";
}
in_file("$folder/rounds.md", $text);

$text = row("system", "", @lengths) . row("---", "---", ("---:") x @lengths);
for my $system (@systems) {
  $text .= row($system, "published", map { shown(published($system, $_)) } @lengths);
  my @of = map { [geo_means($folder, $_, $system)] } @lengths;
  $text .= row($system, $name, map { shown(median(@$_)) } @of);
  $text .= row($system, "least to most", map { my @s = sort { $a <=> $b } @$_; @s ? sprintf("%.2f–%.2f", $s[0], $s[-1]) : "–" } @of);
}
$text .= row("the maximum that can be reached", "", map { shown(ceiling($_)) } @lengths);
if (grep { $_ eq "full" } @systems) {
  $text .= row("full", "$name, share of that",
    map { my $m = median(geo_means($folder, $_, "full")); shown(defined $m ? $m / ceiling($_) : undef) } @lengths);
}
in_file("$folder/medians.md", $text);

my @lines = (["the maximum that can be reached", \&ceiling], ["published", sub { published("full", $_[0]) }]);
for ("$name=$folder", $other // ()) {
  my ($title, $from) = /^([^=]+)=(.*)/s;
  push @lines, [$title, sub { median(geo_means($from, $_[0], "full")) }];
}
$text = join("\t", "greatest length of a sequence", map { $_->[0] } @lines) . "\n";
for my $length (@lengths) {
  $text .= join("\t", $length, map { my $value = $_->[1]->($length); defined $value ? sprintf("%.4f", $value) : "" } @lines) . "\n";
}
in_file("$folder/chart.tsv", $text);
