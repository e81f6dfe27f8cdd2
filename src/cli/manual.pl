#!/usr/bin/env perl
# manual.pl FOLDER VERSION PROGRAM [ARGUMENT...]: writes the man pages (FOLDER/man1) and the shells' completions (FOLDER/bash, zsh,
# fish) of all commands, from README.md and commands/*.md beside this script and from the options that PROGRAM prints with --help.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Pod::Man;

my ($folder, $version, @program) = @ARGV;
die "manual.pl: usage: manual.pl FOLDER VERSION PROGRAM [ARGUMENT...]\n" unless @program;
my $here = dirname(__FILE__);

sub read_file { my ($path) = @_; local $/; open my $in, '<', $path or die "manual.pl: $path: $!\n"; <$in> }
sub write_file {
  my ($path, $text) = @_;
  make_path(dirname($path));
  open my $out, '>', $path or die "manual.pl: $path: $!\n";
  print $out $text;
  close $out or die "manual.pl: $path: $!\n";
}

# --- the commands, and their options as --help prints them ---
my $readme = read_file("$here/README.md");
my ($table) = $readme =~ /^((?:\|.*\n)+)/m;
my ($shared) = $readme =~ /^## What all commands share\n(.*)\z/ms;
$shared =~ s/^  (?=\|)//mg;  # a table within a list
my ($exit_status) = $shared =~ /^\* \*\*Exit code\.\*\* (.*?)(?=^\* |\z)/ms or die "manual.pl: README.md does not explain the exit codes\n";
my @commands;
while ($table =~ /^\| \[([a-z-]+)\]\(commands\/.*?\) \| (.*) \|$/mg) {
  my %command = (name => $1, summary => $2);
  $command{sections} = read_file("$here/commands/$command{name}.md") =~ /^(## .*)\z/ms ? $1 : '';
  open my $printed, '-|', @program, $command{name}, '--help' or die "manual.pl: cannot start @program: $!\n";
  my $help = do { local $/; <$printed> };
  close $printed or die "manual.pl: @program $command{name} --help failed\n";
  $help =~ s/\|\n {6}(?=\S)/|/g;  # the choices of a value may take several lines
  ($command{about}, my $groups) = $help =~ /\A.*?\n\n(.*?)\n\n(.*)\z/s;
  for my $block (split /\n\n/, $groups) {
    my ($title, $rows) = $block =~ /\A(\S.*?):\n(.*)\z/s;
    while ($rows =~ /^  --(\S+)(?: (\S+))?\s+(.*(?:\n {26}.*)*)/mg) {
      my %option = (group => $title, name => $1, value => $2 // '', help => $3);
      $option{help} =~ s/\s+/ /g;
      $option{repeatable} = $option{help} =~ /\(repeatable\)/;
      $option{choices} = $option{value} =~ /^[a-z0-9_-]+(\|[a-z0-9_-]+)+$/ ? [split /\|/, $option{value}]
        : $option{name} eq 'preset' && $option{help} =~ /: ([\w, -]+)$/ ? [split /, /, $1] : [];
      $option{file} = $option{value} =~ /FILE|FOLDER|DIR|RUN|CORPUS/;
      ($option{summary}) = $option{help} =~ s/ (\[[^\]]*\]|\(\w+\))$//gr =~ /^(.*?)(?:[.:;] |\.?$)/;
      push @{$command{options}}, \%option;
    }
  }
  push @commands, \%command;
}

# --- man pages: Markdown to POD, of which Perl's own library makes roff ---
sub inline {
  my ($text) = @_;
  $text =~ s/\s+/ /g;
  $text =~ s/([<>])/$1 eq '<' ? "\0lt\0" : "\0gt\0"/ge;
  $text =~ s/\[([^\]]+)\]\(([a-z-]+)\.md(?:#[\w-]*)?\)/$1 eq $2 ? "B<rnnsearch-$2>(1)" : "$1 (see B<rnnsearch-$2>(1))"/ge;
  $text =~ s/\[([^\]]+)\]\([^)\s]+\)/$1/g;
  $text =~ s/\*\*(.+?)\*\*/B<$1>/g;
  $text =~ s/`([^`]+)`/B<$1>/g;
  return $text =~ s/\0(lt|gt)\0/E<$1>/gr;
}
sub list { join '', "=over 4\n\n", map({ '=item ' . ($_->[0] =~ s/^(\d+)$/B<$1>/r) . "\n\n$_->[1]\n\n" } @_), "=back\n\n" }
sub pod_of {
  my ($markdown) = @_;
  my $pod = '';
  while ($markdown =~ /\G\s*(```\n.*?^```|\S.*?)(?=\n\n|\s*\z)/msg) {
    my $block = $1;
    if ($block =~ /^```\n(.*)^```/ms) { $pod .= $1 =~ s/^(?=.)/    /mgr . "\n" }
    elsif ($block =~ /^## (.*)/) { $pod .= '=head1 ' . uc($1) . "\n\n" }
    elsif ($block =~ /^\|[^\n]*\n\| ---[^\n]*\n(.*)/s) { $pod .= list(map { [map { inline($_) } /^\| (.*?) \| (.*) \|$/] } split /\n/, $1) }
    elsif ($block =~ /^\* /) { $pod .= list(map { ['*', inline($_)] } grep { /\S/ } split /^\* /m, $block) }
    else { $pod .= inline($block) . "\n\n" }
  }
  return $pod;
}
sub page {
  my ($name, $summary, $synopsis, @sections) = @_;
  my $pod = "=encoding UTF-8\n\n=head1 NAME\n\n$name - $summary\n\n=head1 SYNOPSIS\n\n$synopsis\n\n" . join '', @sections;
  # the number of the version stands where others have the date: pages then do not differ from build to build
  my $man = Pod::Man->new(name => uc $name, section => 1, center => 'rnnsearch', release => $version, date => '', utf8 => 1);
  my $roff = '';
  $man->output_string(\$roff);
  $man->parse_string_document($pod);
  die "manual.pl: the page $name has mistakes, which it names at its end: $roff" if $man->any_errata_seen;
  utf8::decode($roff) unless utf8::is_utf8($roff);
  write_file("$folder/man1/$name.1", $roff);
}
my $see_also = "=head1 SEE ALSO\n\n" . join(', ', map { "B<$_>(1)" } 'rnnsearch', map { "rnnsearch-$_->{name}" } @commands) . "\n\n";
my $exits = "=head1 EXIT STATUS\n\n" . pod_of($exit_status);
for my $command (@commands) {
  my ($options, $group) = ("=head1 OPTIONS\n\n", '');
  for my $option (@{$command->{options}}) {
    $options .= ($group ? "=back\n\n" : '') . '=head2 ' . inline($option->{group}) . "\n\n=over 4\n\n" if $option->{group} ne $group;
    $group = $option->{group};
    my $value = $option->{value} ? ' I<' . inline($option->{value}) . '>' : '';
    $options .= "=item B<--$option->{name}>$value\n\n" . inline($option->{help}) . "\n\n";
  }
  page("rnnsearch-$command->{name}", inline($command->{summary}), "B<rnnsearch $command->{name}> [B<--OPTION> I<VALUE>]...",
    "=head1 DESCRIPTION\n\n", inline($command->{about}), "\n\n", pod_of($command->{sections}), "$options=back\n\n", $exits, $see_also);
}
page('rnnsearch', 'train neural machine translation with attention on clusters of CPUs',
  "B<rnnsearch> I<COMMAND> [B<--OPTION> I<VALUE>]...\n\nB<rnnsearch> I<COMMAND> B<-h>\n\nB<rnnsearch help> I<COMMAND>",
  "=head1 COMMANDS\n\n", list(map { ["B<$_->{name}>", inline($_->{summary}) . "; B<rnnsearch-$_->{name}>(1)"] } @commands),
  "=head1 WHAT ALL COMMANDS SHARE\n\n", pod_of($shared), $see_also);

# --- completion ---
my $origin = "made by src/cli/manual.pl from the options of the commands\n";
my $names = join ' ', map { $_->{name} } @commands;

my ($words, $values) = ("    help) names='$names' ;;\n", '');
for my $command (@commands) {
  $words .= "    $command->{name}) names='" . join(' ', map { "--$_->{name}" } @{$command->{options}}) . "' ;;\n";
  for my $option (grep { $_->{value} } @{$command->{options}}) {
    my $act = @{$option->{choices}} ? "names='@{$option->{choices}}'" : $option->{file} ? 'names=; compopt -o default' : 'names=';
    push @{$command->{values}{$act}}, "$command->{name}--$option->{name}";
  }
}
$values .= join '', map { my $c = $_; map { '    ' . join(' | ', @{$c->{values}{$_}}) . ") $_ ;;\n" } sort keys %{$c->{values}} } @commands;
write_file("$folder/bash/rnnsearch", "# bash completion of rnnsearch, ${origin}_rnnsearch() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} names=
  # bash makes a word of the = in --option=value
  if [[ \$current == = ]]; then
    current=
  elif [[ \$previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case \$command in
$words  esac
  case \$command\$previous in
$values    inspect*) [[ \$current == -* ]] || compopt -o default ;;
  esac
  ((COMP_CWORD > 1)) || names='$names help -h --help --version'
  mapfile -t COMPREPLY < <(compgen -W \"\$names\" -- \"\$current\")
}
complete -F _rnnsearch rnnsearch
");

sub quoted { "'" . ($_[0] =~ s/'/'\\''/gr) . "'" }
my $cases = '';
for my $command (@commands) {
  # values as words of their own: zsh expands ~ only at the beginning of a word
  my @specifications = map {
    my ($summary, $placeholder) = map { s/([\[\]:\\])/\\$1/gr } $_->{summary}, $_->{value};
    my $value = @{$_->{choices}} ? "[$summary]:value:(@{$_->{choices}})"
      : $placeholder ? "[$summary]:$placeholder:" . ($_->{file} ? '_files' : ' ') : "[$summary]";
    quoted(($_->{repeatable} ? '*' : '') . "--$_->{name}$value")
  } @{$command->{options}};
  push @specifications, quoted('*:FILE:_files') if $command->{name} eq 'inspect';
  $cases .= "  $command->{name})\n    _arguments" . join('', map { " \\\n      $_" } @specifications) . "\n    ;;\n";
}
write_file("$folder/zsh/_rnnsearch", "#compdef rnnsearch\n# zsh completion of rnnsearch, ${origin}local -a commands=(\n"
  . join('', map { '  ' . quoted("$_->{name}:$_->{summary}") . "\n" } @commands)
  . ")\nif ((CURRENT == 2)); then\n  _describe command commands\n  return\nfi\n"
  . "shift words\n((CURRENT -= 1))\ncase \$words[1] in\n${cases}esac\n");

my $fish = "# fish completion of rnnsearch, ${origin}complete -c rnnsearch -f\n";
for my $command (@commands) {
  $fish .= "complete -c rnnsearch -n __fish_use_subcommand -a $command->{name} -d " . quoted($command->{summary}) . "\n";
  for my $option (@{$command->{options}}) {
    $fish .= "complete -c rnnsearch -n '__fish_seen_subcommand_from $command->{name}' -l $option->{name}"
      . (!$option->{value} ? '' : $option->{file} ? ' -r -F' : ' -x' . (@{$option->{choices}} ? " -a '@{$option->{choices}}'" : ''))
      . ' -d ' . quoted($option->{summary}) . "\n";
  }
}
$fish .= "complete -c rnnsearch -n '__fish_seen_subcommand_from inspect' -F\n";  # its option --file may be left out
write_file("$folder/fish/rnnsearch.fish", $fish);
