#!/usr/bin/env bash
# Seconds of a training update of rnnsearch and of PyTorch on this machine, as rows of a Markdown table:
#   pipelines/benchmark/peers/run.sh [OPTION VALUE]... [-- OPTIONS of rnnsearch benchmark and rnnsearch_torch.py]
#     --sizes 'NAME...'        small: 256/512 units, 8,000 words a side; paper: 620/1000 units, 30,000 words a side [small paper]
#     --precisions 'NAME...'   f32, bf16 [f32, and bf16 where the processor has instructions for it]
#     --threads 'N...'         numbers of threads [1, and the number of CPUs]
#     --rounds N               number of alternations of the programs, each of which times 10 updates after 2 untimed ones [5]
# rnnsearch_torch.py explains what is compared. The script installs PyTorch if it is missing, and builds rnnsearch unless the environment
# variable RNNSEARCH names the program. The seconds are rnnsearch's, the other columns how many times as long PyTorch takes: median [least,
# most] of the rounds. Run nothing else on the machine.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
pipeline=benchmark/peers
source "$here/../../experiment.sh"
sizes='small paper' precisions=f32 threads=1 rounds=5 folder=$here
if grep -qE ' (avx512_bf16|amx_bf16)' /proc/cpuinfo; then precisions+=' bf16'; fi
if (($(nproc) > 1)); then threads+=" $(nproc)"; fi
parse_options "sizes precisions threads rounds" "$@"
whole_numbers rounds
begin
python=/usr/bin/python3 # Debian's PyTorch belongs to Debian's Python
"$python" -c 'import torch' 2>/dev/null || "$project/pipelines/install.sh" peers

# PyTorch is faster with OpenBLAS on OpenMP, with huge pages, when the memory of an update is kept for the next, and with kernels for AVX-512,
# which neither Debian's build nor, on AMD, OpenBLAS chooses by itself.
peer=(env "LD_LIBRARY_PATH=$(echo /usr/lib/*/openblas-openmp)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" GLIBC_TUNABLES=glibc.malloc.hugetlb=1
  MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=1000000000000 MALLOC_TOP_PAD_=67108864)
! grep -q ' avx512f' /proc/cpuinfo || peer+=(ATEN_CPU_CAPABILITY=avx512 OPENBLAS_CORETYPE=SkylakeX)

processor=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
instructions=$("$RNNSEARCH" --version | sed -n 's/^instruction set //p')
version=$("$RNNSEARCH" --version | sed -n '1s/^rnnsearch //p')
printf '| processor | instruction set | version | size | precision | threads | rnnsearch, s | PyTorch, autograd | PyTorch, by hand |\n'
printf '| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n'
for size in $sizes; do
  case $size in
    small) options=(--embedding 256 --state 512 --alignment 512 --maxout 256 --source-words 8000 --target-words 8000) ;;
    paper) options=(--embedding 620 --state 1000 --alignment 1000 --maxout 500 --source-words 30000 --target-words 30000) ;;
    *) fail "--sizes has '$size'; the names are small and paper" ;;
  esac
  for precision in $precisions; do
    for count in $threads; do
      common=("${options[@]}" --precision "$precision" --threads "$count" "${extra[@]}")
      ours=("$RNNSEARCH" benchmark --preset rnnsearch-50 --readout-rank 0 --machine false --json - "${common[@]}")
      theirs=("${peer[@]}" OMP_NUM_THREADS="$count" "$python" "$here/rnnsearch_torch.py" "${common[@]}" --variant)
      printf '| %s | %s | %s | %s | %s | %s |' "$processor" "$instructions" "$version" "$size" "$precision" "$count"
      "$here/../compare.pl" --json --rounds "$rounds" --ours "${ours[*]@Q}" --peer "${theirs[*]@Q} autograd" --peer "${theirs[*]@Q} by-hand" |
        perl -MJSON::PP -0777 -ne 'my ($ours, @peers) = @{decode_json($_)->{commands}};
          printf " %.3g [%.3g, %.3g] |", @$_{qw(median minimum maximum)} for $ours->{seconds}, map { $_->{ratio} } @peers;
          print "\n"'
    done
  done
done
