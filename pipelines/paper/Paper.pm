# Functions that the scripts of this folder share: splitting words, seeded choices, reading the outputs of rnnsearch evaluate and
# score, writing sections of the page.
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

# The words and punctuation marks of a line of text, nearly as Moses's tokenizer splits English and French: an apostrophe ends a word
# ("l'" "homme"), hyphens and points inside a word do not.
sub words { $_[0] =~ /[\p{L}\p{M}\p{N}_]+(?:[-.][\p{L}\p{M}\p{N}_]+)*['\x{2019}]?|[^\s]/g }

# COUNT elements of a list, in an order drawn with the seed. Perl has its own random number generator, the same on all systems
# (perlfunc, rand).
sub chosen {
  my ($seed, $count, @all) = @_;
  srand $seed;
  my @drawn;
  push @drawn, splice @all, int rand @all, 1 while @all && @drawn < $count;
  return @drawn;
}

# Reads a file that rnnsearch evaluate --json printed.
sub read_evaluation {
  my ($path) = @_;
  open my $in, "<:raw", $path or fail("cannot read $path: $!");
  local $/;
  my $json = eval { decode_json(<$in>) };
  ref $json eq "HASH" && ($json->{format} // "") eq "rnnsearch-evaluation" or fail("$path is not what rnnsearch evaluate --json prints");
  return $json;
}

# Reads a file that rnnsearch score printed: the natural logarithm of a probability on each line.
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
    @$_ = map { "$_" } @$_ for @{$table->{rows}};    # rnnsearch report accepts strings only
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

# learn(SOURCE_FILE, TARGET_FILE, SENTENCE...) counts words and co-occurring words in parallel text. A SENTENCE is a list of a source
# line and its translations; only words of these sentences are counted. Reads at most the first 500,000 pairs, and returns in how many
# pairs each word occurs, and in how many a source word and a target word occur together.
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

# Whether a word is a content word: it has letters, and occurs in at least 5 pairs, but in at most 3% of them, which excludes words
# such as "la" and rare names.
sub is_content {
  my ($counts, $side, $word) = @_;
  my $count = $counts->{$side}{$word} // 0;
  return $word =~ /\p{L}/ && $count >= 5 && $count <= 0.03 * $counts->{pairs};
}

# Whether two words translate each other: they are equal, or their Dice coefficient, 2 C(s, t) / (C(s) + C(t)), is at least 0.05.
sub associated {
  my ($counts, $source, $target) = @_;
  return 1 if $source eq $target;
  my $together = $counts->{together}{$source}{$target} or return 0;
  return 2 * $together / ($counts->{source}{$source} + $counts->{target}{$target}) >= 0.05;
}

# For each word of a translation: 1 if the source supports it, -1 if it does not, 0 if the word is not a content word. An occurrence of a
# source word supports one occurrence of a target word, so words that a system repeats are not supported.
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

# For each word of the source: 1 if the translation has a word for it, -1 if it has none, 0 if the word is not a content word.
sub covered {
  my ($counts, $source, $translation) = @_;
  my @target = map { lc } words($translation);
  return map {
    my $word = $_;
    !is_content($counts, "source", $word) ? 0 : (grep { associated($counts, $word, $_) } @target) ? 1 : -1;
  } map { lc } words($source);
}

# The number of words of a translation before the place where it leaves its source: the prefix of the translation in which supported
# content words exceed unsupported ones by the most (the change point of a cumulative sum: E. S. Page, Continuous inspection schemes,
# Biometrika, 1954). Returns the number of all words if at most one unsupported word follows that prefix.
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

# The first COUNT words of a text, and the rest of it.
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
