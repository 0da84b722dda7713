#!/usr/bin/env bash
# Builds the programs of tests/gpu/run.sh and packs them, with the libraries that a bare machine lacks,
# into out/gpu-tests.tar.gz. That file alone, some 30 MB, is what to carry: unpack it beside a GPU and
# the CUDA toolkit of the same major version, and call its run.sh.
#
#     tests/gpu/pack.sh [--arch 90a] [BIN]      (builds in build/pack; or takes BIN, of a build that is configured)
#     tests/gpu/pack.sh --cuda12 [--arch 90a] [BIN]
#
# --arch packs for one architecture, four to nine minutes on two cores from an empty cache, by the machine: 80 for A100, 90a for H100 and H200, 100 for B200.
# Programs of CUDA 13 want a driver from 580 on. --cuda12 fetches a toolkit of CUDA 12.4
# (cuda12_toolkit.sh), or takes the nvcc of CUDA 12 that CUDACXX names; its programs want a driver from
# 545 on, and go into out/gpu-tests-cuda12.tar.gz. Both run where glibc is 2.34 or later and libstdc++ that of GCC 11 or
# later: RHEL 9, Ubuntu 22.04, Debian 12. That is checked (symbol_limits.py).
#
# NCCL, which is large, is taken along with WITH_NCCL=1. A build with -DDEBUBBLE_CUDNN=FETCH brings
# attention by cuDNN, whose library is to be there. DEBUBBLE_JOBS is how many compilers run at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "pack.sh: $*" >&2; exit 1; }

wanted='' arch=''
while [ $# -gt 0 ]; do
    case $1 in
        --cuda12) wanted=12 ;;
        --arch) arch=${2:-}; [[ $arch =~ ^[0-9]+[af]?$ ]] || fail "--arch wants a number such as 90a, not '$arch'"; shift ;;
        -*) fail "there is no '$1'" ;;
        *) break ;;
    esac
    shift
