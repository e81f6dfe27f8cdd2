#!/usr/bin/env perl
# debian_pairs.pl SRC TGT OUT_DIR [--dev N] [--test N] < stanzas
# Makes OUT_DIR/{train,dev,test}.{SRC,TGT} from the stanzas of Debian's Translation-SRC and Translation-TGT files and of
# its Packages files (which name the source that a package is built from) and prints statistics. The same input gives the
# same bytes. data/debian.sh provides the input; data/README.md describes the output.
use strict;
use warnings;
use utf8;
use Digest::MD5 qw(md5_hex);
use Encode qw(decode encode FB_CROAK);
use Getopt::Long;
binmode STDOUT, ':encoding(UTF-8)';

my %size = (dev => 2000, test => 2000);    # segments held out
GetOptions('dev=i' => \$size{dev}, 'test=i' => \$size{test}) && @ARGV == 3
  or die "usage: debian_pairs.pl SRC TGT OUT_DIR [--dev N] [--test N] < stanzas\n";
my ($src, $tgt, $out) = @ARGV;

my $longest         = 100;                                           # words in a segment
my $longest_together = 60;                                       # words in a segment of joined sentences
my %together = (train => 0.33, dev => 0.9, test => 0.9);    # share of groups whose neighbouring sentences are joined
my $ratio           = 1.9;     # largest ratio of lengths in characters, relative to the two languages' usual ratio
my $slack           = 12;      # characters by which a pair may always differ

# ---- reading

my (%text, @order, %seen, %source_of);    # text{md5}{language} = [synopsis, line...]; order = [md5, package]...
{
  local $/ = '';
  while (my $stanza = <STDIN>) {
    $stanza = eval { decode('UTF-8', $stanza, FB_CROAK) } // next;
    my ($package) = $stanza =~ /^Package: (\S+)/m or next;
    $source_of{$package} = $1 if $stanza =~ /^Source: (\S+)/m;
    my ($md5) = $stanza =~ /^Description-md5: (\S+)/m or next;
    my ($language, $body) = $stanza =~ /^Description-(?!md5)([\w@]+): ?(.*(?:\n[ \t].*)*)/m or next;
    next if $language ne $src && $language ne $tgt;
    $text{$md5}{$language} //= [map { s/^ //r } split /\n/, $body];
    push @order, [$md5, $package] if $language eq $tgt && !$seen{$md5}++;
  }
}

# ---- parsing a description

my $bullet = qr/(?:[-*+•·⋅–—−‐¤>]|o(?=\s)|\d{1,2}[.)]|\(\d{1,2}\))\s+/;
my $unspaced = qr/[\p{Han}\p{Hiragana}\p{Katakana}、。！？「」（）]/;    # written without spaces

sub clean {    # joins lines; every kind of white space, and the dots some translators write for it, become one space
  my $s = join ' ', @_;
  $s =~ s/[⋅\s\x{a0}\x{202f}\x{2009}\x{feff}]+/ /g;
  if (@_ > 1) {
    $s =~ s/(?<=\w)- (?=\w)/-/g;    # a word broken at its hyphen
    $s =~ s/(?<=$unspaced) | (?=$unspaced)//g;
  }
  return $s =~ s/^ | $//gr;
}

