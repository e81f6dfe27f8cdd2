#!/usr/bin/env bash
# src/cli/coming-from.md: every command line of ours there, in a block or between back quotes, has a command that exists, options that
# are in its --help, and values among those that the help lists; and each step has such a line. An option at the beginning of a row of
# the table (`train --cell`) counts as a command line.
set -euo pipefail
for command in $("$RNNSEARCH" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
  "$RNNSEARCH" "$command" --help >"$command.help"
done
PAGE=$SOURCE/src/cli/coming-from.md perl -e '
  use strict; use warnings;
  my $bad = 0;
  sub complain { print STDERR "coming_from_test: @_\n"; $bad = 1 }
  my (%options, %used);  # of each command: option => what stands behind it in the help
  for my $file (glob "*.help") {
    (my $command = $file) =~ s/\.help$//;
    open my $in, "<", $file or die "$file: $!";
    while (<$in>) { $options{$command}{$1} = $2 if /^  --([a-z-]+)(?: (\S+))?(?:\s|$)/ }
  }
  complain("rnnsearch --help lists no commands") if !%options;
  sub check {
    my ($command, $arguments) = @_;
    if (!$options{$command}) { return complain("there is no command $command") }
    ++$used{$command};
    my $count = 0;
    while ($arguments =~ /(?:^|\s)--([A-Za-z-]+)(?:[ =]([^\s-]\S*))?/g) {
      my ($option, $value) = ($1, $2);
      ++$count;
      if (!exists $options{$command}{$option}) { complain("$command has no option --$option: $command $arguments"); next }
      my $choices = $options{$command}{$option} // "";
      next if !defined $value || $choices !~ /^[a-z0-9-]+(?:\|[a-z0-9-]+)+$/;
      complain("$command --$option takes $choices, not $value") if !grep { $_ eq $value } split /\|/, $choices;
    }
    complain("no option in: $command $arguments") if !$count;
  }

  open my $in, "<", $ENV{PAGE} or die "$ENV{PAGE}: $!";
  my ($block, $rows) = (0, 0);
  while (<$in>) {
    if (/^```/) { $block = !$block; next }
    if ($block) {
      $_ .= <$in> while s/\\\n//;
      check($1, $2) if /^(?:mpirun -n \d+ )?rnnsearch ([a-z-]+) (.*)/;
      next;
    }
    while (/`rnnsearch ([a-z-]+) ([^`]*)`/g) { check($1, $2) }
    if (my ($command, $cell) = /^\| `([a-z-]+) (--[^|]*)\|/) {
      ++$rows;
      my @options = $cell =~ /(--[a-z-]+)/g;
      check($command, "@options");
    }
  }
  complain("the table has only $rows rows") if $rows < 30;
  complain("no line of $_") for grep { !$used{$_} } qw(prepare train translate score average evaluate align);
  exit $bad;
'
