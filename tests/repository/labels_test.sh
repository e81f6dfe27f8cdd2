#!/usr/bin/env bash
# Every entry of ctest has a label of tests/README.md, fast ones have no other label, and every name in the lists of tests/CMakeLists.txt is
# that of a script. No test has a random seed that is neither fixed nor printed, and none looks at what the program prints in a way that
# stops it early. The end of this script shows that the test can fail.
# shellcheck disable=SC2016  # patterns and examples are expanded nowhere
set -euo pipefail

labels_of() { # the entries that ctest --show-only=json-v1 describes on standard input, one a line: NAME LABEL...
  perl -MJSON::PP -e '
    local $/;
    for my $test (@{decode_json(<STDIN>)->{tests}}) {
      my ($labels) = grep { $_->{name} eq "LABELS" } @{$test->{properties} // []};
      print join(" ", $test->{name}, sort @{$labels ? $labels->{value} : []}), "\n";
    }'
}
check_labels() { # prints what is wrong with such lines
  local name labels
  while read -r name labels; do
    case " $labels " in
      "  ") echo "$name has no label: give it one in tests/CMakeLists.txt" ;;
      *" fast "*" "* | *" "*" fast ") echo "$name is fast and $labels: fast ones need nothing else" ;;
    esac
    [[ $labels =~ ^((fast|mpi|cluster|browser|slow)( |$))*$ ]] || echo "$name: tests/README.md knows no such label: $labels"
  done
}
check_lists() { # FOLDER: prints the names in the lists of tests/CMakeLists.txt that no script has
  local name
  perl -0ne 'print map { "$_\n" } map { split } /^set\(\w+_scripts ([^)]*)\)/gm' "$1/tests/CMakeLists.txt" | sort -u |
    while read -r name; do
      [[ -e $1/tests/${name/_//}_test.sh ]] || echo "tests/CMakeLists.txt: there is no tests/${name/_//}_test.sh"
    done
}
check_seeds() { # FOLDER: prints where a test draws a seed and does not print it
  local file
  grep -rnE 'random_device|srand\((time|)\)|srand;|seed\(time' "$1/tests" --include='*.cpp' --include='*.h' --include='*.sh' |
    grep -v '/labels_test\.sh:' || true
  # A script whose $RANDOM has no fixed seed prints the seed that it drew.
  grep -rlE '\$\(?\(?RANDOM|[( ]RANDOM [*%]' "$1/tests" --include='*.sh' | grep -v '/labels_test\.sh$' | while read -r file; do
    grep -qE '^RANDOM=[0-9]|^echo ".*SEED=\$SEED' "$file" || echo "$file: draws with \$RANDOM and does not say its seed"
  done || true # no script draws a seed
}
check_pipes() { # FOLDER: prints where grep -q may end before what writes to it has written all, which pipefail then calls a failure
  grep -rnE '^[^#]*"?\$[A-Z]+"? [a-z-]+ [^|]*\| *grep -[a-zA-Z]*q' "$1/tests" --include='*.sh' | grep -v '/labels_test\.sh:' || true
}

build=$(dirname "$RNNSEARCH")
found=$(ctest --test-dir "$build" --show-only=json-v1 | labels_of | check_labels && check_lists "$SOURCE" && check_seeds "$SOURCE" &&
  check_pipes "$SOURCE")
if [[ -n $found ]]; then
  printf 'Labels, seeds and pipes of tests:\n%s\n' "$found"
  exit 1
fi

must_find() { # MESSAGE COMMAND...: prints the message
  local message=$1 said
  shift
  said=$("$@")
  [[ $said == *"$message"* ]] || { printf "'%s' should say '%s' but said:\n%s\n" "$*" "$message" "$said" && exit 1; }
}
must_find "a has no label" check_labels <<<"a"
must_find "a is fast and fast mpi" check_labels <<<"a fast mpi"
must_find "a is fast and cluster fast" check_labels <<<"a cluster fast"
must_find "no such label: quick" check_labels <<<"a quick"
[[ -z $(check_labels <<<$'a fast\nb cluster mpi slow') ]] || { echo "labels that are right are refused" && exit 1; }
mkdir -p project/tests/cli
echo 'set(fast_scripts cli_none)' >project/tests/CMakeLists.txt
must_find "there is no tests/cli/none_test.sh" check_lists project
echo 'std::mt19937 random(std::random_device{}());' >project/tests/cli/a_test.cpp
must_find "a_test.cpp:1:" check_seeds project
echo 'sleep 0.$((RANDOM % 10))' >project/tests/cli/b_test.sh
must_find "b_test.sh: draws with" check_seeds project
echo '"$RNNSEARCH" inspect run | grep -q system || fail "no system"' >project/tests/cli/c_test.sh
must_find "c_test.sh:1:" check_pipes project