done
[ $# -le 1 ] || fail "one folder of programs, not $#"
if [ -n "$wanted" ]; then
    [ -n "${CUDACXX:-}" ] || CUDACXX=$(tests/gpu/cuda12_toolkit.sh) || fail "there is no toolkit of CUDA 12"
    export CUDACXX
fi
nvcc=${CUDACXX:-nvcc}
release=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p') || true
[ -n "$release" ] || fail "$nvcc is no nvcc: put one in the PATH or name it in CUDACXX"
major=${release%.*} minor=${release#*.}
[ -z "$wanted" ] || [ "$major" = "$wanted" ] || fail "$nvcc is of CUDA $release, and --cuda12 wants one of CUDA 12"
suffix=
[ "$major" -ge 13 ] || suffix=-cuda$major
# Blackwell is known from CUDA 12.8 on; from an earlier one its driver compiles what is for Hopper.
architectures=() folder=build/pack$suffix
[ "$major" -ge 13 ] || [ "$minor" -ge 8 ] || architectures=("-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real;90-virtual")
if [ -n "$arch" ]; then architectures=("-DCMAKE_CUDA_ARCHITECTURES=$arch-real" -DDEBUBBLE_QUICK=ON) folder+=-$arch; fi
if [ $# -gt 0 ]; then
    bin=$1
else
    bin=$folder/bin
    cmake --preset cuda -B "$folder" -DDEBUBBLE_GUI=OFF -DDEBUBBLE_BENCH=OFF "${architectures[@]}" \
        -DCMAKE_CXX_FLAGS="-include $PWD/tests/gpu/older_libstdcxx.h" >/dev/null || fail "it cannot be configured"
fi
build=$(dirname "$bin")
to=out/gpu-tests$suffix

programs=(debubble debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts)
modules=(debubble_cuda debubble_nccl)
targets=$(cmake --build "$build" --target help) || fail "$build is not configured"
! grep -q '^debubble_cudnn:' <<<"$targets" || modules+=(debubble_cudnn)
# What lies there may be of other sources.
build_all() { cmake --build "$build" --parallel "${DEBUBBLE_JOBS:-2}" --target "${programs[@]}" "${modules[@]}"; }
if ! build_all; then
    # Larger batches meet names that two files have in namespaces of their own.
    [ -n "$arch" ] && [ $# = 0 ] || fail "it does not build"
    echo "pack.sh: it does not build in larger batches; those of a release take some minutes more" >&2
    cmake -B "$build" -DDEBUBBLE_QUICK=OFF >/dev/null && build_all || fail "it does not build"
fi

rm -rf "$to" "$to.tar.gz"
mkdir -p "$to/bin" "$to/lib" "$to/spare" "$to/bench" "$to/share/models" "$to/share/scenarios" "$to/source"
cp "${programs[@]/#/$bin/}" "$to/bin/"
for module in "${modules[@]}"; do
    # Linked without complaint, a module that lacks a function fails where it is loaded.
    undefined=$(ldd -r "$bin/$module.so" 2>&1 | grep 'undefined symbol' | c++filt || true)
    [ -z "$undefined" ] || fail "$module.so cannot be loaded"$'\n'"$undefined"
    cp "$bin/$module.so" "$to/bin/"
    # An empty entry is the current folder, whatever lies there.
    path=$(readelf -d "$bin/$module.so" | sed -n 's/.*(\(RUNPATH\|RPATH\)).*\[\(.*\)\]/\2/p')
    [[ :$path: != *::* ]] || [ -z "$path" ] || fail "$module.so looks for libraries in the current folder: $path"
done
strip "$to"/bin/*

# Not the C and C++ libraries, nor what CUDA brings: python3 and compilers would load older ones too.
# libstdc++ is not taken along, since one that is newer than the machine's wants a newer glibc too
# (Debian 12's wants 2.36): the programs are made to do with an older one.
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
newer=$(tests/gpu/symbol_limits.py --cuda "$major" "$to") || {
    echo "$newer" >&2
    fail "that runs on no machine older than this one; a build without BIN is made for RHEL 9"
}
cp -r models/zoo "$to/share/models/"
cp -r scenarios/*.yaml scenarios/clusters scenarios/frameworks "$to/share/scenarios/"
cp bench/beside_pytorch.py bench/pytorch_training.py bench/calibrated.py bench/measure_kernels.py bench/four-part-gpt.yaml "$to/bench/"
cp tests/gpu/run.sh tests/gpu/build_there.sh tests/gpu/README.md tests/gpu/gpt2-124m.yaml "$to/"
# What build_there.sh compiles, and every header that it may include.
git ls-files exec/cuda base exec schedule models scenarios trace text | grep -E '^exec/cuda/|[.]h$|^(base|exec/core|exec/comm)/.*[.]cpp$' |
    tar -cf - -T - | tar -C "$to/source" -xf -
fmt=$(sed -n 's/^fmt_DIR:PATH=//p' "$build/CMakeCache.txt")
for include in "${fmt%/lib/*}/include" /usr/include; do
    if [ -d "$include/fmt" ]; then mkdir -p "$to/source/include"; cp -rL "$include/fmt" "$to/source/include/"; break; fi
done
[ -d "$to/source/include/fmt" ] || fail "the headers of fmt are not found"
cat ./*.md docs/*.md docs/*/*.md >"$to/prose.txt"  # the text to train on
tar -C out -czf "$to.tar.gz" "$(basename "$to")"
mebibytes=$(($(stat -c %s "$to.tar.gz") >> 20))
[ $mebibytes -lt 48 ] || fail "$to.tar.gz has $mebibytes MiB; 48 are what can be carried everywhere"

# As it will be unpacked, in a folder that knows nothing of this one.
tried=$(mktemp -d)
trap 'rm -rf "$tried"' EXIT
tar -C "$tried" -xzf "$to.tar.gz"
try() { # [VARIABLE=value]... part
    (cd "$tried" && env -u DEBUBBLE_DATA_DIR -u OUT DEBUBBLE_TEST_DEVICE=cpu "${@:1:$#-1}" \
        "$(basename "$to")/run.sh" --only "${*: -1}")
}
parts=(tests large multi)
[ -z "$arch" ] || parts=(tests)
for part in "${parts[@]}"; do
    try "$part" >"$tried/log" 2>&1 || { cat "$tried/log"; fail "what was packed fails on the processor"; }
    tail -1 "$tried/log"
done
if [ -n "$arch" ]; then
    echo "to carry: $to.tar.gz, $mebibytes MiB, for $arch alone"
    exit
fi
# Two nodes that are both here.
port=$((20000 + RANDOM % 20000))
both=(NODES=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "DEBUBBLE_JOB_SECRET=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')")
try "${both[@]}" NODE=1 multi >"$tried/log1" 2>&1 &
if ! try "${both[@]}" NODE=0 multi >"$tried/log" 2>&1 || ! wait $!; then
    cat "$tried/log" "$tried/log1"
    fail "two nodes fail on the processor"
fi
tail -1 "$tried/log"
echo "to carry: $to.tar.gz, $mebibytes MiB"