# The paragraphs of a description, each a list of [kind, line...]: running text P, list item L, other indented line V.
sub paragraphs {
  my @paragraphs = ([]);
  my $indent;    # indentation of the current list item
  for (@_) {
    if (/^\.?\s*$/) { push @paragraphs, []; undef $indent; next }
    my ($space, $line) = /^(\s*)(.*)/;
    my $blocks = $paragraphs[-1];
    my $first = !@$blocks || $blocks->[-1][0] eq 'L' || $blocks->[-1][-1] =~ /:\s*$/;    # a list without indentation may begin here
    if ($line =~ /^$bullet(?=\S)/ && (length $space || $first)) {
      $indent = length $space;
      push @$blocks, ['L', $line =~ s/^$bullet//r];
    } elsif (defined $indent && length $space >= $indent) {
      push @{$blocks->[-1]}, $line;
    } elsif (length $space) {
      push @$blocks, ['V', $line];
    } else {
      undef $indent;
      if (@$blocks && $blocks->[-1][0] eq 'P') { push @{$blocks->[-1]}, $line }
      else { push @$blocks, ['P', $line] }
    }
  }
  return grep { @$_ } @paragraphs;
}

my $abbreviation = qr/(?:\b(?:e\.g|i\.e|etc|vs|cf|ex|resp|approx|incl|esp|inc|ltd|co|corp|dr|mr|mrs|ms|st|jr|sr|no|nr
    |fig|vol|ed|al|ver|v|p|pp|z\.\s?b|d\.\s?h|u\.\s?a|bzw|bspw|usw|ca|evtl|ggf|c\.-?à-?d|env|av|apr|sig|ecc
    |ad\ es|pag|ej|p\.\s?ej|núm|pág|т\.\s?е|т\.\s?д)|\b\p{Lu})\.$/xi;
my $next = qr/["“«‘'(\[]?\s?[\p{Lu}\p{Lo}]/;    # the beginning of a sentence
my %sentences;                                   # cache: text -> its sentences, because much text is repeated

sub sentences {
  my ($text) = @_;
  return ($text) if $text !~ /[.!?…。！？]./;
  return @{$sentences{$text} //= do {
    my @sentences;
    my $open = 0;    # the last piece ended in an abbreviation, so its sentence continues
    for my $piece (split /(?:(?<=[.!?…])|(?<=[.!?…]["”’')\]]))\s+(?=$next)|(?<=[。！？])\s*/, $text) {
      if ($open) { $sentences[-1] .= " $piece" }
      else { push @sentences, $piece }
      $open = $piece =~ $abbreviation;
    }
    \@sentences;
  }};
}

# ---- aligning

sub shape { join ' ', map { $_->[0] } @_ }

# Returns pairs of blocks [kind, source, target] of two descriptions: all of them if the shapes of the descriptions agree,
# otherwise, if both have equally many paragraphs, those of the paragraphs whose shapes agree; and the number of source
# blocks without a pair.
sub align {
  my ($source, $target) = @_;
  my ($s, $t) = map { [map { @$_ } @$_] } $source, $target;
  my @runs;
  if (shape(@$s) eq shape(@$t)) { @runs = [$s, $t] }
  elsif (@$source == @$target) {
    @runs = grep { shape(@{$_->[0]}) eq shape(@{$_->[1]}) } map { [$source->[$_], $target->[$_]] } 0 .. $#$source;
  }
  my @pairs;
  for my $run (@runs) {
    my ($s, $t) = @$run;
    for my $i (0 .. $#$s) {
      my ($kind, @lines) = @{$s->[$i]};
      my (undef, @translated) = @{$t->[$i]};
      my @pair = (clean(@lines), clean(@translated));
      # removed because languages differ in how they end list items, which no model can predict
      if ($kind eq 'L') { s{ ?[;,]$}{} for @pair }
      push @pairs, [$kind, @pair];
    }
  }
  return \@pairs, @$s - @pairs;
}

my (@blocks, %dropped);    # [group, kind, source, target]: kind S is the synopsis
my ($descriptions, $source_characters, $target_characters) = (0, 0, 0);
for (@order) {
  my ($md5, $package) = @$_;
  my $both = $text{$md5};
  next unless $both->{$src};
  ++$descriptions;
  # Versions of one program (gcc-11, gcc-12) and packages of one source share text, so they form one group.
  my $group = ($source_of{$package} // $package) =~ s/[-.\d]+$//r;
  my ($synopsis, @lines) = @{$both->{$src}};
  my ($translated, @translated_lines) = @{$both->{$tgt}};
  my ($pairs, $lost) = align([paragraphs(@lines)], [paragraphs(@translated_lines)]);
  $dropped{'structures differ'} += $lost if $lost;
  for (['S', map({ clean($_) =~ s{ ?[;,]$}{}r } $synopsis, $translated)], @$pairs) {
    push @blocks, [$group, @$_];
    $source_characters += length $_->[1];
    $target_characters += length $_->[2];
  }
}
die "debian_pairs: no description has a text both in '$src' and in '$tgt'; choose another pair of languages\n"
  unless $descriptions;
my $usual = $target_characters / $source_characters;

# ---- judging a pair

sub words { scalar(() = $_[0] =~ /\S+/g) }

sub proportioned {
  my ($s, $t) = map { length } @_;
  $s *= $usual;
  my ($less, $more) = $s < $t ? ($s, $t) : ($t, $s);
  return $more <= $ratio * $less || $more <= $less + $slack;
}

sub untranslated {    # three of four words are the same (allowed in short pairs, which may be names and numbers)
  my ($s, $t) = map { [lc($_) =~ /\p{L}{2,}/g] } @_;
  return 0 if @$s < 4;
  my %count;
  ++$count{$_} for @$s;
  my $same = grep { ($count{$_} // 0) > 0 && $count{$_}-- } @$t;
  return $same >= 0.75 * @$s;
}

sub fault {
  my ($s, $t) = @_;
  return 'empty' if $s eq '' || $t eq '';
  return 'no letters' if $s !~ /\p{L}{2}/ || $t !~ /\p{L}/;
  return 'identical' if lc $s eq lc $t;
  return 'untranslated' if untranslated($s, $t);
  return 'too long' if words($s) > $longest || words($t) > $longest || length $s > 10 * $longest;
  return 'badly proportioned' unless proportioned($s, $t);
  return '';
}

# ---- splitting blocks into segments

sub share { hex(substr(md5_hex(encode('UTF-8', "$_[0] $_[1]")), 0, 8)) / 2**32 }    # a hash of a name, in [0, 1)

# Returns the [source, target] segments of a block; $together joins neighbouring sentences up to a length.
sub cut {
  my ($together, $kind, $s, $t) = @_;
  my @s = sentences($s);
  my @t = sentences($t);
  # if one pair of sentences is badly proportioned, the whole split is unreliable
  return [$s, $t] if @s != @t || @s < 2 || $kind eq 'S' || grep { !proportioned($s[$_], $t[$_]) } 0 .. $#s;
  my @segments = [shift @s, shift @t];
  while (@s) {
    my @joined = ("$segments[-1][0] $s[0]", "$segments[-1][1] $t[0]");
    if ($together && !grep { words($_) > $longest_together } @joined) { $segments[-1] = \@joined }
    else { push @segments, [$s[0], $t[0]] }
    shift @s, shift @t;
  }
  return @segments;
}

# A segment may be held out only if none of its sentences occurs in another group, so that no part of it is in train.
my %home;    # sentence -> its group, or '' if it occurs in several
for my $block (@blocks) {
  my ($group, $kind, @sides) = @$block;
  for my $sentence (map { lc } map { sentences($_) } @sides) {
    $home{$sentence} = ($home{$sentence} // $group) eq $group ? $group : '';
  }
}
sub only_here { !grep { !$home{lc $_} } map { sentences($_) } @_ }

my %in_group;
push @{$in_group{$_->[0]}}, $_ for @blocks;

sub segments {    # returns the distinct pairs without faults of a group that is assigned to $part; counts faults in $faults
  my ($group, $part, $faults, $distinct) = @_;
  my $together = share('together', $group) < $together{$part};
  my @kept;
  for my $block (@{$in_group{$group}}) {
    my (undef, @rest) = @$block;
    for my $pair (cut($together, @rest)) {
      my $fault = fault(@$pair) || ($distinct->{"$pair->[0]\t$pair->[1]"}++ ? 'repeated' : '');
      if ($fault) { ++$faults->{$fault} }
      else { push @kept, $pair }
    }
  }
  return @kept;
}

# ---- holding out whole groups, in the order of their hash, until dev and test are full

my $most = int(0.05 * @blocks);    # upper bound of dev and test, for languages with few translations
my %part_of;
my %kept = (train => [], dev => [], test => []);
my @by_hash = sort { share('part', $a) <=> share('part', $b) || $a cmp $b } keys %in_group;
for my $part (qw(test dev)) {
  my %distinct;
  my $wanted = $size{$part} < $most ? $size{$part} : $most;
  while (@by_hash && @{$kept{$part}} < $wanted) {
    my $group = shift @by_hash;
    $part_of{$group} = $part;
    for my $pair (segments($group, $part, \%dropped, \%distinct)) {
      if (only_here(@$pair)) { push @{$kept{$part}}, $pair }
      else { ++$dropped{'held out, but also elsewhere'} }
    }
  }
}
my (%distinct, %done);
for my $group (map { $_->[0] } @blocks) {
  push @{$kept{train}}, segments($group, 'train', \%dropped, \%distinct) unless $part_of{$group} || $done{$group}++;
}
die "debian_pairs: no pair is left of $descriptions descriptions in '$src' and '$tgt'; dropped "
  . join(', ', map { "$dropped{$_} $_" } sort keys %dropped) . "\n"
  unless @{$kept{train}};

# ---- writing

printf "%d descriptions in both languages, %d groups of packages\n", $descriptions, scalar keys %in_group;
printf "%-6s %8s %10s %10s %6s %6s   pairs by words of the source: to 10, 20, 30, 40, 50, 60, over\n", 'part', 'pairs',
  "$src words", "$tgt words", 'mean', 'mean';
for my $part (qw(train dev test)) {
  my @files;
  for my $language ($src, $tgt) {
    open $files[@files], '>:encoding(UTF-8)', "$out/$part.$language" or die "debian_pairs: cannot write to $out: $!\n";
  }
  my @total = (0, 0);
  my @bucket = (0) x 7;
  for my $pair (@{$kept{$part}}) {
    for my $side (0, 1) {
      print {$files[$side]} "$pair->[$side]\n";
      $total[$side] += words($pair->[$side]);
    }
    my $bucket = int((words($pair->[0]) - 1) / 10);
    ++$bucket[$bucket < 6 ? $bucket : 6];
  }
  for (@files) { close $_ or die "debian_pairs: cannot write to $out: $!\n" }
  my $pairs = @{$kept{$part}};
  my @mean = map { $pairs ? $_ / $pairs : 0 } @total;
  printf "%-6s %8d %10d %10d %6.1f %6.1f   %s\n", $part, $pairs, @total, @mean, "@bucket";
}
print "dropped: ", join(', ', map { "$dropped{$_} $_" } sort keys %dropped), "\n";
