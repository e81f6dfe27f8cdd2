#!/usr/bin/env perl
# tests/mutations.pl [WORD...]: can the tests fail? In a scratch copy of the project (build/mutations), breaks one thing at a time
# of those that tests/mutations.txt lists, builds the test named there and shows that it fails. With WORDs: only entries whose
# file or description contains one of them. Run it by hand, after work on tests or on what they test.
# tests/mutations.pl --check: only prints what is wrong with the table; repository_mutations_test runs this.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Find qw(find);
use File::Path qw(make_path);

my $project = abs_path(dirname(__FILE__) . "/..");
my $check = @ARGV && $ARGV[0] eq "--check" && shift;
my $timeout = 600;  # seconds; a mutant that hangs until then is caught

sub read_text {
  my ($path) = @_;
  open my $in, "<", $path or return undef;
  local $/;
  return scalar <$in>;
}
sub write_text {
  my ($path, $text) = @_;
  open my $out, ">", $path or die "mutations.pl: cannot write $path: $!\n";
  print $out $text;
  close $out or die "mutations.pl: cannot write $path: $!\n";
}

my (@entries, @wrong);
for my $block (split /\n\s*\n/, read_text("$project/tests/mutations.txt")) {
  my %entry;
  for (grep { !/^#/ } split /\n/, $block) {
    if (!/^(what|file|before|after|test):(?: (.*))?$/) { push @wrong, "'$_' is no line of an entry" }
    elsif (defined $entry{$1}) { push @wrong, "an entry has two lines '$1:'; is the empty line before '$_' missing?" }
    else { $entry{$1} = $2 // "" }
  }
  next if !%entry;
  my @missing = grep { !defined $entry{$_} || $_ ne "after" && $entry{$_} eq "" } qw(what file before after test);
  if (@missing) { push @wrong, "an entry has no " . join(", ", @missing) . ": " . join("; ", values %entry); next }
  ($entry{target}, $entry{ranks}, $entry{filter}) = $entry{test} =~ /^(\w+_test)(?::(\d+))? (\S+)$/
    or push @wrong, "'$entry{test}' names no test and filter";
  my $text = read_text("$project/$entry{file}");
  my $times = defined $text ? () = $text =~ /\Q$entry{before}\E/g : 0;
  push @wrong, "$entry{file}: '$entry{before}' occurs $times times, once was expected" if $times != 1;
  push @wrong, "$entry{file}: '$entry{before}' is replaced by itself" if $entry{before} eq $entry{after};
  push @entries, \%entry;
}
if (@wrong || $check) {
  print "tests/mutations.txt: $_\n" for @wrong;
  print "tests/mutations.txt: " . @entries . " entries, at least 30 were expected\n" if $check && @entries < 30;
  exit(@wrong ? 1 : 0);
}
@entries = grep { my $entry = $_; grep { index("$entry->{file} $entry->{what}", $_) >= 0 } @ARGV } @entries if @ARGV;
die "mutations.pl: no entry has one of these words: @ARGV\n" if !@entries;

my $folder = ($ENV{RNNSEARCH_BUILD} // "$project/build") . "/mutations";
my ($copy, $build, $log) = ("$folder/project", "$folder/project/build", "$folder/log");
make_path($copy);
$ENV{$_} = 1 for qw(OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_mpi_yield_when_idle);

# Commands write into the log; 0 is success.
sub run { my $command = join " ", map { "'$_'" } @_; return system("$command >>'$log' 2>&1") }
sub passes {
  my ($entry) = @_;
  my @test = ("$build/tests/$entry->{target}", "--gtest_filter=$entry->{filter}", "--gtest_brief=1");
  unshift @test, "mpirun", "-n", $entry->{ranks}, "--oversubscribe" if $entry->{ranks};
  write_text($log, "");
  my $code = run("timeout", $timeout, @test);
  die "mutations.pl: interrupted\n" if ($code & 127) == 2;
  return $code == 0;
}
sub build {
  write_text($log, "");
  return run("ninja", "-C", $build, @_) == 0;
}

my %targets = map { $_->{target} => 1 } @entries;
print "[mutations] copying to $copy and building " . keys(%targets) . " tests\n";
my @parts = qw(CMakeLists.txt include src tests pipelines cluster);
my $files_of = sub {
  my ($root) = @_;
  my %files;
  find({no_chdir => 1, wanted => sub { $files{substr $_, length("$root/")} = 1 if -f }}, grep { -e } map { "$root/$_" } @parts);
  return \%files;
};
my ($wanted, $there) = ($files_of->($project), $files_of->($copy));
unlink map { "$copy/$_" } grep { !$wanted->{$_} } keys %$there;
for my $file (keys %$wanted) {  # what did not change keeps its time, and is not built again
  my $text = read_text("$project/$file");
  next if $there->{$file} && read_text("$copy/$file") eq $text;
  make_path(dirname("$copy/$file"));
  write_text("$copy/$file", $text);
}
(run("cmake", "-S", $copy, "-B", $build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
  "-DRNNSEARCH_WERROR=" . ($ENV{RNNSEARCH_WERROR} // "OFF")) == 0 && build(sort keys %targets))
  or die "mutations.pl: cannot build: " . read_text($log);
# Each test passes on what is sound.
my %before;
for my $entry (@entries) {
  die "mutations.pl: $entry->{test} fails without a mutation: " . read_text($log)
    if !($before{$entry->{test}} //= passes($entry));
  die "mutations.pl: no test matches $entry->{test}\n" if read_text($log) =~ /PASSED\s+\] 0 tests/;
}

my ($number, $caught) = (0, 0);
$| = 1;
for my $entry (@entries) {
  my $path = "$copy/$entry->{file}";
  my $sound = read_text($path);
  write_text($path, $sound =~ s/\Q$entry->{before}\E/$entry->{after}/r);
  my $built = build($entry->{target});
  my $said = !$built ? "DOES NOT COMPILE" : passes($entry) ? "SURVIVES" : "caught";
  write_text($path, $sound);
  ++$number;
  ++$caught if $said eq "caught";
  print "[mutations] $number/" . @entries . " $said: $entry->{file}: $entry->{what} ($entry->{test})\n";
  print read_text($log) if !$built;
}
print "[mutations] $caught of " . @entries . " caught\n";
exit($caught == @entries ? 0 : 1);
