# shellcheck shell=bash disable=SC2034  # the scripts that source this use what is set here
# Shared by scripts.
: "${MPIEXEC:=mpirun}" # the launcher

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# code_of COMMAND...: runs it and sets `code` to its exit code
code_of() {
  code=0
  "$@" || code=$?
}

# refused CODE FACTS COMMAND...: the command exits with CODE, prints nothing, says the FACTS, which are separated by |, in one line, and
# leaves every file in this folder as it is. Lines in brackets are progress; a launcher may say more.
refused() {
  local code=$1 facts=$2 before said fact status=0
  shift 2
  mkdir -p .answer
  before=$(files_here)
  timeout 400 "$@" >.answer/out 2>.answer/err </dev/null || status=$?
  said=$(grep -v '^\[' .answer/err || true)
  [[ $1 != "$MPIEXEC" ]] || said=$(grep '^rnnsearch' <<<"$said" || true)
  [[ $status == "$code" && ! -s .answer/out ]] || fail "$*: exit code $status instead of $code: $(cat .answer/out .answer/err)"
  [[ -n $said && $said != *[[:cntrl:]]* && ($said == rnnsearch* || $* != *"$RNNSEARCH"*) ]] || fail "$*: not one line of text: $(cat -v .answer/err)"
  while IFS= read -r -d '|' fact; do
    [[ $said == *"$fact"* ]] || fail "$*: '$fact' is not in: $said"
  done <<<"$facts|"
  [[ $(files_here) == "$before" ]] || fail "$*: files changed: $(diff <(echo "$before") <(files_here))"
}
files_here() { find . -path ./.answer -prune -o \( -type f -exec sha256sum {} + -o -print \) | LC_ALL=C sort; }

# Options of train with which a small model learns to reverse sequences in a minute; --state is left to the test.
learns_reversal=(--embedding 32 --alignment 64 --maxout 32 --initial-deviation 0.1 --optimizer adam --learning-rate 0.005
  --gradient-of word --batch-sentences 40 --validate-every 200 --precision f32 --threads 1)
