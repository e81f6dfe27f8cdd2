# What the scripts beside this file share: words, seeded choices, the outputs of rnnsearch evaluate and score, sections of the page.
package Paper;
use strict;
use warnings;
use Exporter "import";
use JSON::PP;

our @EXPORT_OK = qw(words words_apart chosen read_evaluation read_scores write_section learn supported covered marked_place fail);

sub fail {
  my ($name) = $0 =~ m{([^/]+)$};
  print STDERR "$name: @_\n";
  exit 1;
}

# The words and punctuation marks of a line of text, nearly as Moses's tokenizer cuts English and French: an apostrophe ends a word
# ("l'" "homme"), hyphens and points inside a word do not.
sub words { $_[0] =~ /[\p{L}\p{M}\p{N}_]+(?:[-.][\p{L}\p{M}\p{N}_]+)*['\x{2019}]?|[^\s]/g }

# COUNT of a list, in an order that the seed draws. Perl's generator is its own on every system (perlfunc, rand).
sub chosen {
  my ($seed, $count, @all) = @_;
  srand $seed;
  my @drawn;
  push @drawn, splice @all, int rand @all, 1 while @all && @drawn < $count;
  return @drawn;
}

# What rnnsearch evaluate --json printed.
sub read_evaluation {
  my ($path) = @_;
  open my $in, "<:raw", $path or fail("cannot read $path: $!");
  local $/;
  my $json = eval { decode_json(<$in>) };
  ref $json eq "HASH" && ($json->{format} // "") eq "rnnsearch-evaluation" or fail("$path is not what rnnsearch evaluate --json prints");
  return $json;
}

# What rnnsearch score printed: a natural logarithm of a probability on each line.
sub read_scores {
  my ($path) = @_;
  open my $in, "<", $path or fail("cannot read $path: $!");
  chomp(my @scores = <$in>);
  /^-?\d+\.\d+$/ or fail("$path: '$_' is not what rnnsearch score prints") for @scores;
  @scores or fail("$path holds no scores");
  return @scores;
}

# Writes PREFIX.json, a section for rnnsearch report --section, and PREFIX.md, its text and tables in Markdown.
sub write_section {
  my ($prefix, $section) = @_;
  my $save = sub {
    my ($path, $content) = @_;
    open my $out, ">:raw", "$path.new" or fail("cannot write $path.new: $!");
    print {$out} $content;
    close $out or fail("cannot write $path.new: $!");
    rename "$path.new", $path or fail("cannot write $path: $!");
  };
  my $markdown = join "", map { "$_\n\n" } @{$section->{text} // []};
  for my $table (@{$section->{tables} // []}) {
    @$_ = map { "$_" } @$_ for @{$table->{rows}};    # the page takes no numbers
    my $line = sub { "| " . join(" | ", map { s/([|\\*])/\\$1/gr } @_) . " |\n" };
    my @columns = @{$table->{columns}};
    $markdown .= "**$table->{caption}**\n\n" . $line->(map { $_->{title} } @columns);
    $markdown .= "| " . join(" | ", map { $_->{number} ? "---:" : "---" } @columns) . " |\n";
    $markdown .= $line->(@$_) for @{$table->{rows}};
    $markdown .= "\n$_\n" for @{$table->{notes} // []};
    $markdown .= "\n";
  }
  for my $sentence (@{$section->{sentences} // []}) {
    $markdown .= "**$sentence->{title}**\n\n";
    for my $text (@{$sentence->{texts}}) {
      my $shown = join " ", grep { length } $text->{text}, $text->{rest} ? "<u>$text->{rest}</u>" : "";
      $markdown .= "* $text->{name}: $shown\n";
    }
    $markdown .= "\n";
  }
  utf8::encode($markdown);
  $save->("$prefix.md", $markdown);
  $save->("$prefix.json", JSON::PP->new->utf8->pretty->canonical->encode({format => "rnnsearch-section", format_version => 1, %$section}));
}

# Counts words that translate one another in parallel text: learn(SOURCE_FILE, TARGET_FILE, SENTENCE...), where a SENTENCE is a list of
# a source line and its translations, reads at most the first 500,000 pairs and counts, for the words of these sentences alone, in how
# many pairs each stands, and in how many a source word and a target word stand together.
sub learn {
  my ($source_file, $target_file, @sentences) = @_;
  my (%together, %source, %target);
  for (@sentences) {
    my ($source, @translations) = @$_;
    my @target = map { lc } map { words($_) } @translations;
    for my $word (map { lc } words($source)) { $together{$word}{$_} = 0 for @target }
  }
  open my $in_source, "<:utf8", $source_file or fail("cannot read $source_file: $!");
  open my $in_target, "<:utf8", $target_file or fail("cannot read $target_file: $!");
  my $pairs = 0;
  while ($pairs < 500_000 && defined(my $one = <$in_source>)) {
    my $other = <$in_target> // last;
    ++$pairs;
    my %one = map { lc($_) => 1 } words($one);
    my %other = map { lc($_) => 1 } words($other);
    ++$source{$_} for keys %one;
    ++$target{$_} for keys %other;
    for my $word (keys %one) {
      my $counts = $together{$word} or next;
      exists $counts->{$_} and ++$counts->{$_} for keys %other;
    }
  }
  return {together => \%together, source => \%source, target => \%target, pairs => $pairs};
}

# A content word: it has letters, and stands in at least 5 of the pairs, but in at most 3 of a hundred: not "la", not a rare name.
sub is_content {
  my ($counts, $side, $word) = @_;
  my $count = $counts->{$side}{$word} // 0;
  return $word =~ /\p{L}/ && $count >= 5 && $count <= 0.03 * $counts->{pairs};
}

# Whether two words translate one another: they are the same, or their Dice coefficient, 2 C(s, t) / (C(s) + C(t)), is at least 0.05.
sub associated {
  my ($counts, $source, $target) = @_;
  return 1 if $source eq $target;
  my $together = $counts->{together}{$source}{$target} or return 0;
  return 2 * $together / ($counts->{source}{$source} + $counts->{target}{$target}) >= 0.05;
}

# For each word of a translation: 1, the source supports it; -1, it does not; 0, it is no content word. A source word supports a target
# word as often as it stands there, so what a system says again and again is not supported.
sub supported {
  my ($counts, $source, $translation) = @_;
  my @source = map { lc } words($source);
  my (%left, @signs);
  for my $word (map { lc } words($translation)) {
    my $here = grep { $_ eq $word } @source;
    if (!$here && !is_content($counts, "target", $word) || $word !~ /\p{L}/) { push @signs, 0; next }
    $left{$word} //= grep { associated($counts, $_, $word) } @source;
    push @signs, $left{$word}-- > 0 ? 1 : -1;
  }
  return @signs;
}

# For each word of the source: 1, the translation has a word for it; -1, it has none; 0, it is no content word.
sub covered {
  my ($counts, $source, $translation) = @_;
  my @target = map { lc } words($translation);
  return map {
    my $word = $_;
    !is_content($counts, "source", $word) ? 0 : (grep { associated($counts, $word, $_) } @target) ? 1 : -1;
  } map { lc } words($source);
}

# Words of a translation before the place where it leaves its source: behind it fewer content words are supported than not, and the
# first so many words have the greatest excess of supported ones (the change point of a cumulative sum: E. S. Page, Continuous
# inspection schemes, Biometrika, 1954). All words: it does not leave it, but for one content word perhaps.
sub marked_place {
  my @signs = supported(@_);
  my ($place, $most, $sum) = (0, 0, 0);
  for my $i (0 .. $#signs) {
    $sum += $signs[$i];
    ($place, $most) = ($i + 1, $sum) if $signs[$i] > 0 && $sum >= $most;
  }
  return scalar @signs if 2 > grep { $_ < 0 } @signs[$place .. $#signs];
  return $place;
}

# A text, cut after its first COUNT words.
sub words_apart {
  my ($text, $count) = @_;
  return ("", $text) if $count == 0;
  my $seen = 0;
  while ($text =~ /[\p{L}\p{M}\p{N}_]+(?:[-.][\p{L}\p{M}\p{N}_]+)*['\x{2019}]?|[^\s]/g) {
    next if ++$seen < $count;
    my ($kept, $rest) = (substr($text, 0, pos $text), substr($text, pos $text));
    $rest =~ s/^\s+//;
    return ($kept, $rest);
  }
  return ($text, "");
}

1;
