#!/usr/bin/env bash
# Everything that waits for a GPU, in one command and under ten minutes: operators against the
# reference, whole trainings against the processor's and one rank's, the speed of GPT-2 124M.
# Prints a table, then PASSED or FAILED. Programs come from the folder it is given, from bin/
# beside it (tests/gpu/pack.sh), or are built.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -gt 0 ]; then
    bin=$1
elif [ -d "$here/bin" ]; then
    bin=$here/bin
    export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} DEBUBBLE_DATA_DIR=$here/share
else
    bin=$root/build/cuda/bin
    (cd "$root" && cmake --preset cuda -DDEBUBBLE_GUI=OFF >"$work/configure" 2>&1 &&
        cmake --build build/cuda --parallel --target \
            debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts) ||
        { cat "$work/configure"; echo "FAILED: it does not build"; exit 1; }
fi

rows=() status=0
row() { rows+=("$(printf '%-58s %-8s %s' "$1" "$2" "$3")"); [ "$2" = passed ] || status=1; }

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

speed() { # title precision
    local text=$work/text.txt json=$work/run.json log=$work/run
    head -c 2000000 /dev/urandom | base64 -w 0 >"$text"
    sed "s|TEXT|$text|; s|precision: bf16|precision: $2|" "$here/gpt2-124m.yaml" >"$work/gpt2.yaml"
    if timeout 150 "$bin/debubble-exec" run "$work/gpt2.yaml" --device cuda --steps 12 \
        --resume never --json "$json" >"$log" 2>&1; then
        local rate first last
        rate=$(awk -F'[:,]' '/"tokens_per_s"/ { printf "%.0f", $2; exit }' "$json")
        first=$(grep -oE 'loss [0-9.]+' "$log" | head -1) last=$(grep -oE 'loss [0-9.]+' "$log" | tail -1)
        row "$1" passed "$rate tokens/s, $first -> $last"
    else
        row "$1" FAILED "$(tail -1 "$log")"
        tail -20 "$log"
    fi
}

calibration() { # title
    local text=$work/text.txt log=$work/calibrate cluster=$work/gpu.yaml
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
    local text=$work/text.txt log=$work/run losses=() how
    [ -f "$text" ] || head -c 2000000 /dev/urandom | base64 -w 0 >"$text"
    sed "s|TEXT|$text|; s|precision: bf16|precision: fp32|" "$here/gpt2-124m.yaml" >"$work/small.yaml"
    for how in "--comm local" "--comm nccl --set gpus=2 --set parallel.pipeline=2"; do
        # shellcheck disable=SC2086
        timeout 150 "$bin/debubble-exec" run "$work/small.yaml" --device cuda --steps 3 --resume never \
            --deadline 60 --set training.global_batch=4 --set training.micro_batch=1 \
            --set training.seq_length=256 $how >"$log" 2>&1 || { row "$1" FAILED "$(tail -1 "$log")"; tail -20 "$log"; return; }
        losses+=("$(grep -oE 'loss [0-9.]+' "$log" | tr '\n' ' ')")
    done
    if [ -n "${losses[0]}" ] && [ "${losses[0]}" = "${losses[1]}" ]; then row "$1" passed "${losses[1]}"; else
        row "$1" FAILED "${losses[0]}, and by NCCL ${losses[1]}"
    fi
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
suite "operators in fp32, bf16, fp16 against the reference" '*KernelsTest*' 180
suite "trainings on the GPU against the processor's" '*AgainstTheProcessor*' 120
suite "pipelines, TP, DP, ZeRO on one GPU against one rank" '*AgainstOneRank*' 180
suite "an offloaded optimizer leaves the resident one's bits" '*OffloadedOptimizer*' 60
suite "a calibration prices its scenario in a simulation" '*DeviceCalibrate*' 60
speed "GPT-2 124M, bf16, sequences of 1024" bf16
calibration "calibrate: shares of the datasheet's rates"
question "several ranks of NCCL on one GPU (NCCL_HOSTID)" gpu_nccl_ranks
for ranks in 2 3; do promises "NCCL keeps a communicator's promises, $ranks ranks" $ranks whole; done
promises "a rank that fails ends the others' waits in NCCL" 3 OneFailureEndsAllWaits
promises "a deadline in NCCL names who is missing" 2 ADeadlineNamesWhatAndWhoIsMissing
nccl_training "a pipeline of two processes by NCCL against one rank"
question "green contexts have their own multiprocessors" gpu_green_contexts

echo
printf '%s\n' "${rows[@]}"
[ $status = 0 ] && echo PASSED || echo FAILED
exit $status
