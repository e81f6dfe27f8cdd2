#!/usr/bin/env bash
# Every recipe of tests/recipes still applies to the sources. That they build and work is shown by tests/recipes.sh itself, which
# takes too long for here. With a proof that this test can fail.
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
