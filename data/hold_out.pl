#!/usr/bin/env perl
# data/hold_out.pl SOURCE_FILE TARGET_FILE SRC TGT OUT_DIR NAME=N...: holds sets that are stratified by length out of parallel text,
# and writes OUT_DIR/{NAME,train}.{SRC,TGT}. Of each length of the source (to 10 words, 20, 30, 40, 50, 60, over) every set gets N
# pairs, but all sets together at most a third of the pairs of that length. A hash of the text selects the pairs, so the same text
# gives the same sets in any order of its lines. Train is the rest, without pairs that share a side with a held-out pair. The text is
# read twice, and memory does not grow with it.
use strict;
use warnings;
use Digest::SHA qw(sha256);
use Encode qw(decode);

my $edges = 6;    # buckets of ten words each, and one for longer sentences
@ARGV >= 6 or fail("usage: hold_out.pl SOURCE_FILE TARGET_FILE SRC TGT OUT_DIR NAME=N...");
my ($source_file, $target_file, $source, $target, $folder, @sets) = @ARGV;
my (@names, %wanted, $all);
for (@sets) {
  my ($name, $number) = /^([\w-]+)=([1-9]\d*)$/ or fail("'$_' is not NAME=N, a set and its number of pairs of each length");
  $name ne "train" && !$wanted{$name} or fail("a set cannot be named $name; names must differ from each other and from train");
  push @names, $name;
  $all += $wanted{$name} = $number;
}

sub fail {
  print STDERR "hold_out: @_\n";
  exit 1;
}

sub each_pair {
  my ($take) = @_;
  open my $in_source, "<:raw", $source_file or fail("cannot read $source_file: $!");
  open my $in_target, "<:raw", $target_file or fail("cannot read $target_file: $!");
  while (1) {
    my ($one, $other) = (scalar <$in_source>, scalar <$in_target>);
    defined $one == defined $other
      or fail("$source_file and $target_file have different numbers of lines: one ends after line $.; they must be parallel");
    last unless defined $one;
    chomp($one, $other);
    $take->($one, $other);
  }
}

# The pairs of each length with the least digests.
my (@count, @least, @thinned);
each_pair(sub {
  my ($one, $other) = @_;
  my $words = () = decode("UTF-8", $one) =~ /\S+/g;
  return unless $words && $other =~ /\S/;
  my $length = int(($words - 1) / 10);
  $length = $edges if $length > $edges;
  ++$count[$length];
  my $entries = $least[$length] //= {};
  $entries->{sha256("$one\t$other")} = [$one, $other];
  if (keys %$entries > 2 * $all + 1000) { $thinned[$length] = 1; delete @$entries{(sort keys %$entries)[$all .. keys(%$entries) - 1]} }
});

my (%set, %held);
for my $length (0 .. $edges) {
  my $entries = $least[$length] or next;
  my @order = sort keys %$entries;
  my $most = int(($thinned[$length] ? $count[$length] : @order) / 3);    # repeated pairs count once if all digests were kept
  for my $name (@names) {
    my $share = $all <= $most ? $wanted{$name} : int($most * $wanted{$name} / $all);
    for my $digest (splice @order, 0, $share) {
      $set{$digest} = $name;
      $held{$_} = 1 for @{$entries->{$digest}};
    }
  }
}
%set or fail("$source_file has too few pairs to hold any out; some length must have at least three");

mkdir $folder;
my (%out, %pairs);
for my $name (@names, "train") {
  for my $language ($source, $target) {
    my $path = "$folder/$name.$language";
    open $out{$name}{$language}, ">:raw", "$path.new" or fail("cannot write $path: $!");
  }
}
my %written;
each_pair(sub {
  my ($one, $other) = @_;
  my $digest = sha256("$one\t$other");
  my $name = $set{$digest};
  if (defined $name) { return if $written{$digest}++ }
  else {
    if ($held{$one} || $held{$other}) { ++$pairs{"left out, because a side of them is held out"}; return }
    $name = "train";
  }
  ++$pairs{$name};
  print {$out{$name}{$source}} "$one\n";
  print {$out{$name}{$target}} "$other\n";
});
for my $name (@names, "train") {
  for my $language ($source, $target) {
    close $out{$name}{$language} or fail("cannot write $folder/$name.$language: $!");
    rename "$folder/$name.$language.new", "$folder/$name.$language" or fail("cannot write $folder/$name.$language: $!");
  }
}
print "$_: $pairs{$_}\n" for sort keys %pairs;
