#!/usr/bin/env bash
# Everything that waits for a GPU, in one command, and in three of under ten minutes each: operators
# against the reference, whole trainings against the processor's and one rank's, speeds beside
# PyTorch's where it is installed, and simulated beside executed on four parts of the GPU. Prints a
# table, then PASSED or FAILED, with the number of figures that are short of what is wanted.
#
#     tests/gpu/run.sh [--only tests|speed|pipeline] [BIN]
#
# Programs come from the folder BIN, from bin/ beside it (tests/gpu/pack.sh), or are built.
# DEBUBBLE_TEST_DEVICE=cpu tries the script itself where there is no GPU, on tiny networks.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ -d "$here/bench" ] && root=$here
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
device=${DEBUBBLE_TEST_DEVICE:-cuda}

only=
if [ "${1:-}" = --only ]; then
    only=${2:-}
    case $only in tests | speed | pipeline) ;; *) echo "run.sh: --only tests, speed or pipeline" >&2; exit 2 ;; esac
    shift 2
fi
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

if [ $# -gt 0 ]; then
    bin=$1
elif [ -d "$here/bin" ]; then
    bin=$here/bin
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} DEBUBBLE_DATA_DIR=$here/share
else
    bin=$root/build/cuda/bin
    (cd "$root" && cmake --preset cuda -DDEBUBBLE_GUI=OFF >"$work/configure" 2>&1 &&
        cmake --build build/cuda --parallel --target \
            debubble debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts &&
        { cmake --build build/cuda --target debubble_cudnn || true; }) ||
        { cat "$work/configure"; echo "FAILED: it does not build"; exit 1; }
fi

# Where CUDA's libraries are there as packages of Python only, they are found beside it.
# (ldd is read to its end: grep -q would leave early, and pipefail make that a "no".)
needed=$(ldd "$bin"/debubble_*.so 2>/dev/null)
if grep -q 'not found' <<<"$needed"; then
    packages=$(python3 -c 'import glob, os, nvidia
print(":".join(folder for root in nvidia.__path__ for folder in glob.glob(os.path.join(root, "*/lib"))))' 2>/dev/null)
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$packages
fi

rows=() status=0 short=0
row() {
    rows+=("$(printf '%-58s %-8s %s' "$1" "$2" "$3")")
    echo "${rows[-1]}"  # here too: what cuts the rest off leaves it
    case $2 in passed | "not run") ;; short) short=$((short + 1)) ;; *) status=1 ;; esac
}
# Bytes are tokens; of random ones no loss falls below the entropy of base64.
text=$work/text.txt
head -c 2000000 /dev/urandom | base64 -w 0 >"$text"

suite() { # title filter seconds
    local log=$work/suite began=$SECONDS passed failed skipped
    timeout "$3" "$bin/exec_gpu_tests" --gtest_filter="$2" >"$log" 2>&1
    local code=$?
    passed=$(awk '$1 == "[" && $2 == "PASSED" { print $4 }' "$log")
    skipped=$(awk '$1 == "[" && $2 == "SKIPPED" && $4 ~ /^[0-9]+$/ { print $4 }' "$log")
    failed=$(awk '$1 == "[" && $2 == "FAILED" && $4 ~ /^[0-9]+$/ { print $4; exit }' "$log")
    if [ $code = 0 ] && [ "${passed:-0}" -gt 0 ] && [ "${skipped:-0}" = 0 ]; then
        row "$1" passed "$passed tests, $((SECONDS - began)) s"
    else
        row "$1" FAILED "exit $code; ${failed:-?} failed, ${skipped:-0} skipped, ${passed:-0} passed"
        grep -E 'Failure|error|Skipped|FAILED|expected|Which|actual' "$log" | head -60
    fi
}

beside() { # network tokens sequences microbatches tokens-per-second: beside PyTorch, turn about
    local title="$1, bf16, sequences of $2" log=$work/beside code
    command -v python3 >/dev/null || { row "$title" "not run" "there is no python3"; return; }
    local how=(--device cuda --compile --patience 90 --rounds 1 --steps 8 --wanted "$5")
    [ "$device" = cuda ] || how=(--device cpu --rounds 1 --steps 2 --wanted 1)
    timeout 260 python3 "$root/bench/beside_pytorch.py" --network "$1" --tokens "$2" --micro-batch "$3" \
        --micro-batches "$4" --precision bf16 --text "$text" --debubble "$bin/debubble" "${how[@]}" >"$log" 2>&1
    code=$?
    cat "$log"
    local found
    found=$(awk '/^debubble / { printf "%s tokens/s ", $6 } /^MFU/ { printf "MFU %s ", $2 }
        /^ratio/ { printf "%s x PyTorch%s ", $2, / compiled/ ? " compiled" : "" }' "$log")
    grep -q '^ratio' "$log" || found+="beside no PyTorch "
    case $code in
        0) row "$title" passed "$found" ;;
        3) row "$title" short "$found, wanted $5 and no less than PyTorch" ;;
        124) row "$title" short "cut off; $(grep '^so far' "$log" | tail -3 | tr '\n' ' ')" ;;
        *) row "$title" FAILED "exit $code; $(tail -1 "$log")" ;;
    esac
}

