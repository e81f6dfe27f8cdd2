#!/usr/bin/env perl
# select.pl LENGTH SOURCE TARGET OUT_SOURCE OUT_TARGET [COUNT SEED]: writes the pairs of parallel text that have at most LENGTH words on
# either side (Paper.pm, words). With COUNT and SEED it writes a random sample of COUNT of them, in their order.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Paper qw(words fail);

@ARGV == 5 || @ARGV == 7 or fail("usage: select.pl LENGTH SOURCE TARGET OUT_SOURCE OUT_TARGET [COUNT SEED]");
my ($length, $source, $target, $out_source, $out_target, $count, $seed) = @ARGV;
srand $seed if defined $seed;
open my $in_source, "<:utf8", $source or fail("cannot read $source: $!");
open my $in_target, "<:utf8", $target or fail("cannot read $target: $!");
open my $to_source, ">:utf8", "$out_source.new" or fail("cannot write $out_source.new: $!");
open my $to_target, ">:utf8", "$out_target.new" or fail("cannot write $out_target.new: $!");
my (@kept, $seen);
while (defined(my $one = <$in_source>)) {
  my $other = <$in_target> // fail("$target has fewer lines than $source");
  next if $one !~ /\S/ || $other !~ /\S/ || $length < (() = words($one)) || $length < (() = words($other));
  if (!defined $count) {
    print {$to_source} $one;
    print {$to_target} $other;
    next;
  }
  # Reservoir sampling in one pass: J. S. Vitter, Random sampling with a reservoir, ACM TOMS, 1985, algorithm R.
  ++$seen;
  my $place = $seen <= $count ? $seen - 1 : int rand $seen;
  $kept[$place] = [$seen, $one, $other] if $place < $count;
}
for (sort { $a->[0] <=> $b->[0] } @kept) {
  print {$to_source} $_->[1];
  print {$to_target} $_->[2];
}
close $to_source && close $to_target or fail("cannot write $out_source and $out_target: $!");
rename "$out_source.new", $out_source and rename "$out_target.new", $out_target or fail("cannot write $out_source and $out_target: $!");
