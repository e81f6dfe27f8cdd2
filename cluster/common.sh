# shellcheck shell=bash disable=SC2034 # the scripts that source this use what is set here
# What the scripts of this folder share: the values of the site, the program, and messages. `here` must be this folder.

end() { # CODE WORDS...: one line, also if a path contains control characters
  local words=${*:2}
  echo "${0##*/}: ${words//[[:cntrl:]]/?}" >&2
  exit "$1"
}
fail() { end 1 "$@"; }
misuse() { end 2 "$@"; } # for a wrong command line or a wrong site.sh
usage() { # prints the comment at the beginning of the script
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
}
needs_value() { # OPTION VALUE...: what is left of the command line
  [[ $1 != --*=* ]] || misuse "$1: write the value after a space, ${1%%=*} ${1#*=}"
  (($# >= 2)) || misuse "$1 needs a value; see cluster/${0##*/} --help"
}

SITE=$(realpath -m -- "${SITE:-$here/site.sh}")
for file in "$SITE" "$here/site.sh"; do # the second one for values that a copy does not have
  [[ -r $file ]] || misuse "there is no file $file with the values of this site; copy $here/site.sh, or correct SITE"
  [[ $(<"$file") != *$'\r'* ]] || misuse "$file has the line ends of Windows, which bash cannot read; remove them: sed -i 's/\\r\$//' $file"
  wrong=$(bash -n "$file" 2>&1) || misuse "$file is wrong: ${wrong%%$'\n'*}"
  # shellcheck source=site.sh
  source "$file"
done
for name in SIGNAL_SECONDS PATIENCE_SECONDS MAX_FAILURES; do
  [[ ${!name} =~ ^[0-9]+$ ]] || misuse "$name of $SITE is '${!name}' and must be a whole number"
done
[[ -z ${CONTAINER:=} ]] || : "${RNNSEARCH:=rnnsearch}"
: "${RNNSEARCH:=${here%/*}/build/rnnsearch}"

load_modules() {
  local module modules
  read -rd '' -a modules <<<"$MODULES" || true
  for module in "${modules[@]}"; do module load "$module" || fail "the module $module (MODULES of $SITE) does not load"; done
}

# value_of OPTION ARGUMENTS...: prints the last value of --OPTION among the arguments of a command
value_of() {
  local option=--$1 value=''
  while shift && (($# > 0)); do
    case $1 in
      "$option") value=${2:-} ;;
      "$option"=*) value=${1#*=} ;;
    esac
  done
  printf '%s' "$value"
}

# setting_of OPTION ARGUMENTS...: the same, or else what the file of --config says
setting_of() {
  local value config
  value=$(value_of "$@") config=$(value_of config "${@:2}")
  if [[ -z $value && -f $config ]]; then
    value=$(sed -n "s/[[:space:]]#.*//; s/[[:space:]]*$//; s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//p" -- "$config" | tail -n 1)
    [[ $value != [\"\']* ]] || value=${value:1:-1}
  fi
  printf '%s' "$value"
}

# site_options ARGUMENTS...: sets `more` to TRAIN_OPTIONS without the options that the training sets itself, on its command line or in
# its --config
site_options() {
  local keep='' word words config here_set=" $* "
  more=()
  config=$(value_of config "$@")
  [[ ! -r $config ]] || here_set+=$(sed -n 's/^[[:space:]]*\([a-z0-9-]*\)[[:space:]]*=.*/ --\1 /p' -- "$config" | tr -d '\n')
  read -rd '' -a words <<<"$TRAIN_OPTIONS" || true
  for word in "${words[@]}"; do
    [[ $word != --* ]] || case $here_set in
      *" ${word%%=*} "* | *" ${word%%=*}="*) keep='' ;;
      *) keep=yes ;;
    esac
    [[ -z $keep ]] || more+=("$word")
  done
}
