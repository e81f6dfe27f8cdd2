#!/usr/bin/env bash
# Every preset says where each of its settings comes from, and nothing stays at a default unnamed: the rules are those of
# pipelines/presets/README.md, "How lines are cited". The second half breaks each rule once in a copy of each preset and expects
# that the check finds it.
set -euo pipefail

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The options that a run records, with their defaults, as the program itself writes them. Sizes and updates are small here,
# so what the presets say of their defaults is not compared.
"$SOURCE/data/reversal.sh" text --vocabulary 4 --max-length 3 --train 40 --dev 4 --test 4 >/dev/null
"$RNNSEARCH" prepare --train-source text/train.source --train-target text/train.target --dev-source text/dev.source \
  --dev-target text/dev.target --tokenizer none --output corpus.h5 >/dev/null
small=(embedding state alignment maxout max-updates)
sizes=()
for option in "${small[@]}"; do sizes+=("--$option" 2); done
"$RNNSEARCH" train --corpus corpus.h5 --run run "${sizes[@]}" --threads 1 2>train.log || fail "$(<train.log)"
awk -F ' = ' '/^# /{ group = $0 } / = / && group !~ /^# (Files|Machine)/ && !/^#/ { print $1 "=" $2 }' run/config.ini >recorded
grep -q '^batch-sentences=80$' recorded || fail "a run's config.ini is not as this test reads it: $(<recorded)"
for option in "${small[@]}"; do sed -i "s/^$option=.*/$option=?/" recorded; done

