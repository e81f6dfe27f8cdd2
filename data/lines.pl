#!/usr/bin/env perl
# data/lines.pl FILE... OUT_PREFIX: turns text with markup into plain lines, and writes a file OUT_PREFIX.SIDE for each side. Line i of
# all sides belongs together. The names of the files say what they are; .gz, .xz or .zst may follow.
#   .sgm .sgml  test sets of WMT up to 2020 (<srcset>, <refset>, <tstset>): SIDE is src, ref or hyp
#   .xml        test sets of WMT since 2021 (<dataset>): the same
#   .tmx        translation memories: SIDE is a language, as the file spells it
#   .tsv        columns separated by tabs: SIDE is 1, 2, ...
# Several translators or systems become ref.NAME or hyp.NAME. Every run of white space becomes one space. The files are held in memory.
use strict;
use warnings;
use Encode qw(decode encode);

my %unpacker = (gz => "gzip", xz => "xz", zst => "zstd");
my %root = map { $_ => 1 } qw(mteval srcset refset tstset dataset tmx);
my %inside = (
  srcset => "mteval", refset => "mteval", tstset => "mteval", collection => "dataset",
  doc => "srcset refset tstset dataset collection", src => "doc", ref => "doc", hyp => "doc",
  body => "tmx", tu => "body", tuv => "tu", seg => "doc src ref hyp tuv"
);
my %side_of = (srcset => "src", refset => "ref", tstset => "hyp");
my %who_of = (ref => "translator", hyp => "system");
my %code = map { $_ => 1 } qw(bpt ept ph it ut);    # elements of TMX that hold formatting in place of text

my (@sides, %side);    # {side, who, file, lines => [], names => [[document, segment, line]], documents}
my ($file, $text, $line);

sub fail {
  print STDERR "lines: @_\n";
  exit 1;
}
sub refuse { fail("$file line $line: @_") }

sub read_all {
  my ($kind, $packed) = $file =~ /\.(sgml?|xml|tmx|tsv)(?:\.(gz|xz|zst))?$/i
    or fail("$file is none of .sgm, .sgml, .xml, .tmx and .tsv, which may be followed by .gz, .xz or .zst");
  open my $in, "<:raw", $file or fail("cannot read $file: $!");
  if ($packed) {
    close $in;
    open $in, "-|:raw", $unpacker{lc $packed}, "-dc", "--", $file or fail("cannot run $unpacker{lc $packed}: $!");
  }
  local $/;
  my $bytes = <$in>;
  close $in or fail("cannot read $file: " . ($! || "$unpacker{lc $packed} fails"));
  $bytes = encode("UTF-8", decode("UTF-16", $bytes)) if $bytes =~ /^(?:\xfe\xff|\xff\xfe)/;
  $bytes =~ s/^\xef\xbb\xbf//;
  $bytes =~ s/\r\n/\n/g;
  $text = decode("UTF-8", $bytes, Encode::FB_QUIET);
  $line = 1 + ($text =~ tr/\n//);
  refuse("not valid UTF-8") if length $bytes;
  refuse("a NUL character") if $text =~ /\0/;
  $line = 1;
  return lc $kind;
}

sub side {    # SIDE WHO: makes it when it is new
  my ($name, $who) = @_;
  return $side{$file}{$name}{$who} //= do {
    push @sides, {side => $name, who => $who, file => $file, lines => [], names => [], documents => 0, last => 0};
    $sides[-1];
  };
}

sub one_line {
  my ($words) = @_;
  $words =~ s/\s+/ /ga;    # of ASCII: a no-break space is text
  $words =~ s/^ | $//g;
  return $words;
}

