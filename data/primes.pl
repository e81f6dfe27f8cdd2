#!/usr/bin/env perl
# data/primes.pl OUT_PREFIX PAIRS MAX_LENGTH SEED [even|growing]: the replication's task, one sequence of numbers a line. A sequence
# has L numbers, each drawn uniformly from 1 to 100. The target is its prime numbers in their order, possibly none; the source is the
# sequence reversed (zhengyang-2002/Paper_reading-Replicating, Code/Bahdanau-Attention.ipynb, generate_data). With "even", L is drawn
# uniformly from 1 to MAX_LENGTH, as there. With "growing", the pairs are a curriculum: the greatest length grows from 8 to 20 in the
# first 38% of the pairs, to MAX_LENGTH until 95%, and then stays; half of the lengths are drawn uniformly up to the greatest one, and
# half with a uniform logarithm.
# Makes OUT_PREFIX.source and OUT_PREFIX.target, PAIRS lines each. The same arguments give the same bytes on every machine, and
# different seeds give different sequences.
use strict;
use warnings;

my $usage = "data/primes.pl OUT_PREFIX PAIRS MAX_LENGTH SEED [even|growing]";
sub fail { print STDERR "primes.pl: @_\n"; exit 1 }
@ARGV == 4 || @ARGV == 5 or fail("usage: $usage");
my ($prefix, $pairs, $max_length, $seed, $lengths) = (@ARGV, "even");
$lengths =~ /^(even|growing)$/ or fail("lengths are '$lengths'; they must be even or growing; usage: $usage");
for (["PAIRS", $pairs, 1], ["MAX_LENGTH", $max_length, 1], ["SEED", $seed, 0]) {
  my ($name, $value, $least) = @$_;
  $value =~ /^[0-9]{1,9}$/ && $value >= $least or fail("$name is '$value'; it must be a whole number from $least on; usage: $usage");
}

# L'Ecuyer's combined generator (1988, "Efficient and portable combined random number generators"), exact in doubles. With its period
# of 2.3e18 no two corpora overlap; with a single generator of 31 bits they would.
my ($first, $second) = (1 + $seed % 2147483562, 1 + $seed * 7919 % 2147483398);
sub draw {    # at least 0, below 1
  $first = $first * 40014 % 2147483563;
  $second = $second * 40692 % 2147483399;
  return (($first - $second) % 2147483562) / 2147483562;
}
sub below { return int(draw() * $_[0]) }
draw() for 1 .. 20;    # the first draws of neighbouring seeds are alike

my %prime = map { $_ => 1 } grep { my $n = $_; $n >= 2 && !grep { $n % $_ == 0 } 2 .. sqrt $n } 1 .. 100;
my %file;
for my $side ("source", "target") {
  open $file{$side}, ">", "$prefix.$side" or fail("cannot write $prefix.$side: $!");
}
my ($sources, $targets) = @file{"source", "target"};
for my $pair (0 .. $pairs - 1) {
  my $length;
  if ($lengths eq "even") {
    $length = 1 + below($max_length);
  } else {
    my $share = $pair / (0.95 * $pairs);
    my $greatest = int($share < 0.4 ? 8 * (20 / 8)**($share / 0.4) : 20 * ($max_length / 20)**(($share - 0.4) / 0.6));
    $greatest = $max_length if $greatest > $max_length || $share > 1;
    $length = draw() < 0.5 ? 1 + below($greatest) : int(exp(draw() * log($greatest + 1)));
  }
  my @numbers = map { 1 + below(100) } 1 .. $length;
  print {$sources} join(" ", reverse @numbers), "\n";
  print {$targets} join(" ", grep { $prime{$_} } @numbers), "\n";
}
close $file{$_} or fail("cannot write $prefix.$_: $!") for "source", "target";
