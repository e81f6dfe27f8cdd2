#!/usr/bin/env bash
# Every relative link in a Markdown file names a file or folder that exists, and a heading in it if the link has one.
set -euo pipefail
cd "$SOURCE"
found=$(git ls-files -co --exclude-standard '*.md' 2>/dev/null || find . -name '*.md' -not -path './build*')
[[ -n $found ]] || { echo "readme_test: found no Markdown files" >&2 && exit 1; }
FILES=$found perl -e '
  use strict; use warnings;
  my $bad = 0;
  sub complain { print STDERR "readme_test: @_\n"; $bad = 1 }
  sub text_of { open my $in, "<", $_[0] or die "$_[0]: $!"; local $/; my $text = <$in>; $text }
  my $links = 0;
  for my $file (split /\n/, $ENV{FILES}) {
    my $text = text_of($file);
    $text =~ s/^```.*?^```//msg;
    (my $folder = $file) =~ s{[^/]*$}{};
    while ($text =~ /\]\(([^()\s]+)\)/g) {
      my ($path, $heading) = $1 =~ /^([^#]*)(?:#(.*))?$/;
      next if $path =~ /^[a-z]+:/;
      ++$links;
      my $target = $path eq "" ? $file : "$folder$path";
      if (!-e $target) { complain("$file links to $path, which does not exist"); next }
      next if !defined $heading;
      my %headings = map { (my $h = lc) =~ s/[^\w\- ]//g; $h =~ s/ /-/g; $h => 1 } text_of($target) =~ /^#+ (.*)$/mg;
      complain("$file links to #$heading of $path, which has no such heading") unless $headings{$heading};
    }
  }
  complain("found no links at all") if !$links;
  exit $bad;
'
