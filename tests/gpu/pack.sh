#!/usr/bin/env bash
# Packs the programs of tests/gpu/run.sh, with the libraries that a bare machine lacks, into
# out/gpu-tests.tar.gz: unpack it beside a GPU and a CUDA 13 toolkit, and call its run.sh. NCCL, which
# is large, is taken along with WITH_NCCL=1. A build with -DDEBUBBLE_CUDNN=FETCH brings attention by cuDNN,
# whose library is to be there.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/release/bin}
to=out/gpu-tests
rm -rf "$to"
mkdir -p "$to/bin" "$to/lib" "$to/bench" "$to/share/models" "$to/share/scenarios"
cp "$bin"/debubble "$bin"/debubble-exec "$bin"/exec_gpu_tests "$bin"/debubble_cuda.so "$bin"/debubble_nccl.so \
    "$bin"/gpu_nccl_ranks "$bin"/gpu_nccl_suite "$bin"/gpu_green_contexts "$to/bin/"
[ ! -e "$bin/debubble_cudnn.so" ] || cp "$bin/debubble_cudnn.so" "$to/bin/"
strip "$to"/bin/*
left_out='libc|libm|libpthread|libdl|librt|ld-linux|libcublas|libcublasLt|libcudart'
[ -n "${WITH_NCCL:-}" ] || left_out+='|libnccl'
# All but the C library and what CUDA brings.
ldd "$bin/debubble" "$bin/debubble-exec" "$bin/exec_gpu_tests" "$bin/debubble_cuda.so" \
    "$bin/debubble_nccl.so" "$bin/gpu_nccl_suite" "$bin/gpu_nccl_ranks" |
    awk -v out="^($left_out)[.-]" '$3 ~ /^\// && $1 !~ out { print $3 }' |
    sort -u | xargs -r cp -L -t "$to/lib"
cp -r models/zoo "$to/share/models/"
cp -r scenarios/*.yaml scenarios/clusters scenarios/frameworks "$to/share/scenarios/"
cp bench/beside_pytorch.py bench/pytorch_training.py bench/calibrated.py bench/four-part-gpt.yaml "$to/bench/"
cp tests/gpu/run.sh tests/gpu/gpt2-124m.yaml "$to/"
tar -C out -czf out/gpu-tests.tar.gz gpu-tests
ls -l out/gpu-tests.tar.gz
