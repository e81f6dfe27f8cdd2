#!/usr/bin/env perl
# by_sentence.pl apart TEXT SENTENCES: writes the sentences of each line of TEXT, one a line. A sentence ends with a full stop, a
# question mark or an exclamation mark, if a space and a capital letter follow; a single letter with a full stop ("e.g.") does not end it.
# by_sentence.pl together TEXT SENTENCES JOINED: the reverse for translations: writes one line for each line of TEXT, the translations of its
# sentences, which are lines of SENTENCES.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Paper qw(fail);

my ($way, $text, $sentences, $joined) = @ARGV;
@ARGV == 3 && $way eq "apart" || @ARGV == 4 && $way eq "together"
  or fail("usage: by_sentence.pl apart TEXT SENTENCES | together TEXT SENTENCES JOINED");
my $output = $way eq "apart" ? $sentences : $joined;
open my $in, "<:utf8", $text or fail("cannot read $text: $!");
open my $out, ">:utf8", "$output.new" or fail("cannot write $output.new: $!");
my $translated;
if ($way eq "together") { open $translated, "<:utf8", $sentences or fail("cannot read $sentences: $!") }
while (my $line = <$in>) {
  chomp $line;
  my @sentences = split /(?:(?<=[.!?])(?<!\b\p{L}\.)|(?<=[.!?]["'\x{201d})\]]))\s+(?=["'\x{201c}(\[]?\p{Lu})/, $line;
  @sentences = ("") if !@sentences;
  if ($translated) {
    for (@sentences) {
      $_ = <$translated> // fail("$sentences has fewer lines than $text has sentences");
      chomp;
    }
    @sentences = join " ", grep { length } @sentences;
  }
  print {$out} "$_\n" for @sentences;
}
fail("$sentences has more lines than $text has sentences") if $translated && defined <$translated>;
close $out or fail("cannot write $output: $!");
rename "$output.new", $output or fail("cannot write $output: $!");