attention_by_cudnn() { # network tokens sequences: the same steps with it and without
    local title="$1: attention of cuDNN against our own" log=$work/attention which rates=()
    [ -e "$bin/debubble_cudnn.so" ] || { row "$title" "not run" "built without cuDNN's front end"; return; }
    for which in own cudnn; do
        if ! DEBUBBLE_ATTENTION=$which timeout 150 python3 "$root/bench/beside_pytorch.py" --network "$1" --tokens "$2" \
            --micro-batch "$3" --micro-batches 2 --precision bf16 --text "$text" --debubble "$bin/debubble" \
            --device cuda --rounds 1 --steps 8 --alone >"$log" 2>&1; then
            row "$title" FAILED "$(tail -1 "$log")"
            return
        fi
        rates+=("$(awk '/^debubble / { print $6 }' "$log")")
    done
    row "$title" passed "${rates[1]} against ${rates[0]} tokens/s"
}

parts() { # title: simulated from a calibration beside executed, on parts of the GPU
    local log=$work/parts code how=(3 --device cuda --text "$text")
    command -v python3 >/dev/null || { row "$1" "not run" "there is no python3"; return; }
    [ "$device" = cuda ] || how=(1)
    timeout 400 python3 "$root/bench/calibrated.py" "$bin" "${how[@]}" >"$log" 2>&1
    code=$?
    cat "$log"
    local found
    found=$(awk -F' *[|] *' '$5 ~ /%$/ { printf "%s %s  ", $2, $5 }' "$log")
    case $code in
        0) row "$1" passed "$found" ;;
        1) row "$1" short "$found" ;;
        *) row "$1" FAILED "exit $code; $(tail -1 "$log")" ;;
    esac
}

small_run() { # log arguments...: a few steps of a small network
    local log=$1 tokens=256
    shift
    [ "$device" = cuda ] || tokens=32
    sed "s|TEXT|$text|; s|precision: bf16|precision: fp32|; s|cluster: .*|cluster: this-machine|" \
        "$here/gpt2-124m.yaml" >"$work/small.yaml"
    timeout 150 "$bin/debubble-exec" run "$work/small.yaml" --device "$device" --deadline 60 \
        --set training.global_batch=4 --set training.micro_batch=1 --set training.seq_length=$tokens \
        --set model.layers=4 "$@" >"$log" 2>&1
}

resumed() { # title: six steps at once, and three with three more from their checkpoint
    local log=$work/run whole=$work/whole parted=$work/parted
    local how=(--steps 6 --set training.checkpoint.every=3 --set training.checkpoint.keep=5)
    if ! small_run "$log" "${how[@]}" --resume never --set "training.checkpoint.dir=$whole" ||
        ! mkdir "$parted" || ! cp -r "$whole/step_3" "$parted/" ||
        ! small_run "$log" "${how[@]}" --set "training.checkpoint.dir=$parted" ||
        ! grep -q 'going on behind step 3' "$log"; then
        row "$1" FAILED "$(tail -1 "$log")"
        tail -20 "$log"
        return
    fi
    local file same=0
    while read -r file; do
        cmp -s "$whole/$file" "$parted/$file" || { row "$1" FAILED "$file differs"; return; }
        same=$((same + 1))
    done < <(cd "$whole" && find step_6 -name '*.safetensors')
    if [ $same -gt 0 ]; then row "$1" passed "$same files of step 6 are equal"; else
        row "$1" FAILED "no checkpoint of step 6: $(ls "$whole")"
    fi
}

calibration() { # title
    local log=$work/calibrate cluster=$work/gpu.yaml
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/gpt2.yaml"
    if timeout 200 "$bin/debubble-exec" calibrate --device cuda --scenario "$work/gpt2.yaml" \
        --out "$cluster" >"$log" 2>&1; then
        row "$1" passed "$(awk '/gemm_eff|attention_.*_eff|memory_eff|host_link:/ {
            sub("_efficiency", "", $1); printf "%s %s  ", $1, $2 }' "$cluster")"
        grep -A1 'provenance: measured' "$cluster" | grep -E 'deep in|tokens forward|GELU|copies'
    else
        row "$1" FAILED "$(tail -1 "$log")"
        tail -20 "$log"
    fi
}

