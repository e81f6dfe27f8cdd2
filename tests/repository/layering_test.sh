#!/usr/bin/env bash
# Checks which module may include which, which module owns a library, and where files belong.
set -euo pipefail

rules=$(cat <<'RULES'
# module     includes, besides itself and the standard library                 owns (modules that do not may not include it)
base       -                                                                 oneTBB
kernels    base                                                              Highway x86
storage    base                                                              HDF5 xxHash zlib
comm       base                                                              MPI
text       base                                                              ICU RE2 SentencePiece
corpus     base storage text                                                 zlib compression
layers     base kernels                                                      -
model      base kernels layers                                               -
site       base kernels storage comm corpus model                            -
train      base kernels storage comm corpus model                            -
decode     base kernels comm corpus model                                    -
evaluate   base text                                                         -
report     base evaluate                                                     pugixml
cli        base kernels storage comm corpus model site train decode evaluate report    Boost.Program_options
main       cli                                                               -
RULES
)
libraries=$(cat <<'LIBRARIES'
# library               its headers begin with
oneTBB                  tbb/ oneapi/tbb
Highway                 hwy/
x86                     cpuid.h immintrin.h xmmintrin.h
HDF5                    hdf5 H5
xxHash                  xxhash.h xxh3.h
pugixml                 pugixml
MPI                     mpi.h mpi-ext.h
ICU                     unicode/
RE2                     re2/
SentencePiece           sentencepiece
zlib                    zlib.h
compression             zstd.h zstd_errors.h lzma.h bzlib.h lz4
Boost.Program_options   boost/program_options
LIBRARIES
)
# every module may include these, and so may public headers, but they only what is quick to compile
everywhere='fmt/ nlohmann/' everywhere_public='fmt/core.h nlohmann/json_fwd.hpp'
operating_system='dlfcn.h errno.h fcntl.h locale.h malloc.h poll.h pthread.h sched.h signal.h time.h unistd.h wchar.h sys/'

check() {  # folder: prints what breaks a rule, nothing when all is well
  (cd "$1" && RULES=$rules LIBRARIES=$libraries SYSTEM=$operating_system EVERYWHERE=$everywhere PUBLIC=$everywhere_public perl -e '
    use strict; use warnings; use File::Find;
    my (%may, %owners, %header, %includes);
    for (grep { !/^#/ } split /\n/, $ENV{RULES}) {
      my ($module, $may, $owns) = split /\s{2,}/;
      $may{$module} = {map { $_ => 1 } $module, grep { $_ ne "-" } split / /, $may};
      for (grep { $_ ne "-" } split / /, $owns) { push @{$owners{$_}}, $module }
    }
    for (grep { !/^#/ } split /\n/, $ENV{LIBRARIES}) { my ($name, @begin) = split; $header{$_} = $name for @begin }
    my @system = split / /, $ENV{SYSTEM};
    my @files;
    find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, grep { -d } qw(include src tests));
    my %file = map { $_ => 1 } @files;

    for my $file (sort grep { !/\.md$/ } @files) {
      # src/module/things/ holds a part of the module, or what src/module/things.cpp includes
      my ($tree, $module, $things, $thing) = $file =~ m{^(include/rnnsearch|src)/(?:(\w+)/(?:(\w+)/)?)?([^/]+)$};
      if (!$tree || $things && ($tree ne "src" || $thing =~ /-inl\.h$/ && !$file{"src/$module/$things.cpp"})) {
        print "$file: stands in no module\n" if $file =~ m{^(include|src)/};
        next;
      }
      $module //= $thing eq "main.cpp" ? "main" : "";
      if (!$may{$module}) { print "$file: stands in no module\n"; next }
      open my $in, "<", $file or die "$file: $!";
      while (<$in>) {
        my ($bracket, $what) = /^\s*#\s*include\s*([<"])([^>"]+)/ or next;
        my $place = "$file:$.";
        if ($bracket eq "<") {
          next if $what =~ /^[a-z0-9_]+$/ || grep { index($what, $_) == 0 } @system;
          if (grep { index($what, $_) == 0 } split / /, $ENV{EVERYWHERE}) {
            print "$place: a public header includes $what\n" if $tree ne "src" && !grep { $what eq $_ } split / /, $ENV{PUBLIC};
            next;
          }
          my ($begin) = grep { index($what, $_) == 0 } keys %header;
          if (!$begin) { print "$place: <$what> is of no library in the table\n"; next }
          my $library = $header{$begin};
          print "$place: $library belongs to @{$owners{$library}}, and $module may not include it\n"
            unless grep { $_ eq $module } @{$owners{$library}};
          print "$place: a public header includes $library\n" if $tree ne "src";
        } elsif ($what =~ m{^rnnsearch/((\w+)/.+)$}) {
          print "$place: $module may not include $1\n" unless $may{$module}{$2} || $may{$module}{$1};
          $includes{$module}{$may{$module}{$1} ? $1 : $2} = 1 unless $module eq $2;
        } elsif ($what =~ m{^(\w+)/}) {
          print "$place: \"$what\" is private to $1\n" if $1 ne $module;
        } else {
          print "$place: \"$what\" does not name its module\n";
        }
      }
    }

    for my $module (sort keys %may) {
      for (sort grep { $_ ne $module && !$includes{$module}{$_} } keys %{$may{$module}}) {
        print "$module may include $_, but does not: take it out of the table\n";
      }
    }
    open my $cmake, "<", "CMakeLists.txt" or die "CMakeLists.txt: $!";
    my $build = do { local $/; <$cmake> };
    while ($build =~ /^rnnsearch_module\((\w+)(?:\s+MODULES((?:\s+[a-z]+)+))?/mg) {
      my ($module, $linked) = ($1, join " ", sort split " ", $2 // "");
      my $drawn = join " ", sort grep { $_ ne $module } map { s{/.*}{}r } keys %{$may{$module}};
      print "CMakeLists.txt links $module with \"$linked\", but the table has \"$drawn\"\n" if $linked ne $drawn;
    }

    for my $file (sort @files) {
      my ($module) = $file =~ m{^src/(\w+)/.+\.cpp$} or next;
      open my $in, "<", $file or die "$file: $!";
      my ($first) = do { local $/; <$in> } =~ /^\s*#\s*include\s*(\S+)/m;
      print "$file: begins with $first and not with the header of $module that declares what it defines\n"
        unless $first =~ m{^"(?:rnnsearch/)?$module/};
    }
  ')
}

broken=$(check "$SOURCE")
if [[ -n $broken ]]; then
  printf 'The house rules are broken:\n%s\n' "$broken"
  exit 1
fi
