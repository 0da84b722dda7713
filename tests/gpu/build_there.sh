#!/usr/bin/env bash
# Compiles the kernels' module again beside a GPU, with the nvcc and the g++ that are there, for the GPU
# that is there: where the packed one is of another architecture, wants a newer driver, or does not load.
# All other programs stay as they were packed. Three minutes on two cores.
#
#     gpu-tests/build_there.sh [--arch 90a] [--nccl]     (in what tests/gpu/pack.sh made, or in a checkout)
#
# --arch is native unless said, which asks the GPU. --nccl also compiles the module of NCCL, against the
# nccl.h that is there. CUDACXX names another nvcc, CXX another g++, DEBUBBLE_JOBS how many compilers run at once (one per
# core). The new module takes the place of the old one, which is kept with .packed behind its name; where
# something fails the old one stays.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "build_there.sh: $*" >&2; exit 1; }
misused() { echo "build_there.sh: $*" >&2; exit 2; }

arch=native modules=(cuda)
while [ $# -gt 0 ]; do
    case $1 in
        --arch) arch=sm_${2:-}; [[ ${2:-} =~ ^[0-9]+[af]?$ ]] || misused "--arch wants a number such as 90a"; shift ;;
        --nccl) modules+=(nccl) ;;
        -h | --help) awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub("^# ?", ""); print }' "$0"; exit ;;
        *) misused "there is no '$1'; --help says how it is called" ;;
    esac
    shift
done

source=$here/source bin=$here/bin
if [ ! -d "$source" ]; then
    source=$(cd "$here/../.." && pwd) bin=${DEBUBBLE_BIN:-$source/build/cuda/bin}
fi
[ -d "$bin" ] || fail "there are no programs in $bin"
nvcc=${CUDACXX:-$(command -v nvcc || ls -d /usr/local/cuda/bin/nvcc /usr/local/cuda-*/bin/nvcc 2>/dev/null | tail -1)} || true
[ -n "$nvcc" ] && "$nvcc" --version >/dev/null 2>&1 || fail "there is no nvcc here; CUDACXX may name one"
cxx=${CXX:-g++}
"$cxx" --version >/dev/null 2>&1 || fail "there is no g++ here; CXX may name another compiler"
jobs=${DEBUBBLE_JOBS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The folders of headers and of libraries that nvcc has, and those of PyPI's packages.
packages=$(python3 -c 'import glob, os, nvidia
print("\n".join(folder for root in nvidia.__path__ for folder in glob.glob(os.path.join(root, "*"))))' 2>/dev/null) || true
fmt=-lfmt  # nvcc takes no name that ends in a version, and its linker does
for file in "$here"/lib/libfmt.so.*; do [ ! -e "$file" ] || fmt=$file; done
includes=("-I$source" -isystem "$source/include" -isystem "$(dirname "$(readlink -f "$nvcc")")/../include")
flags=(-std=c++20 -O3 -DNDEBUG)
for_kernels=(--expt-relaxed-constexpr -Xcompiler -fPIC "-arch=$arch")
libraries=()
while read -r folder; do
    [ ! -d "$folder/include" ] || includes+=(-isystem "$folder/include")
    [ ! -d "$folder/lib" ] || libraries+=("$folder/lib")
done <<<"$packages"

# The lists of exec/cuda/CMakeLists.txt, one source a line.
list() { # start-of-a-command
    awk -v start="$1" 'index($0, start) == 1 { inside = 1 }
        inside { print } inside && /[)] *$/ { exit }' "$source/exec/cuda/CMakeLists.txt" |
        grep -oE '[^ ()]+[.](cu|cpp)' |
        sed -e 's|^[$]{CMAKE_CURRENT_SOURCE_DIR}/|exec/cuda/|; t' -e 's|^[$]{PROJECT_SOURCE_DIR}/||; t' -e 's|^|exec/cuda/|'
}
sources_of() { # module
    case $1 in
        cuda)
            list 'set(cuda_kernel_sources'
            list 'set(cuda_operator_sources'
            list 'debubble_batches(units debubble_cuda' ;;
        nccl) list 'debubble_batches(units debubble_nccl' ;;
    esac
}
# A library by its name without a version, or in the way in which PyPI has it.
library() { # name
    local folder file
    for folder in "$(dirname "$(readlink -f "$nvcc")")"/../{lib64,lib} "${libraries[@]}" /usr/lib/x86_64-linux-gnu /usr/lib64; do
        for file in "$folder/$1.so" "$folder/$1".so.*; do
            if [ -e "$file" ]; then echo "$file"; return; fi
        done
    done
    return 1
}

for module in "${modules[@]}"; do
    began=$SECONDS
    sources_of "$module" >"$work/sources"
    [ "$(wc -l <"$work/sources")" -gt 5 ] || fail "the list of the module's sources is not found in $source"
    name=libcublasLt
    [ "$module" = cuda ] || name=libnccl
    wanted=$(library $name) || fail "there is no $name here"
    mkdir -p "$work/$module"
    # The largest first, so that none is left for the end.
    (cd "$source" && xargs ls -S <"$work/sources") >"$work/by_size"
    text_of_arch="-DDEBUBBLE_CUDA_ARCHITECTURES=\"$arch\""
    compile() { # source
        local object
        object=$work/$module/$(tr '/' '_' <<<"$1").o
        case $1 in
            *.cu) set -- "$1" "$nvcc" "${for_kernels[@]}" ;;
            *) set -- "$1" "$cxx" -fPIC ;;
        esac
        "${@:2}" "${flags[@]}" "${includes[@]}" "$text_of_arch" -c "$source/$1" -o "$object" 2>"$object.log" ||
            { echo "--- $1" >&2; cat "$object.log" >&2; return 1; }
    }
    code=0
    while read -r file; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || code=1; done
        [ $code = 0 ] || break
        compile "$file" &
    done <"$work/by_size"
    while [ -n "$(jobs -rp)" ]; do wait -n || code=1; done
    [ $code = 0 ] || fail "debubble_$module.so does not compile"
    "$nvcc" -shared "-arch=$arch" -cudart static "$work/$module"/*.o -Xlinker "$wanted" -Xlinker "$fmt" -ldl -o "$work/debubble_$module.so" ||
        fail "debubble_$module.so cannot be linked"
    undefined=$(LD_LIBRARY_PATH=$(dirname "$wanted"):$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd -r "$work/debubble_$module.so" 2>&1 |
        grep 'undefined symbol' || true)
    [ -z "$undefined" ] || fail "debubble_$module.so lacks functions"$'\n'"$undefined"
    [ ! -e "$bin/debubble_$module.so" ] || [ -e "$bin/debubble_$module.so.packed" ] ||
        mv "$bin/debubble_$module.so" "$bin/debubble_$module.so.packed"
    mv "$work/debubble_$module.so" "$bin/debubble_$module.so"
    echo "$bin/debubble_$module.so: for $arch, by $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p'), $((SECONDS - began)) s"
done
