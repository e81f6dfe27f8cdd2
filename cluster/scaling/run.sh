#!/usr/bin/env bash
# Builds the simulator and the measuring tool, measures this machine, compares simulated with real runs on 2 and 4 ranks, and prints
# predictions for clusters as tables.
#   cluster/scaling/run.sh [--measured FILE] [--simulate-up-to RANKS] [--output FOLDER] [--rnnsearch PROGRAM]
# --measured FILE        read the measurements from FILE instead of measuring, and skip the comparison with real runs
# --simulate-up-to RANKS largest number of ranks to simulate. Each simulation takes a second for 16, 10 for 256, minutes for 1,024 [64]
# --output FOLDER        folder for everything that is built and measured [build/scaling]
# --rnnsearch PROGRAM    the program to measure [build/rnnsearch]
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=${here%/*/*}
output=$root/build/scaling rnnsearch=$root/build/rnnsearch measured='' up_to=64
while (($#)); do
  case $1 in
    --measured) measured=${2:?} ;;
    --simulate-up-to) up_to=${2:?} ;;
    --output) output=${2:?} ;;
    --rnnsearch) rnnsearch=${2:?} ;;
    *)
      echo "run.sh: unknown option $1; see the head of ${BASH_SOURCE[0]}" >&2
      exit 1
      ;;
  esac
  shift 2
done
if [[ -z $measured && ! -x $rnnsearch ]]; then
  echo "run.sh: $rnnsearch is missing; build it with pipelines/build.sh or give --rnnsearch" >&2
  exit 1
fi

[[ $output != -* ]] || output=./$output # compilers would read it as an option
"$here/build.sh" "$output"
if [[ -z $measured ]]; then
  measured=$output/measured.json
  python3 "$here/scaling.py" measure --rnnsearch "$rnnsearch" --tool "$output/measure" --output "$measured"
  python3 "$here/scaling.py" check --rnnsearch "$rnnsearch" --measured "$measured" --simulator "$output/simulate"
fi
python3 "$here/scaling.py" predict --measured "$measured" --simulator "$output/simulate" --simulate-up-to "$up_to"
python3 "$here/scaling.py" shards --measured "$measured" --simulator "$output/simulate" --simulate-up-to "$up_to"
