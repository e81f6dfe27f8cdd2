#!/usr/bin/env bash
# tests/repository/compilers.sh COMPILER...: runs each of these compilers, such as g++-11 or clang++-14, over all sources of src and tests,
# with warnings as errors and without making code (-fsyntax-only). Prints what they refuse. Run it by hand, because it takes minutes. Needs
# a build folder that is configured with tests for GCC or clang (pipelines/build.sh); its compiler is replaced in each command.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
(($# > 0)) || { echo "compilers.sh: name the compilers: tests/repository/compilers.sh g++-11 clang++-14" >&2; exit 2; }
for compiler; do
  command -v "$compiler" >/dev/null ||
    { echo "compilers.sh: there is no $compiler; on Debian: apt-get install ${compiler/clang++/clang}" >&2; exit 1; }
done
commands=${RNNSEARCH_BUILD:-build}/compile_commands.json
[[ -e $commands ]] || { echo "compilers.sh: there is no $commands; run pipelines/build.sh first" >&2; exit 1; }

# commands_for COMPILER: prints a shell command for each source, each followed by a zero byte
commands_for() {
  perl -MJSON::PP -MText::ParseWords=shellwords -e '
    local $/;
    my ($compiler, %seen) = shift;
    for my $entry (@{decode_json(<STDIN>)}) {
      next if $entry->{file} =~ /cmake_pch/;
      my @words = shellwords($entry->{command});
      shift @words while $words[0] !~ /^-/;  # a launcher such as ccache, and the compiler
      my @kept;
      while (defined(my $word = shift @words)) {
        if ($word =~ /^-(o|MF|MT|MQ)$/) { shift @words }
        elsif ($word eq "-include" && $words[0] =~ /cmake_pch/) { shift @words }  # each file includes what it uses
        elsif ($word !~ /^-(c|M\w*|Winvalid-pch|pipe)$/) { push @kept, $word }
      }
      # Clang counts it to -Wconversion, GCC does not for C++.
      push @kept, qw(-fsyntax-only -Werror -Wno-sign-conversion);
      my $command = join " ", map { my $quoted = $_; $quoted =~ s/\x27/\x27\\\x27\x27/g; "\x27$quoted\x27" } $compiler, @kept;
      my $folder = $entry->{directory};
      $folder =~ s/\x27/\x27\\\x27\x27/g;
      print "cd \x27$folder\x27 && $command\0" unless $seen{$command}++;
    }' "$1" <"$commands"
}
failed=0
for compiler; do
  count=$(commands_for "$compiler" | tr -cd '\0' | wc -c)
  ((count > 0)) || { echo "compilers.sh: $commands has no commands" >&2; exit 1; }
  echo "[compilers] $("$compiler" --version | head -n 1): $count sources"
  if commands_for "$compiler" | xargs -0 -n 1 -P "$(nproc)" bash -c; then
    echo "[compilers] $compiler finds nothing"
  else
    failed=1
  fi
done
exit $failed
