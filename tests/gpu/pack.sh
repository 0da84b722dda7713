#!/usr/bin/env bash
# Builds the programs of tests/gpu/run.sh and packs them, with the libraries that a bare machine lacks,
# into out/gpu-tests.tar.gz. That file alone, some 24 MB, is what to carry: unpack it beside a GPU and a
# CUDA 13 toolkit, and call its run.sh.
#
#     tests/gpu/pack.sh [BIN]      (build/release/bin, which is configured, unless said)
#
# NCCL, which is large, is taken along with WITH_NCCL=1. A build with -DDEBUBBLE_CUDNN=FETCH brings
# attention by cuDNN, whose library is to be there. DEBUBBLE_JOBS is how many compilers run at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/release/bin}
build=$(dirname "$bin")
to=out/gpu-tests
fail() { echo "pack.sh: $*" >&2; exit 1; }

programs=(debubble debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts)
modules=(debubble_cuda debubble_nccl)
targets=$(cmake --build "$build" --target help) || fail "$build is not configured"
! grep -q '^debubble_cudnn:' <<<"$targets" || modules+=(debubble_cudnn)
# What lies there may be of other sources.
cmake --build "$build" --parallel "${DEBUBBLE_JOBS:-2}" --target "${programs[@]}" "${modules[@]}"

rm -rf "$to" "$to.tar.gz"
mkdir -p "$to/bin" "$to/lib" "$to/spare" "$to/bench" "$to/share/models" "$to/share/scenarios"
cp "${programs[@]/#/$bin/}" "$to/bin/"
for module in "${modules[@]}"; do
    # Linked without complaint, a module that lacks a function fails where it is loaded.
    undefined=$(ldd -r "$bin/$module.so" 2>&1 | grep 'undefined symbol' | c++filt || true)
    [ -z "$undefined" ] || fail "$module.so cannot be loaded"$'\n'"$undefined"
    cp "$bin/$module.so" "$to/bin/"
done
strip "$to"/bin/*

# Not the C and C++ libraries, nor what CUDA brings: python3 and compilers would load older ones too.
left_out='libc|libm|libpthread|libdl|librt|ld-linux|libstdc[+][+]|libgcc_s|libcublas|libcublasLt|libcudart|libcudnn'
[ -n "${WITH_NCCL:-}" ] || left_out+='|libnccl'
# Most machines have these, and theirs are taken: run.sh looks here for what is missing.
spare='libgomp|libcrypto|libz'
ldd "$to"/bin/* 2>/dev/null |
    awk -v out="^($left_out)[.-]" '$3 ~ /^\// && $1 !~ out { print $1, $3 }' | sort -u |
    while read -r name file; do
        folder=lib
        [[ ! $name =~ ^($spare)[.-] ]] || folder=spare
        cp -L "$file" "$to/$folder/$name"
    done
cp -r models/zoo "$to/share/models/"
cp -r scenarios/*.yaml scenarios/clusters scenarios/frameworks "$to/share/scenarios/"
cp bench/beside_pytorch.py bench/pytorch_training.py bench/calibrated.py bench/four-part-gpt.yaml "$to/bench/"
cp tests/gpu/run.sh tests/gpu/gpt2-124m.yaml "$to/"
tar -C out -czf "$to.tar.gz" gpu-tests

# As it will be unpacked, in a folder that knows nothing of this one.
tried=$(mktemp -d)
trap 'rm -rf "$tried"' EXIT
tar -C "$tried" -xzf "$to.tar.gz"
for part in tests large; do
    (cd "$tried" && env -u DEBUBBLE_DATA_DIR -u OUT DEBUBBLE_TEST_DEVICE=cpu gpu-tests/run.sh --only $part) >"$tried/log" 2>&1 ||
        { cat "$tried/log"; fail "what was packed fails on the processor"; }
    tail -1 "$tried/log"
done
echo "to carry: $to.tar.gz, $(du -m "$to.tar.gz" | cut -f1) MB"