check() { # FILE...: prints what breaks a rule, nothing when all is well
  perl -e '
    use strict; use warnings;
    my %default;
    open my $recorded, "<", shift or die; while (<$recorded>) { chomp; my ($name, $value) = split /=/, $_, 2; $default{$name} = $value }
    for my $path (@ARGV) {
      open my $in, "<", $path or die; chomp(my @lines = <$in>); unshift @lines, "";  # counted from 1
      (my $file = $path) =~ s{.*/}{};
      my $first_option = (grep { $lines[$_] =~ /^[^#\s]/ } 1 .. $#lines)[0] // @lines;
      my $say = sub { my ($n, $text) = @_; print "$file:$n: $text\n" };

      # The head: tags, and the defaults that are kept.
      my (%tag, %named, %head);
      for my $n (grep { $_ < $first_option } 1 .. $#lines) {
        if ($lines[$n] =~ /^# (\S+) = \S/) { $tag{$1} = $n; $head{$n} = 1 }
        if ($lines[$n] =~ /^# \[ours\] defaults\s*(.*?)\s*:\s*(.*)$/) {
          my ($why, $list) = ($1, $2);
          $head{$n} = 1;
          for (my $k = $n + 1; $lines[$k] =~ /^#   +(\S.*)/; ++$k) { $list .= " $1"; $head{$k} = 1 }
          $say->($n, "[ours] without a reason: why do these options keep their defaults?") if split(" ", $why) < 3;
          for my $entry (split /\s*,\s*(?![^()]*\))/, $list) {
            my ($name, $value) = $entry =~ /^(\S+?)(?:\s+\((.*)\))?$/ or do { $say->($n, "\"$entry\" is not an option, nor an option (value)"); next };
            $say->($n, "there is no option $name that a run records") if !exists $default{$name};
            $say->($n, "$name is named twice") if $named{$name}++;
            $say->($n, "$name is not $value by default, but $default{$name}: state it, or mend the list")
              if defined $value && exists $default{$name} && $default{$name} ne "?" && $default{$name} ne $value;
          }
        }
      }
      $tag{ours} //= 0;

      my %stated;
      for my $n (grep { $lines[$_] =~ /^[^#\s]/ } 1 .. $#lines) {
        my ($name) = $lines[$n] =~ /^(\S+)\s*=/ or do { $say->($n, "not a line \"option = value\""); next };
        $say->($n, "$name is stated twice") if $stated{$name}++;
        $say->($n, "$name is stated, and named among the defaults in the head") if $named{$name};
        my ($k, $text) = ($n - 1, "");
        for (; $k > 0 && $lines[$k] =~ /^#   +(\S.*)/; --$k) { $text = " $1$text" }
        if ($head{$k} || $lines[$k] !~ /^# \[/) { $say->($n, "$name has no comment above it that begins with a [source]"); next }
        $text = substr($lines[$k], 2) . $text;
        while ($text =~ /\[([^\[\]]*)\]/g) {  # each citation in it; [a; b] of an equation is none
          my ($content, $begins) = ($1, $-[0] == 0);
          my ($cited) = grep { $content =~ /^\Q$_\E(?:[ ,]|$)/ } keys %tag;
          $say->($n, "$name cites [$content], which the head does not declare: # TAG = SOURCE") if !$cited && $begins;
        }
        my ($content, $rest) = $text =~ /^\[([^\[\]]*)\]\s*(.*)$/s or do { $say->($n, "$name: the citation is not closed by ]"); next };
        if ($content eq "ours") {
          $say->($n, "$name: [ours] without a reason") if split(" ", $rest) < 3;
        } else {
          $say->($n, "$name: [$content] does not say what the source says there") if $rest !~ /\S/;
        }
      }
      my @missing = grep { !$stated{$_} && !$named{$_} } sort keys %default;
      $say->(1, "neither stated nor named among the defaults in the head: " . join(", ", @missing)) if @missing;
    }' recorded "$@"
}

presets=("${1:-$SOURCE/pipelines/presets}"/*.ini)  # of another folder, where one is given
found=$(check "${presets[@]}")
[[ -z $found ]] || fail "presets that do not say where their settings come from (pipelines/presets/README.md):
$found"

# breaks RULE PERL FOUND: the line or lines that PERL changes are noticed in every preset, in these words
breaks() {
  local file copy
  for file in "${presets[@]}"; do
    copy=broken/$(basename "$file")
    mkdir -p broken
    perl -0777 -pe "$2" "$file" >"$copy"
    ! cmp -s "$file" "$copy" || fail "$1: nothing was changed in $file"
    grep -q -- "$3" <<<"$(check "$copy")" || fail "a preset with $1 passes: $copy: $(check "$copy")"
  done
}
first_option='^[^#\s\n][^\n]*\n'
breaks "no citation above its first option" "s/(?:^#[^\n]*\n)(?:^#   [^\n]*\n)*(?=$first_option)//m" 'no comment above it'
breaks "no citation above its last option" 's/.*\K^# \[[^\n]*\n(?:#   [^\n]*\n)*(?=[^#\s][^\n]*\n*\z)//ms' 'no comment above it'
breaks "a citation that does not begin with its tag" 's/.*\K^# \[(?=[^\n]*\n(?:#   [^\n]*\n)*[^#\s][^\n]*\n*\z)/# see [/ms' 'no comment above it'
breaks "a source that is not declared" 's/.*\K^# \[[^\]]*\](?=[^\n]*\n(?:#   [^\n]*\n)*[^#\s][^\n]*\n*\z)/# [hearsay 3.1]/ms' 'cites \[hearsay 3.1\]'
breaks "[ours] without a reason" 's/.*\K^# \[[^\n]*\n(?:#   [^\n]*\n)*(?=[^#\s][^\n]*\n*\z)/# [ours]\n/ms' 'ours\] without a reason'
breaks "a source that says nothing" 's/.*\K^# \[[^\n]*\n(?:#   [^\n]*\n)*(?=[^#\s][^\n]*\n*\z)/# [x 3.1]\n/ms; s/^/# x = y\n/' 'does not say what'
breaks "a default that is not named" 's/\bseed\b(?: \(\d+\))?, |(?:, |: \K)seed\b(?: \(\d+\))?//' 'neither stated nor named.*: seed$'
breaks "an option left out" 's/^cell = [^\n]*\n//m' 'neither stated nor named.*: cell$'
breaks "a default that is both stated and named" 's/\bseed\b/seed, cell/' 'cell is stated, and named'
breaks "an option that there is not" 's/\bseed\b/seed, sneed/' 'no option sneed'
breaks "a default of another value" 's/\bseed\b(?: \(\d+\))?/seed (7)/' 'seed is not 7'
breaks "defaults without a reason" 's/\[ours\] defaults[^\n:]*:/[ours] defaults:/' 'ours\] without a reason'
