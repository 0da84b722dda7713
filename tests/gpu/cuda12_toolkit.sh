#!/usr/bin/env bash
# Puts a toolkit of CUDA 12.4 together in a folder of its own, and installs nothing: the compiler of Debian
# 13's nvidia-cuda-toolkit, and headers and libraries of PyPI's packages. Each file is held against the
# hash that is written here or in cmake/cuda12-*requirements.txt. Takes 0.8 GB to fetch, and 1.2 GB of disk.
#
#     tests/gpu/cuda12_toolkit.sh [FOLDER]      (build/cuda-12.4)
#     CUDACXX=FOLDER/bin/nvcc tests/gpu/pack.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/build/cuda-12.4}
package=nvidia-cuda-toolkit version=12.4.131~12.4.1-2
hash=cd5fe85aee38d108b315f408a688641478f2402622a10c677478eb7a6c4e5319
pins=("$root"/cmake/cuda12-requirements.txt "$root"/cmake/cuda12-static-requirements.txt)
fail() { echo "cuda12_toolkit.sh: $*" >&2; exit 1; }

[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] && command -v apt-get >/dev/null ||
    fail "nvcc 12.4 comes from Debian's packages for amd64, and there is no apt of amd64 here"
made_of=$(cat "$0" "${pins[@]}" | sha256sum)
[ "$(cat "$folder/made-of" 2>/dev/null)" != "$made_of" ] || { echo "$folder/bin/nvcc"; exit; }
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

# apt with lists of its own, from the mirror that this machine has: nothing of the system is changed.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }')
[ -n "$mirror" ] || fail "apt has no mirror of Debian here: apt-get update, or take an nvcc of CUDA 12 by CUDACXX"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] || fail "there is no $keys: the package debian-archive-keyring has it"
mkdir -p "$new"/apt/{lists,cache/archives}/partial "$new"/apt/{state,preferences} "$new"/{parts,wheels,static}
chmod 755 "$new" # apt reads as a user of its own
touch "$new/apt/state/status"
echo "deb [signed-by=$keys] $mirror trixie non-free" >"$new/apt/sources.list"
cat >"$new/apt/apt.conf" <<TEXT
Dir::Etc::sourcelist "$new/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "$new/apt/preferences";
Dir::State "$new/apt/state";
Dir::State::lists "$new/apt/lists";
Dir::State::status "$new/apt/state/status";
Dir::Cache "$new/apt/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
TEXT
export APT_CONFIG=$new/apt/apt.conf
(apt-get update -q && cd "$new/parts" && apt-get download -q "$package=$version") >"$new/log" 2>&1 || {
    cat "$new/log" >&2
    fail "Debian 13's $package $version cannot be fetched"
}
archive=$(echo "$new"/parts/*.deb)
echo "$hash  $archive" | sha256sum --check --quiet - || fail "$package $version is not the file that it was"
dpkg -x "$archive" "$new/deb"
for which in wheels static; do
    file=${pins[0]}
    [ $which = wheels ] || file=${pins[1]}
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
        --dest "$new/parts/$which" -r "$file" || fail "PyPI's packages of ${file##*/} cannot be fetched"
    for wheel in "$new/parts/$which"/*.whl; do python3 -m zipfile -e "$wheel" "$new/$which"; done
done

# Laid out as NVIDIA does, so that nvcc and CMake find all of it.
to=$new/toolkit
mkdir -p "$to"/{bin,include,lib64,nvvm/bin}
tools=$new/deb/usr/lib/nvidia-cuda-toolkit
mv "$new"/deb/usr/bin/{cudafe++,fatbinary,nvlink,ptxas,bin2c,cuobjdump} "$tools"/bin/{nvcc,crt} "$to/bin/"
mv "$tools/bin/cicc" "$to/nvvm/bin/"
mv "$tools/libdevice" "$to/nvvm/"
for part in cublas cuda_nvcc cuda_runtime nccl; do cp -r "$new/wheels/nvidia/$part/include/." "$to/include/"; done
mv "$new"/wheels/nvidia/{cublas,cuda_runtime,nccl}/lib/*.so* "$to/lib64/"
mv "$new"/static/nvidia/cuda_runtime/lib/lib{cudart_static,culibos}.a "$to/lib64/"
for library in "$to"/lib64/*.so.*; do ln -s "${library##*/}" "${library%.so.*}.so"; done
cat >"$to/bin/nvcc.profile" <<'TEXT'
TOP                = $(_HERE_)/..
CICC_PATH          = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH              += $(CICC_PATH):$(_HERE_):
INCLUDES          += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES         =+ $(_SPACE_) "-L$(TOP)/lib64"
TEXT
# nvlink 12.4 refuses 12.9's libcudadevrt.a, which nvcc always names; no kernel here starts others.
echo >"$new/none.cu"
"$to/bin/nvcc" -dc -gencode arch=compute_52,code=compute_52 "$new/none.cu" -o "$new/none.o" &&
    ar rcs "$to/lib64/libcudadevrt.a" "$new/none.o" || fail "nvcc does not compile: is there a g++ up to 13?"
"$to/bin/nvcc" --version | grep -q 'release 12\.4' || fail "what was put together is no nvcc 12.4"
echo "$made_of" >"$to/made-of"
rm -rf "$folder"
mv "$to" "$folder"
echo "$folder/bin/nvcc"
