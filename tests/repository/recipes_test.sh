#!/usr/bin/env bash
# Every recipe of tests/recipes applies to the sources. (tests/recipes.sh itself shows that they build and work, which takes too long for a
# test.) The end of this script shows that the test can fail.
set -euo pipefail

"$SOURCE/tests/recipes.sh" --check

mkdir -p project/tests/recipes
cp "$SOURCE/tests/recipes.sh" project/tests
seq 6 >project/a
printf -- '--- a/a\n+++ b/a\n@@ -1,6 +1,7 @@\n 1\n 2\n 3\n+between\n 4\n 5\n 6\n' >project/tests/recipes/a.patch
project/tests/recipes.sh --check
seq 11 16 >project/a
if project/tests/recipes.sh --check 2>/dev/null; then
  echo "a patch for other sources was said to apply"
  exit 1
fi