question() { # title program
    local log=$work/question
    [ -x "$bin/$2" ] || { row "$1" FAILED "$2 was not built"; return; }
    if timeout 120 "$bin/$2" >"$log" 2>&1; then row "$1" passed "$(tail -1 "$log")"; else
        row "$1" FAILED "$(tail -1 "$log")"
        cat "$log"
    fi
}

promises() { # title ranks promise
    local log=$work/promises
    [ -x "$bin/gpu_nccl_suite" ] || { row "$1" FAILED "gpu_nccl_suite was not built"; return; }
    if timeout 120 "$bin/gpu_nccl_suite" "$2" "$3" >"$log" 2>&1; then row "$1" passed "$(tail -1 "$log")"; else
        row "$1" FAILED "$(tail -1 "$log")"
        tail -20 "$log"
    fi
}

nccl_training() { # title: two processes that share a GPU, against one
    local log=$work/run losses=() how
    for how in "--comm local" "--comm nccl --set gpus=2 --set parallel.pipeline=2"; do
        # shellcheck disable=SC2086
        small_run "$log" --steps 3 --resume never $how || { row "$1" FAILED "$(tail -1 "$log")"; tail -20 "$log"; return; }
        losses+=("$(grep -oE 'loss [0-9.]+' "$log" | tr '\n' ' ')")
    done
    # Products of another number of multiprocessors may sum in another order.
    if [ -n "${losses[0]}" ] && awk -v a="${losses[0]}" -v b="${losses[1]}" 'BEGIN {
        n = split(a, one); if (split(b, two) != n) exit 1
        for (i = 2; i <= n; i += 2) if ((one[i] - two[i]) ^ 2 > 1e-6) exit 1 }'; then row "$1" passed "${losses[1]}"; else
        row "$1" FAILED "${losses[0]}, and by NCCL ${losses[1]}"
    fi
}

all_tests() {
    resumed "three steps and three more from their checkpoint, bit for bit"
    [ "$device" = cuda ] || return
    question "green contexts have their own multiprocessors" gpu_green_contexts  # all else stands on it
    suite "operators in fp32, bf16, fp16 against the reference" '*KernelsTest*' 180
    suite "trainings on the GPU against the processor's" '*AgainstTheProcessor*' 120
    suite "pipelines, TP, DP, ZeRO on one GPU against one rank" '*AgainstOneRank*' 180
    suite "an offloaded optimizer leaves the resident one's bits" '*OffloadedOptimizer*' 60
    suite "a calibration prices its scenario in a simulation" '*DeviceCalibrate*' 60
    calibration "calibrate: shares of the datasheet's rates"
    question "several ranks of NCCL on one GPU (NCCL_HOSTID)" gpu_nccl_ranks
    local ranks
    for ranks in 2 3; do promises "NCCL keeps a communicator's promises, $ranks ranks" $ranks whole; done
    promises "a rank that fails ends the others' waits in NCCL" 3 OneFailureEndsAllWaits
    promises "a deadline in NCCL names who is missing" 2 ADeadlineNamesWhatAndWhoIsMissing
    nccl_training "a pipeline of two processes by NCCL against one rank"
    [ -e "$bin/debubble_cudnn.so" ] || return
    DEBUBBLE_ATTENTION=cudnn suite "attention of cuDNN against the reference" '*KernelsTest.Attention*' 60
}

all_speeds() {
    if [ "$device" = cpu ]; then
        beside tiny-gpt2 64 2 2 1
        beside tiny-llama 64 2 2 1
        return
    fi
    beside gpt2-124m 1024 16 4 300000
    attention_by_cudnn gpt2-124m 1024 16
    attention_by_cudnn llama-1.2b 2048 4
    beside gpt2-xl 1024 4 8 40000
    beside llama-1.2b 2048 4 4 50000
}

[ "$device" = cpu ] || nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null ||
    echo "no nvidia-smi"
wanted tests && all_tests
wanted speed && all_speeds
wanted pipeline && parts "simulated beside executed, four parts of the GPU"

echo
printf '%s\n' "${rows[@]}"
[ $status = 0 ] && verdict=PASSED || verdict=FAILED
[ $short = 0 ] || verdict+=", $short short of what is wanted"
echo "$verdict"
exit $status
