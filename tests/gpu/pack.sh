#!/usr/bin/env bash
# Packs the programs of tests/gpu/run.sh, with the libraries that a bare machine lacks, into
# out/gpu-tests.tar.gz: unpack it beside a GPU and a CUDA 13 toolkit, and call its run.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/release/bin}
to=out/gpu-tests
rm -rf "$to"
mkdir -p "$to/bin" "$to/lib" "$to/share/models" "$to/share/scenarios"
cp "$bin"/debubble-exec "$bin"/exec_gpu_tests "$bin"/debubble_cuda.so \
    "$bin"/gpu_nccl_ranks "$bin"/gpu_green_contexts "$to/bin/"
strip "$to"/bin/*
# All but the C library and what CUDA brings.
ldd "$bin/debubble-exec" "$bin/exec_gpu_tests" "$bin/debubble_cuda.so" \
    "$bin/gpu_nccl_ranks" |
    awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libpthread|libdl|librt|ld-linux|libcublas|libcuda)/ { print $3 }' |
    sort -u | xargs -r cp -L -t "$to/lib"
cp -r models/zoo "$to/share/models/"
cp -r scenarios/*.yaml scenarios/clusters scenarios/frameworks "$to/share/scenarios/"
cp tests/gpu/run.sh tests/gpu/gpt2-124m.yaml "$to/"
tar -C out -czf out/gpu-tests.tar.gz gpu-tests
ls -l out/gpu-tests.tar.gz
