#!/usr/bin/env perl
# pipelines/benchmark/compare.pl --ours COMMAND --peer COMMAND [--peer-pattern REGEX] [--peer COMMAND ...]
#     [--rounds N] [--stolen-at-most PERCENT] [--json]
# Runs the commands in turn (A B C A B C ...) and prints the ratio of each peer's seconds per update to ours. The commands take
# turns because the speed of a machine drifts, with heat and with other programs. On a virtual machine the host may take
# processors away during a run; a run that lost more than PERCENT of the processors' time is repeated. README.md beside this
# file explains what is read from a command's output. Needs only bash and perl.
use strict;
use warnings;
use File::Temp qw(tempfile);
use Getopt::Long;
use JSON::PP;
$| = 1;

sub refuse { print STDERR "compare: @_\n"; exit 1 }

my ($rounds, $limit, $json, @commands) = (5);    # commands: {name, command, pattern}
my $ours;
local $SIG{__WARN__} = sub { chomp(my $why = lcfirst shift); refuse("$why; the options are in pipelines/benchmark/README.md") };
GetOptions(
  'ours=s' => sub { refuse('--ours is given twice; all others are --peer') if $ours; $ours = {name => 'ours', command => $_[1]} },
  'peer=s' => sub { push @commands, {command => $_[1]} },
  'peer-pattern=s' => sub {
    my $peer = $commands[-1] or refuse('--peer-pattern applies to the --peer before it, and there is none');
    $peer->{pattern} = eval { qr/$_[1]/m } or refuse("--peer-pattern '$_[1]' is no regular expression of Perl");
    $_[1] =~ /\((?!\?)/ or refuse("--peer-pattern '$_[1]' has no group: put the number into parentheses");
  },
  'rounds=s' => \$rounds,
  'stolen-at-most=s' => \$limit,
  'json'     => \$json,
);
$SIG{__WARN__} = 'DEFAULT';
refuse("'$ARGV[0]' is no option: quote a command as one word") if @ARGV;
refuse('--ours is missing: the command that runs rnnsearch benchmark --json -') if !$ours;
refuse('--peer is missing: a command to compare with')                         if !@commands;
refuse("--rounds must be a whole number from 1 on, not '$rounds'") if $rounds !~ /^[1-9]\d{0,5}$/;
refuse("--stolen-at-most must be a percentage, not '$limit'") if defined $limit && $limit !~ /^\d+(\.\d+)?$/;
$commands[$_]{name} = @commands == 1 ? 'peer' : 'peer ' . ($_ + 1) for 0 .. $#commands;
unshift @commands, $ours;

sub load_average {    # of the last 1, 5 and 15 minutes; empty where the system has none
  open my $in, '<', '/proc/loadavg' or return [];
  return [map { $_ + 0 } (split ' ', <$in>)[0 .. 2]];
}

# Clock ticks of all processors so far: those that the hypervisor gave to others, and all.
sub ticks {
  open my $in, '<', $ENV{COMPARE_PROC_STAT} // '/proc/stat' or return (0, 0);
  my (undef, @ticks) = split ' ', <$in> // '';
  my $all = 0;
  $all += $_ for @ticks[0 .. 7];
  return ($ticks[7] // 0, $all);
}

# The median in the JSON that rnnsearch benchmark or a peer printed: the whole output, or the last line that has one.
sub median_of_json {
  my ($output) = @_;
  for my $text ($output, reverse split /\n/, $output) {
    next unless $text =~ /^\s*\{/;
    my $object = eval { decode_json($text) } or next;
    for my $field (qw(seconds s_per_update)) {
      return $object->{$field}{median} if ref $object->{$field} eq 'HASH' && defined $object->{$field}{median};
    }
  }
  return undef;
}

sub last_line {
  open my $in, '<', $_[0] or return '';
  my ($last) = reverse grep { /\S/ } <$in>;
  return '' if !defined $last;
  $last =~ s/^\s+|\s+$//g;
  return " It said last: $last";
}

# Seconds per update of a run that lost at most $limit percent of the processors' time; then the percentage that it lost.
sub calm_run {
  my ($of, $round) = @_;
  my $tries = 50;
  while (1) {
    my ($stolen_before, $before) = ticks();
    my $seconds = run($of, $round);
    my ($stolen, $all) = ticks();
    my $percent = $all > $before ? 100 * ($stolen - $stolen_before) / ($all - $before) : 0;
    return ($seconds, $percent) if !defined $limit || $percent <= $limit;
    --$tries or refuse("round $round of $rounds, $of->{name}: 50 runs lost more than $limit% of the processors; "
        . 'wait for a calmer hour, or allow more');
    printf STDERR "[compare] round %d of %d, %s: %.4g seconds per update, but %.1f%% of the processors were taken away: again\n",
      $round, $rounds, $of->{name}, $seconds, $percent;
  }
}

# Seconds per update of one run.
sub run {
  my ($of, $round) = @_;
  my (undef, $errors) = tempfile(UNLINK => 1);
  my $process = open my $out, '-|' // die;
  if (!$process) {
    open STDIN,  '<', '/dev/null' or die;
    open STDERR, '>', $errors     or die;
    exec 'bash', '-o', 'pipefail', '-c', $of->{command};
    die;
  }
  my $output = do { local $/; <$out> } // '';
  close $out;
  my $what = "round $round of $rounds, $of->{name} ($of->{command})";
  refuse("$what: ended by signal " . ($? & 127) . '.' . last_line($errors)) if $? & 127;
  refuse("$what: failed with exit code " . ($? >> 8) . '.' . last_line($errors)) if $?;
  my $seconds;
  if ($of->{pattern}) {
    $seconds = $1 while $output =~ /$of->{pattern}/g;    # the last one
    defined $seconds or refuse("$what: --peer-pattern matches nothing that it printed to standard output");
  } else {
    $seconds = median_of_json($output)
      // refuse("$what: printed no JSON object with seconds.median or s_per_update.median to standard output; "
        . ($of == $ours ? 'give rnnsearch benchmark --json -' : 'give --peer-pattern if it prints something else'));
  }
  $seconds =~ /^\d*\.?\d+(?:[eE][-+]?\d+)?$/ && $seconds > 0 or refuse("$what: '$seconds' is no number of seconds");
  return $seconds + 0;
}

sub summary {
  my @all    = @_;
  my @sorted = sort { $a <=> $b } @all;
  my $median = ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
  return {median => $median, minimum => $sorted[0], maximum => $sorted[-1], all => \@all};
}

my ($load_at_start, $most_stolen) = (load_average(), 0);
for my $round (1 .. $rounds) {
  for my $of (@commands) {
    my ($seconds, $stolen) = calm_run($of, $round);
    push @{$of->{all}}, $seconds;
    $most_stolen = $stolen if $stolen > $most_stolen;
    printf STDERR "[compare] round %d of %d, %s: %.4g seconds per update\n", $round, $rounds, $of->{name}, $of->{all}[-1];
  }
}
my $load_at_end = load_average();
for my $of (@commands) {
  $of->{seconds} = summary(@{$of->{all}});
  next if $of == $ours;
  $of->{ratio} = summary(map { $of->{all}[$_] / $ours->{all}[$_] } 0 .. $rounds - 1);
}

if ($json) {
  my @results = map { my $of = $_; +{map { $_ => $of->{$_} } grep { exists $of->{$_} } qw(name command seconds ratio)} } @commands;
  print JSON::PP->new->canonical->pretty->indent_length(2)->encode({
      rounds                => $rounds + 0,
      commands              => \@results,
      load_average_at_start => $load_at_start,
      load_average_at_end   => $load_at_end,
      most_stolen_percent   => $most_stolen,
  });
  exit 0;
}
printf "%-20s%10s%10s%10s   %s\n", 'seconds per update', qw(median least most), 'times ours, median [least, most]';
for my $of (@commands) {
  printf '%-20s%10.4g%10.4g%10.4g', $of->{name}, @{$of->{seconds}}{qw(median minimum maximum)};
  printf '   %.3f [%.3f, %.3f]', @{$of->{ratio}}{qw(median minimum maximum)} if $of->{ratio};
  print "\n";
}
printf "%d round%s, load average %s at the start, %s at the end; at most %.1f%% of the processors taken away in a run\n", $rounds,
  $rounds == 1 ? '' : 's', (map { $_->[0] // 'unknown' } $load_at_start, $load_at_end), $most_stolen;
print "$_->{name}: $_->{command}\n" for @commands;