sub decoded {    # TEXT, and whether it is XML: character references become characters
  my ($words, $xml) = @_;
  my %named = (amp => "&", lt => "<", gt => ">", quot => '"', apos => "'");
  $words =~ s{&(?:(amp|lt|gt|quot|apos)|\#(\d{1,7})|\#[xX]([0-9A-Fa-f]{1,6}));|&}{
    my $number = $2 // (defined $3 ? hex $3 : undef);
    refuse("$& does not refer to a character")
      if defined $number && ($number > 0x10FFFF || $number >= 0xD800 && $number < 0xE000 || $number < 32 && $number !~ /^(?:9|10|13)$/);
    refuse("an '&' does not begin a character reference; write it as &amp;") if $xml && $& eq "&";
    defined $1 ? $named{$1} : defined $number ? chr $number : "&"
  }ge;
  return $words;
}

sub read_columns {
  my $columns;
  for (split /\n/, $text) {
    my @cells = split /\t/, $_, -1;
    $columns //= @cells;
    @cells == $columns && $columns > 1
      or refuse("the number of columns is " . @cells . ", but " . ($columns > 1 ? "line 1 has $columns" : "two or more were expected"));
    push @{side($_ + 1, "")->{lines}}, one_line($cells[$_]) for 0 .. $#cells;
    ++$line;
  }
}

sub read_markup {
  my ($kind) = @_;
  my $xml = $kind eq "xml" || $kind eq "tmx";
  my (@open, $root, $segment, $name, $voice, %count, $documents, $document, $unit, @units, $language, $code);
  $documents = 0;
  my $take = sub {    # TEXT
    if (defined $segment) { $segment .= $_[0] unless $code }
    elsif ($kind ne "tmx" && $_[0] =~ /^(\s*)\S/a) {
      $line += ($1 =~ tr/\n//);
      refuse($root ? "there is text outside of <seg>; is a <seg> tag missing?" : "there is text before the first tag");
    }
  };
  my $speak = sub {    # SIDE WHO: whose the next segments are
    $voice = side(@_);
    refuse("one document has a second <$_[0]>" . ($_[1] eq "" ? "" : " of '$_[1]'")) if $voice->{last} == $documents;
    $voice->{last} = $documents;
    ++$voice->{documents};
  };
  my $add = sub {
    if ($kind eq "tmx") { $unit->{$language} //= one_line($segment) }
    else {
      push @{$voice->{lines}}, one_line($segment);
      push @{$voice->{names}}, $name;
      ++$count{$open[-1]};
    }
    $segment = undef;
  };
  my $begin = sub {    # NAME ATTRIBUTES
    my ($tag, %has) = @_;
    if (!$root) {
      $root{$tag} && ($tag eq "tmx") == ($kind eq "tmx")
        or refuse("<$tag> is the first tag, but " . ($kind eq "tmx" ? "<tmx>" : "<srcset>, <refset>, <tstset> or <dataset>") . " was expected");
    } elsif (!@open) { refuse("<$tag> follows the end of the document") }
    else {
      my $parents = $tag eq "seg" ? ($root eq "dataset" ? "src ref hyp" : "doc tuv") : $inside{$tag} // "";
      $parents = "" if $tag =~ /^(?:src|ref|hyp)$/ && $root ne "dataset";
      " $parents " =~ / \Q$open[-1]\E / or refuse("<$tag> is inside <$open[-1]>; is a tag missing before it?");
    }
    $root = $tag if !$root || $root eq "mteval";
    if ($tag eq "doc") {
      ++$documents;
      $document = $has{docid} // $has{id} // "";
      %count = ();
      $speak->($side_of{$root}, $root eq "srcset" ? "" : $has{sysid} // "") if $root ne "dataset";
    } elsif ($tag =~ /^(?:src|ref|hyp)$/) { $count{$tag} = 0; $speak->($tag, $has{$who_of{$tag} // ""} // "") }
    elsif ($tag eq "tu") { $unit = {} }
    elsif ($tag eq "tuv") { $language = $has{"xml:lang"} // $has{lang} // refuse("<tuv> says no language") }
    if ($tag eq "seg") { $segment = ""; $name = [$document // "", $has{id} // "", $line] }
    else { push @open, $tag }
  };
  my $end = sub {    # NAME
    my ($tag) = @_;
    @open && $open[-1] eq $tag or refuse("</$tag> " . (@open ? "was found where </$open[-1]> was expected" : "has no start tag"));
    pop @open;
    push @units, $unit if $tag eq "tu";
    if ($tag =~ /^(?:src|ref|hyp)$/) {
      my ($other) = grep { $count{$_} != $count{$tag} } grep { $_ ne $tag } sort keys %count;
      refuse("<$tag> ends with $count{$tag} segments, but <$other> of this document has $count{$other}") if $other;
    }
  };
  pos($text) = 0;
  while (pos $text < length $text) {
    my $before = pos $text;
    if ($text =~ /\G[^<]+/gc) { $take->(decoded($&, $xml)) }
    elsif ($text =~ /\G<!--.*?-->/gcs || $text =~ /\G<[!?](?!\[CDATA\[|--)[^>\[]*>/gc) { }
    elsif ($text =~ /\G<!\[CDATA\[(.*?)\]\]>/gcs) { $take->($1) }
    elsif ($text =~ m{\G<(/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>/]+))?)*)\s*(/?)>}gc) {
      my ($closes, $tag, $inner, $closed) = ($1, lc $2, $3, $4);
      if (defined $segment && $kind eq "tmx" && $tag !~ /^(?:seg|tuv?|body)$/) {    # formatting
        $code = ($code // 0) + ($closes ? -1 : 1) if $code{$tag} && !$closed;
      } elsif (defined $segment) {
        $closes && $tag eq "seg" or refuse("the tag <$closes$tag> is inside a segment; is </seg> missing?");
        $add->();
      } elsif ($closes) {
        refuse("</seg> has no <seg>") if $tag eq "seg";
        $end->($tag) if $inside{$tag} || $root{$tag};
      } elsif ($inside{$tag} || $root{$tag} || !$root) {
        my %has;
        while ($inner =~ /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/g) { $has{lc $1} //= decoded($2 // $3 // $4, $xml) }
        $begin->($tag, %has);
        if ($closed) { $tag eq "seg" ? $add->() : $end->($tag) }
      }
    }
    elsif (!$xml && $text =~ m{\G<(?![A-Za-z_/!?])}gc) { $take->("<") }
    else { refuse("a '<' begins no complete tag, comment or declaration; is a '>' or a quote missing?") }
    $line += (substr($text, $before, pos($text) - $before) =~ tr/\n//);
  }
  refuse("the file ends inside a segment; </seg> is missing") if defined $segment;
  refuse("the file ends without </$open[-1]>") if @open;
  return unless $kind eq "tmx";
  my (%known, $left);
  for my $of (@units) { $known{$_} //= keys %known for keys %$of }
  my @languages = sort keys %known;
  for my $of (@units) {
    if (grep { !defined $of->{$_} } @languages) { ++$left; next }
    push @{side($_, "")->{lines}}, $of->{$_} for @languages;
  }
  print STDERR "lines: $file: $left of " . @units . " units lack one of the languages @languages and are left out\n" if $left;
}

@ARGV >= 2 or fail("usage: lines.pl FILE... OUT_PREFIX");
my $prefix = pop @ARGV;
for (@ARGV) {
  $file = $_;
  my $kind = read_all();
  if ($kind eq "tsv") { read_columns() } else { read_markup($kind) }
  my @of_file = grep { $_->{file} eq $file } @sides;
  my ($most) = sort { $b <=> $a } map { $_->{documents} } @of_file;
  for my $part (@of_file) {    # a translator of some documents only
    next if $part->{documents} == $most;
    print STDERR "lines: $file: $part->{side} of '$part->{who}' is in $part->{documents} of $most documents and is left out\n";
    @sides = grep { $_ != $part } @sides;
  }
  grep { $_->{file} eq $file && @{$_->{lines}} } @sides or fail("$file holds no segments");
}
my $first = $sides[0];
my %written;
for my $part (@sides) {
  my $several = grep { $_->{side} eq $part->{side} } @sides;
  $part->{name} = $several > 1 && $part->{who} ne "" ? "$part->{side}.$part->{who}" : $part->{side};
  $part->{name} =~ s/[^\w.-]/_/g;
  $written{$part->{name}}++ and fail("two sides would be written to $prefix.$part->{name}; convert $part->{file} by itself");
  @{$part->{lines}} == @{$first->{lines}}
    or fail("$part->{file} has " . @{$part->{lines}} . " segments of $part->{name}, but $first->{file} has " . @{$first->{lines}} . " of $first->{name}");
  for my $i (0 .. $#{$part->{names}}) {
    my ($document, $segment, $at) = @{$part->{names}[$i]};
    my ($other, $expected, $there) = @{$first->{names}[$i] // ["", "", 0]};
    next if grep { $_ eq "" } $document, $segment, $other, $expected;
    $document eq $other && $segment eq $expected
      or fail("$part->{file} line $at: found segment '$segment' of document '$document', but expected segment '$expected' of document "
        . "'$other', which is in $first->{file} line $there; all sides must have their segments in the same order");
  }
}
for my $part (@sides) {
  my $path = "$prefix.$part->{name}";
  open my $out, ">:encoding(UTF-8)", "$path.new" or fail("cannot write $path: $!");
  print $out map { "$_\n" } @{$part->{lines}};
  close $out or fail("cannot write $path: $!");
  rename "$path.new", $path or fail("cannot write $path: $!");
  print "$path: " . @{$part->{lines}} . " lines\n";
}
