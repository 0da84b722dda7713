#!/usr/bin/env bash
# Everything that waits for a GPU, in one command, the rows that are worth most first; or in two, what a
# first visit wants to know, in four minutes (first), and the rest; and in parts of under ten minutes
# each: operators against the oracle, whole trainings against the processor's and one rank's (tests), speeds beside PyTorch's
# where it is installed (speed: GPT-2 124M, and cuDNN's attention; large: GPT-2 XL and a Llama), and
# simulated beside executed on four parts of the GPU (pipeline), all of them on the first GPU; and
# trainings of all GPUs, over NVLink and without, with the switches' sums and without (multi).
# Prints each row when it is known, then all of them as a table, then PASSED or FAILED, with the number
# of rows that were not run and of figures that are short of what is wanted. README.md beside it says
# what to expect.
#
#     tests/gpu/run.sh [--limit SECONDS] [--only first|rest|tests|speed|large|pipeline|multi] [BIN]
#     tests/gpu/run.sh --help
#
# --limit is for the whole: each row gets what is left, at most its own limit, and one for which nothing
# is left is "not run". Without it only `first` has one, of 240 seconds. DEBUBBLE_ROW_LIMIT is the most
# seconds that any command of a row gets.
#
# With NODES=2 (or more), multi is of that many machines: it is called on each of them at the same
# time, with NODE=0, 1, ..., MASTER_ADDR, an address of node 0, MASTER_PORT, a free port there, and
# the same DEBUBBLE_JOB_SECRET, which `openssl rand -hex 32` makes.
# Programs come from the folder BIN, from bin/ beside it (tests/gpu/pack.sh), or are built. Logs, one
# for each row, are left in the folder OUT as gpu-logs.tar.gz, or where they are if something failed.
# DEBUBBLE_TEST_DEVICE=cpu tries the script itself where there is no GPU, on tiny networks.
set -uo pipefail
case ${1:-} in
    -h | --help) awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub("^# ?", ""); print }' "$0"; exit ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ -d "$here/bench" ] && root=$here
work=$(mktemp -d)
logs=$work/logs
mkdir "$logs"
device=${DEBUBBLE_TEST_DEVICE:-cuda}
rows=() status=0 ran=0 short=0 not_run=0

running=
leave() {
    [ -z "$running" ] || kill "$running" 2>/dev/null
    if [ $status = 0 ] || [ -n "${OUT:-}" ]; then rm -rf "$work"; else
        find "$work" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf {} +
    fi
}
trap leave EXIT
# Ranks have a socket and some events for each other; where that many are not allowed, fewer do.
ulimit -n "$(ulimit -Hn)" 2>/dev/null

only='' limit=''
while [ $# -gt 0 ]; do
    case $1 in
        --only)
            only=${2:-}
            case $only in
                first | rest | tests | speed | large | pipeline | multi) ;;
                *) echo "run.sh: --only first, rest, tests, speed, large, pipeline or multi" >&2; exit 2 ;;
            esac ;;
        --limit)
            limit=${2:-}
            [[ $limit =~ ^[1-9][0-9]{0,5}$ ]] || { echo "run.sh: --limit wants seconds, not '$limit'" >&2; exit 2; } ;;
        -h | --help) exec "$0" --help ;;
        -*) echo "run.sh: there is no '$1'; run.sh --help says how it is called" >&2; exit 2 ;;
        *) break ;;
    esac
    shift 2
done
[ $# -le 1 ] || { echo "run.sh: one folder of programs, not $#" >&2; exit 2; }
[ "$only" != first ] || limit=${limit:-240}
# What several machines lack would be told by each rank of each row.
nodes=${NODES:-1} node=${NODE:-0} lacking=()
if [ "$nodes" != 1 ]; then
    [[ $nodes =~ ^[1-9][0-9]{0,3}$ ]] || { echo "run.sh: NODES=$nodes is no number of machines" >&2; exit 2; }
    [[ ${NODE:-} =~ ^(0|[1-9][0-9]{0,3})$ ]] && [ "$node" -lt "$nodes" ] || lacking+=("NODE, from 0 to $((nodes - 1))")
    [ -n "${MASTER_ADDR:-}" ] || lacking+=("MASTER_ADDR, an address of node 0")
    [[ ${MASTER_PORT:-} =~ ^[1-9][0-9]{0,4}$ ]] || lacking+=("MASTER_PORT, a free port there")
    secret=${DEBUBBLE_JOB_SECRET:-}
    [ ${#secret} -ge 16 ] || lacking+=("DEBUBBLE_JOB_SECRET, as openssl rand -hex 32 makes one, the same on all of them")
    if [ ${#lacking[@]} -gt 0 ]; then
        (IFS=';'; echo "run.sh: NODES=$nodes wants${lacking[*]/#/ }" >&2)
        exit 2
    fi
fi
# Where there is no GPU every row would fail in words of its own: one sentence says it.
if [ "$device" = cuda ] && ! nvidia-smi -L >/dev/null 2>&1 && ! [ -e /dev/nvidiactl ] && ! [ -e /dev/dxg ]; then
    echo "run.sh: there is no NVIDIA GPU here, or no driver for it (nvidia-smi finds none, and there is no" \
        "/dev/nvidiactl), so that nothing is run. DEBUBBLE_TEST_DEVICE=cpu tries the script on the processor," \
        "and run.sh --help says what it does." >&2
    echo FAILED
    exit 1
fi
wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

# ---- time --------------------------------------------------------------------

# Killing and packing logs come after the last row's command.
left() { [ -n "$limit" ] && echo $((limit - SECONDS - 4)) || echo 1000000; }  # seconds
at_most() { # seconds that a row wants: those that it gets
    local rest=$1 other
    for other in "$(left)" "${DEBUBBLE_ROW_LIMIT:-$1}"; do rest=$((other < rest ? other : rest)); done
    echo $((rest > 1 ? rest : 1))
}
# In the background, since the shell would tell of a foreground command that was killed, in the row's log.
within() { # seconds command...
    timeout -k 3 "$(at_most "$1")" "${@:2}" &
    running=$!
    wait $running 2>/dev/null
    local code=$?
    running=
    return $code
}
# A row is not run twice where several parts have it, nor where fewer seconds are left than show anything.
declare -A seen=()
skipping=
is_due() { # title [seconds]
    [ -z "${seen[$1]:-}" ] || return 1
    seen[$1]=1
    [ -z "$skipping" ] || return 1
    [ "$(left)" -lt "${2:-5}" ] || return 0
    row "$1" "not run" "of --limit $limit no time is left"
    return 1
}
ended() { case $1 in 124 | 137) echo "cut off" ;; *) echo "exit $1" ;; esac; }  # exit code
is_cut_off() { [ "$1" = 124 ] || [ "$1" = 137 ]; }
# Whether it was the limit of the whole that cut a command off; then nothing is said against the row.
out_of_time() { is_cut_off "$1" && [ "$(left)" -lt 3 ]; }  # exit code

# ---- programs and their libraries --------------------------------------------

libraries=
if [ $# -gt 0 ]; then
    bin=$(cd "$1" && pwd) || exit 2
elif [ -d "$here/bin" ]; then
    bin=$here/bin libraries=$here/lib
    export DEBUBBLE_DATA_DIR=$here/share
else
    bin=$root/build/cuda/bin
    (cd "$root" && cmake --preset cuda -DDEBUBBLE_GUI=OFF >"$work/configure" 2>&1 &&
        cmake --build build/cuda --parallel --target \
            debubble debubble-exec exec_gpu_tests gpu_nccl_ranks gpu_nccl_suite gpu_green_contexts &&
        { cmake --build build/cuda --target debubble_cudnn || true; }) ||
        { cat "$work/configure"; echo "FAILED: it does not build"; exit 1; }
fi
# What python3 and compilers load is left as it is: only our own programs get a path of libraries.
path() { echo "$libraries${libraries:+${LD_LIBRARY_PATH:+:}}${LD_LIBRARY_PATH:-}"; }
absent_libraries() {
    local file
    for file in "$bin"/{debubble,debubble-exec,exec_gpu_tests,gpu_nccl_suite,gpu_nccl_ranks} \
        "$bin"/debubble_{cuda,nccl,cudnn}.so; do
        [ ! -e "$file" ] || LD_LIBRARY_PATH=$(path) ldd "$file" 2>/dev/null
    done | awk '/not found/ { print $1 }' | sort -u
}
for library in $(absent_libraries); do
    [ -e "$here/spare/$library" ] || continue
    mkdir -p "$work/lib"
    ln -s "$here/spare/$library" "$work/lib/"
done
[ ! -d "$work/lib" ] || libraries+=${libraries:+:}$work/lib
# Where CUDA's libraries are there as packages of Python only, they are found beside it.
if [ -e "$bin/debubble_cudnn.so" ] || [ -n "$(absent_libraries)" ]; then
    packages=$(python3 -c 'import glob, os, nvidia
print(":".join(folder for root in nvidia.__path__ for folder in glob.glob(os.path.join(root, "*/lib"))))' 2>/dev/null)
    for folder in "$packages" /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 "${CONDA_PREFIX:+$CONDA_PREFIX/lib}"; do
        [ -z "$folder" ] || [[ $folder != /* ]] || [[ $folder == *'*'* ]] || libraries+=${libraries:+:}$folder
    done
fi
programs=$bin
if [ -n "$libraries" ]; then
    programs=$work/bin
    mkdir "$programs"
    for program in "$bin"/*; do
        case $program in *.so) continue ;; esac
        [ -f "$program" ] || continue
        name=$programs/$(basename "$program")
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$(path)" "$program" >"$name"
        chmod +x "$name"
    done
fi
absent=$(absent_libraries)
[ -z "$absent" ] || echo "libraries that are not there: ${absent//$'\n'/ } (README.md says which packages have them;" \
    "LD_LIBRARY_PATH may name their folder)"
# Numbers in CUDA_VISIBLE_DEVICES are nvidia-smi's, not an order of speed.
export CUDA_DEVICE_ORDER=${CUDA_DEVICE_ORDER:-PCI_BUS_ID}
export NCCL_DEBUG=WARN NCCL_DEBUG_FILE=$logs/nccl.%h.%p

# ---- rows and logs -----------------------------------------------------------

row() { # title passed|short|"not run"|FAILED text
    rows+=("$(printf '%-58s %-8s %s' "$1" "$2" "$3")")
    echo "${rows[-1]}" | tee -a "$logs/table.txt"  # here too: what cuts the rest off leaves it
    case $2 in
        passed) ran=$((ran + 1)) ;;
        short) ran=$((ran + 1)) short=$((short + 1)) ;;
        "not run") not_run=$((not_run + 1)) ;;
        *) ran=$((ran + 1)) status=1 ;;
    esac
    keep_logs
}
keep_logs() { [ -z "${OUT:-}" ] || { mkdir -p "$OUT" && tar -C "$work" -czf "$OUT/gpu-logs.tar.gz" logs; }; }
log_of() { # title: in the order of rows
    printf '%s/%02d-%s.log' "$logs" "${#rows[@]}" "$(tr -cs 'A-Za-z0-9\n' - <<<"$1" | cut -c -60)"
}
cut_by_limit() { row "$1" "not run" "--limit $limit ended it"; }  # title
failed() { # title exit-code text log
    if out_of_time "$2"; then cut_by_limit "$1"; return; fi
    row "$1" FAILED "$3"
    grep '^\[ RUN' "$4" | tail -1
    tail -20 "$4"
}

# Bytes are tokens. Prose has a few that are frequent and many that are not, as all text has: what
# many rows add to at once (gradients of embeddings, loads of experts), and what a product's power
# depends on, is that of a training. Of random bytes no loss would fall.
text=$work/text.txt
prose=("$here/prose.txt")
[ -e "${prose[0]}" ] || prose=("$root"/*.md "$root"/docs/*.md "$root"/docs/*/*.md)
while [ "$(stat -c %s "$text" 2>/dev/null || echo 0)" -lt 2000000 ]; do cat "${prose[@]}" >>"$text" || exit 2; done

# ---- kinds of rows -----------------------------------------------------------

first_failure() { # log: its text
    awk '/^\[ RUN/ { text = "" } { text = text $0 "\n" } /^\[  FAILED/ { printf "%s", text; exit }' "$1" | head -40
}
first_that_failed() { # log: the test; one that ended its process wrote no more than its begin
    awk '$2 == "FAILED" && $4 !~ /^[0-9]+$/ { sub(",$", "", $4); print $4; found = 1; exit }
        $2 == "RUN" { open = $4 } $2 == "OK" || $2 == "SKIPPED" { open = "" }
        END { if (!found && open != "") print open }' "$1"
}

suite() { # title filter seconds
    local log began=$SECONDS code passed failed skipped test
    is_due "$1" || return
    log=$(log_of "$1")
    within "$3" "$programs/exec_gpu_tests" --gtest_filter="$2" >"$log" 2>&1
    code=$?
    passed=$(awk '$1 == "[" && $2 == "PASSED" { print $4 }' "$log")
    skipped=$(awk '$1 == "[" && $2 == "SKIPPED" && $4 ~ /^[0-9]+$/ { print $4; exit }' "$log")
    failed=$(awk '$1 == "[" && $2 == "FAILED" && $4 ~ /^[0-9]+$/ { print $4; exit }' "$log")
    if [ $code = 0 ] && [ "${passed:-0}" -gt 0 ] && [ "${skipped:-0}" = 0 ]; then
        row "$1" passed "$passed tests, $((SECONDS - began)) s"
        return
    fi
    if out_of_time $code && ! grep -q '^\[  FAILED' "$log"; then
        row "$1" "not run" "--limit $limit ended it, $(grep -c '^\[       OK' "$log") tests passed until then"
        return
    fi
    row "$1" FAILED "$(ended $code); ${failed:-?} failed, ${skipped:-0} skipped, ${passed:-0} passed"
    test=$(first_that_failed "$log")
    if [ -z "$test" ]; then grep -m 1 -A 1 'Skipped' "$log" || tail -20 "$log"; return; fi
    first_failure "$log" | grep . || { grep '^\[ RUN' "$log" | tail -1; tail -20 "$log"; }
    # After an error of CUDA all that follows in the process fails: the first alone says what it was.
    local alone=${log%.log}-alone.log
    CUDA_LAUNCH_BLOCKING=1 within 60 "$programs/exec_gpu_tests" --gtest_filter="$test" >"$alone" 2>&1
    echo "$test alone, each launch waited for: $(ended $?)"
    first_failure "$alone" | grep . || tail -5 "$alone"
    keep_logs
}

beside() { # network tokens sequences microbatches tokens-per-second patience limit: by PyTorch, turn about
    local title="$1, bf16, sequences of $2" log code=1 name state found how seconds
    is_due "$title" 15 || return
    log=$(log_of "$title")
    command -v python3 >/dev/null || { row "$title" "not run" "there is no python3"; return; }
    how=(--device cuda --compile --rounds 1 --steps 8)
    [ "$device" = cuda ] || how=(--device cpu --compile --rounds 1 --steps 2)
    seconds=$(at_most "$7")
    # Each row as its figure comes; the last line is the exit code.
    while IFS='|' read -r word name state found; do
        name=${name# } name=${name% } state=${state# } state=${state% } found=${found# }
        if [ "$word" = "code " ]; then code=${name}; continue; fi
        [ "$state" != met ] || state=passed
        [ "$name" != debubble ] || name=
        row "$title${name:+, $name}" "$state" "$found"
    done < <(
        within $((seconds + 20)) python3 "$root/bench/beside_pytorch.py" --network "$1" --tokens "$2" --micro-batch "$3" \
            --micro-batches "$4" --precision bf16 --text "$text" --debubble "$programs/debubble" --wanted "$5" \
            --patience "$6" --limit "$((seconds > 4 ? seconds - 3 : 1))" "${how[@]}" 2>&1 | tee "$log" | grep --line-buffered '^verdict |'
        echo "code | ${PIPESTATUS[0]}"
    )
    cat "$log"
    case $code in
        0 | 3) grep -q '^verdict | debubble |' "$log" || row "$title" FAILED "$(tail -1 "$log")" ;;
        *) ! grep -q '^verdict |' "$log" || title+=", the rest"
            if out_of_time "$code"; then cut_by_limit "$title"; else
                row "$title" FAILED "$(ended "$code"); $(tail -1 "$log")"
            fi ;;
    esac
}

attention_by_cudnn() { # network tokens sequences: the same steps with it and without
    local title="$1: attention of cuDNN against our own" log which rate rates=()
    is_due "$title" 15 || return
    log=$(log_of "$title")
    [ -e "$bin/debubble_cudnn.so" ] || { row "$title" "not run" "built without cuDNN's front end"; return; }
    command -v python3 >/dev/null || { row "$title" "not run" "there is no python3"; return; }
    for which in own cudnn; do
        DEBUBBLE_ATTENTION=$which within 75 python3 "$root/bench/beside_pytorch.py" --network "$1" --tokens "$2" \
            --micro-batch "$3" --micro-batches 2 --precision bf16 --text "$text" --debubble "$programs/debubble" \
            --device cuda --rounds 1 --steps 8 --alone >"$log.$which" 2>&1
        local code=$?
        cat "$log.$which" >>"$log"
        rate=$(awk '/^debubble / { print $6 }' "$log.$which")
        rm "$log.$which"
        if [ $code != 0 ] || [ -z "$rate" ]; then failed "$title" $code "$which: $(ended $code)" "$log"; return; fi
        rates+=("$rate")
    done
    row "$title" passed "${rates[1]} against ${rates[0]} tokens/s"
}

parts() { # title rounds: simulated from a calibration beside executed, on parts of the GPU
    local log code found how=("$2" --device cuda)
    is_due "$1" 60 || return
    log=$(log_of "$1")
    how+=(--limit "$(at_most 500)")
    command -v python3 >/dev/null || { row "$1" "not run" "there is no python3"; return; }
    [ "$device" = cuda ] || how=(1)
    within 560 python3 -u "$root/bench/calibrated.py" "$programs" "${how[@]}" --text "$text" 2>&1 | tee "$log"
    code=${PIPESTATUS[0]}
    found=$(awk -F' *[|] *' '$5 ~ /%$/ { printf "%s %s  ", $2, $5 }' "$log")
    case $code,${found:+found} in
        0,found) row "$1" passed "$found" ;;
        3,found) row "$1" short "$found" ;;
        *) if out_of_time "$code"; then cut_by_limit "$1"; else row "$1" FAILED "$(ended "$code"); $(tail -1 "$log")"; fi ;;
    esac
}

small_run() { # log arguments...: a few steps of a small network
    local log=$1 tokens=256 tiny=()
    shift
    # A busy processor takes minutes over the optimizer and the checkpoints of GPT-2's embedding.
    [ "$device" = cuda ] || { tokens=32; tiny=(--set model.hidden=64 --set model.heads=4 --set model.vocab=512); }
    sed "s|TEXT|$text|; s|precision: bf16|precision: fp32|; s|cluster: .*|cluster: this-machine|" \
        "$here/gpt2-124m.yaml" >"$work/small.yaml"
    # A first use reads some hundred MB of cuBLASLt, all of it beside NCCL, perhaps from a slow disk.
    within 240 "$programs/debubble-exec" run "$work/small.yaml" --device "$device" --deadline 150 \
        --set training.global_batch=4 --set training.micro_batch=1 --set training.seq_length=$tokens \
        --set model.layers=4 "${tiny[@]}" "$@" >>"$log" 2>&1
}

resumed() { # title: six steps at once, and three with three more from their checkpoint
    local log whole=$work/whole parted=$work/parted
    local how=(--steps 6 --set training.checkpoint.every=3 --set training.checkpoint.keep=5) code=0
    is_due "$1" 10 || return
    log=$(log_of "$1")
    small_run "$log" "${how[@]}" --resume never --set "training.checkpoint.dir=$whole" &&
        mkdir "$parted" && cp -r "$whole/step_3" "$parted/" &&
        small_run "$log" "${how[@]}" --set "training.checkpoint.dir=$parted" || code=$?
    if [ $code != 0 ] || ! grep -q 'going on after step 3' "$log"; then
        failed "$1" $code "$(tail -1 "$log")" "$log"
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
    local log cluster=$work/gpu.yaml code found
    is_due "$1" 20 || return
    log=$(log_of "$1")
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/gpt2.yaml"
    within 200 "$programs/debubble-exec" calibrate --device cuda --scenario "$work/gpt2.yaml" \
        --out "$cluster" >"$log" 2>&1
    code=$?
    [ ! -e "$cluster" ] || cp "$cluster" "$logs/"
    found=$(awk '/gemm_eff|attention_.*_eff|memory_eff|host_link:/ {
        sub("_efficiency", "", $1); printf "%s %s  ", $1, $2 }' "$cluster" 2>/dev/null)
    if [ $code != 0 ] || [ -z "$found" ]; then failed "$1" $code "$(ended $code); $(tail -1 "$log")" "$log"; return; fi
    row "$1" passed "$found"
    grep -A1 'provenance: measured' "$cluster" | grep -E 'deep in|tokens forward|GELU|copies'
}

# One by one: a table that cluster files and docs/cost-model.md are made from.
kernels_by_pytorch() { # title
    local log code
    is_due "$1" 20 || return
    log=$(log_of "$1")
    command -v python3 >/dev/null || { row "$1" "not run" "there is no python3"; return; }
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/kernels.yaml"
    # Whether the plan fits is not asked.
    within 30 "$programs/debubble" simulate "$work/kernels.yaml" --set model=llama3-8b --set training.global_batch=1 \
        --set training.micro_batch=1 --set training.seq_length=8192 --kernels "$work/kernels.jsonl" >"$log" 2>&1
    code=$?
    if [ $code -gt 1 ]; then failed "$1" $code "$(ended $code); $(tail -1 "$log")" "$log"; return; fi
    within 90 python3 "$root/bench/measure_kernels.py" "$work/kernels.jsonl" --out "$logs/kernels.jsonl" \
        --seconds "$(at_most 60)" --device "$device" >>"$log" 2>&1
    code=$?
    case $code in
        0) row "$1" passed "$(tail -1 "$log" | sed "s|: $logs.*||")" ;;
        77) row "$1" "not run" "there is no PyTorch (apt-get install python3-torch)" ;;
        *) failed "$1" $code "$(ended $code); $(tail -1 "$log")" "$log" ;;
    esac
}

question() { # title program arguments...
    local title=$1 program=$2 log code
    shift 2
    is_due "$title" || return
    log=$(log_of "$title")
    [ -x "$programs/$program" ] || { row "$title" FAILED "$program was not built"; return; }
    within 120 "$programs/$program" "$@" >"$log" 2>&1
    code=$?
    if [ $code = 0 ]; then row "$title" passed "$(tail -1 "$log")"; else
        failed "$title" $code "$(ended $code); $(tail -1 "$log")" "$log"
    fi
}

losses_of() { grep -oE 'loss [0-9.]+' "$1" | tr '\n' ' '; }  # log

nccl_trainings() { # pipelines of two processes that share a GPU, against one rank; four microbatches
    local schedule title log one two how code=0
    is_due "one rank, for those of NCCL" 10 || return
    log=$(log_of "one rank")
    small_run "$log" --steps 3 --resume never --comm local || code=$?
    one=$(losses_of "$log")
    if [ $code != 0 ] || [ -z "$one" ]; then
        failed "one rank, for those of NCCL" $code "$(tail -1 "$log")" "$log"
        return
    fi
    for schedule in 1f1b gpipe interleaved-1f1b; do
        title="$schedule of two processes by NCCL against one rank"
        is_due "$title" 10 || continue
        log=$(log_of "$title")
        how=(--comm nccl --set gpus=2 --set parallel.pipeline=2 --set "schedule=$schedule")
        [ $schedule != interleaved-1f1b ] || how+=(--set parallel.stages_per_rank=2)
        small_run "$log" --steps 3 --resume never "${how[@]}"
        code=$?
        if [ $code != 0 ]; then
            failed "$title" $code "$(tail -1 "$log")" "$log"
            continue
        fi
        two=$(losses_of "$log")
        # Products of another number of multiprocessors may sum in another order.
        if grep -q "through the hosts' memory" "$log"; then
            row "$title" FAILED "without NCCL: $(grep -m 1 "through the hosts' memory" "$log")"
        elif awk -v a="$one" -v b="$two" 'BEGIN {
            n = split(a, one); if (split(b, two) != n) exit 1
            for (i = 2; i <= n; i += 2) if ((one[i] - two[i]) ^ 2 > 1e-6) exit 1 }'; then
            row "$title" passed "$two"
        else
            row "$title" FAILED "$one, and by NCCL $two"
        fi
    done
}

# ---- all of them -------------------------------------------------------------

wants_gpu() { # title
    [ "$device" = cuda ] && return
    ! is_due "$1" || row "$1" "not run" "it wants a GPU"
    return 1
}

# Names of files carry versions: libcublasLt.so.13.0.2.
device_and_libraries() { # title
    is_due "$1" || return
    local log version=() file module name
    log=$(log_of "$1")
    for module in cuda nccl cudnn; do
        [ ! -e "$bin/debubble_$module.so" ] || LD_LIBRARY_PATH=$(path) ldd "$bin/debubble_$module.so"
    done >"$log" 2>&1
    for name in libcublasLt libnccl libcudnn; do
        file=$(awk -v name="$name.so" 'index($1, name) == 1 && $3 ~ /^\// { print $3; exit }' "$log")
        [ -z "$file" ] || version+=("$(basename "$(readlink -f "$file")")")
    done
    name=$(python3 -c 'import torch; print("PyTorch", torch.__version__)' 2>>"$log") || name="no PyTorch"
    version+=("$name")
    nvidia-smi >>"$log" 2>&1
    local card="the processor"
    if [ "$device" = cuda ]; then
        card=$(nvidia-smi -i "$(one_gpu)" --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>>"$log")
        [ -n "$card" ] || card="nvidia-smi names none"
    fi
    if [ -n "$absent" ]; then row "$1" FAILED "$card; without ${absent//$'\n'/ }"; else
        row "$1" passed "$card; ${version[*]}"
    fi
}

# Two steps of GPT-2 124M, the second of updated weights: losses and norms of gradients of fp32 and of
# bf16 against the processor's in fp32. Sums are in another order, and bf16 has eight bits.
one_step() { # title
    local title=$1 log which code precision where found=() here_too how=(--steps 2 --resume never --comm local)
    is_due "$title" 15 || return
    log=$(log_of "$title")
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/step.yaml"
    how+=(--set training.global_batch=2 --set training.micro_batch=1 --set training.seq_length=256)
    [ "$device" = cuda ] || how+=(--set model.hidden=64 --set model.heads=4 --set model.vocab=512)
    for which in "fp32 cpu" "fp32 $device" "bf16 $device"; do
        read -r precision where <<<"$which"
        rm -f "$work/metrics"
        here_too=()
        [ "$where" = cuda ] || here_too=(--set cluster=this-machine --threads "$(nproc)")
        within 75 "$programs/debubble-exec" run "$work/step.yaml" --device "$where" --metrics "$work/metrics" \
            --set "training.precision=$precision" "${here_too[@]}" "${how[@]}" >>"$log" 2>&1
        code=$?
        if [ $code != 0 ]; then failed "$title" $code "$which: $(ended $code); $(tail -1 "$log")" "$log"; return; fi
        cat "$work/metrics" >>"$log"
        found+=("$(grep -oE '"(loss|grad_norm)": *[0-9.e+-]+' "$work/metrics" | sed 's/.*: *//' | tr '\n' ' ')")
    done
    awk -v expected="${found[0]}" -v fp32="${found[1]}" -v bf16="${found[2]}" '
        function apart(figures, i,    each, right, n) {  # the greatest relative difference of losses (i = 1), norms (2)
            n = split(expected, right); if (n != 4 || split(figures, each) != n) return 9
            far = 0
            for (; i <= n; i += 2) { by = each[i] / right[i] - 1; by = by < 0 ? -by : by; far = by > far ? by : far }
            return far
        }
        BEGIN {
            printf "losses apart by %.1e in fp32, %.1e in bf16; norms by %.1e, %.1e\n",
                apart(fp32, 1), apart(bf16, 1), apart(fp32, 2), apart(bf16, 2)
            exit !(apart(fp32, 1) < 1e-4 && apart(fp32, 2) < 1e-3 && apart(bf16, 1) < 1e-2 && apart(bf16, 2) < 5e-2)
        }' >"$work/apart"
    code=$?
    cat "$work/apart" >>"$log"
    if [ $code = 0 ]; then row "$title" passed "$(cat "$work/apart")"; else row "$title" FAILED "$(cat "$work/apart")"; fi
}

# In order of what they are worth to who has a GPU for a quarter of an hour.
first_rows() {
    local compiler=120 of_gpt2=260 of_llama=220
    [ "$only" != first ] || compiler=45 of_gpt2=75 of_llama=75
    device_and_libraries "device and libraries"
    ! wants_gpu "operators in bf16 against the oracle" || suite "operators in bf16 against the oracle" '*KernelsTest*bf16*' 60
    one_step "two steps of GPT-2 124M against the processor's"
    if [ "$device" = cuda ]; then
        beside gpt2-124m 1024 16 4 300000 $compiler $of_gpt2
        beside llama-1.2b 2048 4 4 50000 $compiler $of_llama
    else
        beside tiny-gpt2 64 2 2 1 $compiler $of_gpt2
        beside tiny-llama 64 2 2 1 $compiler $of_llama
    fi
    ! wants_gpu "a pipeline of four ranks on one GPU against one rank" ||
        suite "a pipeline of four ranks on one GPU against one rank" '*AgainstOneRank*/zb_h1_pp4' 45
    ! wants_gpu "green contexts have their own multiprocessors" ||
        question "green contexts have their own multiprocessors" gpu_green_contexts
    ! wants_gpu "several ranks of NCCL on one GPU (NCCL_HOSTID)" ||
        question "several ranks of NCCL on one GPU (NCCL_HOSTID)" gpu_nccl_ranks
    resumed "three steps, and three from their checkpoint, in all bits"
}

all_tests() {
    resumed "three steps, and three from their checkpoint, in all bits"
    wants_gpu "operators, trainings, calibration and NCCL" || return
    question "green contexts have their own multiprocessors" gpu_green_contexts  # all else stands on it
    if [ -z "$only" ]; then  # figures for later
        calibration "calibrate: shares of the datasheet's rates"
        kernels_by_pytorch "products and attention of Llama 3 8B, by PyTorch"
    fi
    suite "operators in fp32, bf16, fp16 against the oracle" '*KernelsTest*' 180
    suite "trainings on the GPU against the processor's" '*AgainstTheProcessor*:*RouterDtype*' 120
    suite "pipelines, TP, DP, ZeRO on one GPU against one rank" '*AgainstOneRank*' 180
    suite "what is offloaded has the bits of what is resident" '*Offloaded*' 120
    suite "a calibration prices its scenario in a simulation" '*DeviceCalibrate*' 60
    calibration "calibrate: shares of the datasheet's rates"
    kernels_by_pytorch "products and attention of Llama 3 8B, by PyTorch"
    question "several ranks of NCCL on one GPU (NCCL_HOSTID)" gpu_nccl_ranks
    local ranks title="attention of cuDNN against the oracle"
    for ranks in 2 3; do
        question "NCCL keeps a communicator's promises, $ranks ranks" gpu_nccl_suite $ranks whole
    done
    question "a rank that fails ends the others' waits in NCCL" gpu_nccl_suite 3 OneFailureEndsAllWaits
    question "a deadline in NCCL names who is missing" gpu_nccl_suite 2 ADeadlineNamesWhatAndWhoIsMissing
    nccl_trainings
    [ -e "$bin/debubble_cudnn.so" ] || { row "$title" "not run" "built without cuDNN's front end"; return; }
    DEBUBBLE_ATTENTION=cudnn suite "$title" '*KernelsTest.Attention*' 60
}

speeds() {
    [ "$device" = cuda ] || { beside tiny-gpt2 64 2 2 1 120 260; return; }
    beside gpt2-124m 1024 16 4 300000 120 260
    attention_by_cudnn gpt2-124m 1024 16
    attention_by_cudnn llama-1.2b 2048 4
}

# The largest microbatch of GPT-2 XL whose plan leaves a quarter and 4 GiB of the GPU to what the plan
# does not count, and to PyTorch: products of more rows are faster.
fitting_xl() {
    local mebibytes micro peak
    mebibytes=$(nvidia-smi -i "$(one_gpu)" --query-gpu=memory.total --format=csv,noheader,nounits 2>/dev/null)
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/xl.yaml"
    for micro in 32 16 8 4 2; do
        peak=$("$programs/debubble" simulate "$work/xl.yaml" --set model=gpt2-xl --set training.global_batch=32 \
            --set training.micro_batch=$micro --json - 2>/dev/null |
            grep -o '"peak_memory_bytes": *[0-9]*' | grep -o '[0-9]*$' | head -1)
        if [ -n "$peak" ] && [ $((peak / 1048576 * 5 / 4 + 4096)) -le "${mebibytes:-81559}" ]; then
            echo $micro
            return
        fi
    done
    echo 1
}

large_speeds() {
    local micro
    [ "$device" = cuda ] || { beside tiny-llama 64 2 2 1 120 220; return; }
    micro=$(fitting_xl)
    echo "GPT-2 XL: microbatches of $micro sequences"
    beside gpt2-xl 1024 "$micro" $((32 / micro)) 40000 180 330  # its compiler takes minutes
    beside llama-1.2b 2048 4 4 50000 120 220
}

# ---- several GPUs ------------------------------------------------------------

# The first of those that may be used, and how many they are.
one_gpu() { local all=${every_gpu:-0}; echo "${all%%,*}"; }
every_gpu=${CUDA_VISIBLE_DEVICES:-}
count_gpus() {
    if [ "$device" != cuda ]; then echo 2; elif [ -n "$every_gpu" ]; then tr ',' '\n' <<<"$every_gpu" | grep -c .
    else nvidia-smi -L 2>/dev/null | grep -c '^GPU'; fi
}
# A training on all GPUs of all nodes: the program starts a process for each of one machine; of several,
# this does, as torchrun would. VARIABLE=value before -- are set for it.
on_all() { # log gpus [VARIABLE=value]... -- arguments of `debubble run`
    local log=$1 gpus=$2 variables=() rank ranks=() code=0 how=()
    shift 2
    while [ "$1" != -- ]; do variables+=("$1"); shift; done
    shift
    how=(run "$@" --device "$device" --deadline 120 --resume never)
    [ "$device" = cuda ] || how+=(--comm tcp)
    if [ "$nodes" = 1 ]; then
        within 300 env "${variables[@]}" "$programs/debubble-exec" "${how[@]}" >>"$log" 2>&1
        return
    fi
    for ((rank = 0; rank < gpus; ++rank)); do
        within 300 env "${variables[@]}" RANK=$((node * gpus + rank)) WORLD_SIZE=$((nodes * gpus)) LOCAL_RANK=$rank \
            LOCAL_WORLD_SIZE="$gpus" "$programs/debubble-exec" "${how[@]}" >>"$log" 2>&1 &
        ranks+=($!)
    done
    for rank in "${ranks[@]}"; do wait "$rank" || code=$?; done
    return $code
}
median_step() { # metrics: milliseconds, of all but the first steps
    grep -o '"step_time_s": *[0-9.e+-]*' "$1" | sed 's/.*: *//' | tail -n +3 | sort -g |
        awk '{ all[NR] = $1 } END { if (NR) printf "%.1f", 1000 * all[int((NR + 1) / 2)] }'
}

parity_of_all() { # title gpus arguments...: three steps against those of one rank
    local title=$1 gpus=$2 log all code
    shift 2
    is_due "$title" 10 || return
    log=$(log_of "$title")
    on_all "$log" "$gpus" -- "$work/small.yaml" --steps 3 "${small[@]}" "$@"
    code=$?
    if [ $code != 0 ]; then
        failed "$title" $code "$(tail -1 "$log")" "$log"
    elif grep -q "through the host" "$log"; then
        row "$title" FAILED "without NCCL: $(grep -m 1 'through the host' "$log")"
    elif all=$(losses_of "$log"); [ -z "$all" ] && [ "$nodes" != 1 ]; then
        row "$title" passed "another node has the losses"
    else
        # Sums of several ranks are in another order.
        if awk -v a="$one_rank" -v b="$all" 'BEGIN {
            n = split(a, one); if (split(b, many) != n || n == 0) exit 1
            for (i = 2; i <= n; i += 2) if ((one[i] - many[i]) ^ 2 > 1e-6) exit 1 }'; then
            row "$title" passed "$all"
        else
            row "$title" FAILED "one rank $one_rank, and all $all"
        fi
    fi
}

# The same training twice, each with a variable of NCCL of its own; a figure, not a goal.
with_and_without() { # title gpus variable-of-the-second arguments...
    local title=$1 gpus=$2 variable=$3 log with without each steps=12 code
    [ "$device" = cuda ] || steps=4
    shift 3
    is_due "$title" 10 || return
    log=$(log_of "$title")
    for each in NCCL_DEBUG=WARN "$variable"; do
        rm -f "$work/metrics"
        on_all "$log" "$gpus" "$each" -- "$work/speed.yaml" --steps "$steps" --metrics "$work/metrics" "$@"
        code=$?
        if [ $code != 0 ]; then
            failed "$title" $code "$each: $(tail -1 "$log")" "$log"
            return
        fi
        with=${without:-} without=$([ ! -e "$work/metrics" ] || median_step "$work/metrics")
    done
    if [ -n "$with" ]; then row "$title" passed "$with ms a step, $without ms with $variable"; else
        row "$title" passed "another node has the figure"
    fi
}

all_gpus() {
    local gpus all few title log scale code
    gpus=$(count_gpus)
    if [ "$((gpus * nodes))" -lt 2 ]; then row "several GPUs" "not run" "one is here"; return; fi
    [ "$device" != cuda ] || nvidia-smi topo -m >"$logs/topology.txt" 2>&1
    all=$((gpus * nodes)) few=$((all < 4 ? all : 4))
    [ "$device" = cuda ] && unset NCCL_HOSTID
    scale=256
    [ "$device" = cuda ] || scale=32
    sed "s|TEXT|$text|; s|precision: bf16|precision: fp32|" "$here/gpt2-124m.yaml" >"$work/small.yaml"
    sed "s|TEXT|$text|" "$here/gpt2-124m.yaml" >"$work/speed.yaml"
    [ "$device" = cuda ] || sed -i 's|cluster: .*|cluster: this-machine|' "$work/small.yaml" "$work/speed.yaml"
    small=(--set training.global_batch=$all --set training.micro_batch=1 --set training.seq_length=$scale
        --set model.layers=$all)
    local tiny=(--set model.hidden=64 --set model.heads=4 --set model.vocab=512)
    [ "$device" = cuda ] || small+=("${tiny[@]}")
    if [ "$nodes" = 1 ] && [ "$device" = cuda ]; then
        for ranks in 2 "$gpus"; do
            question "NCCL keeps a communicator's promises, $ranks GPUs" gpu_nccl_suite "$ranks" whole
            [ "$gpus" != 2 ] || break
        done
    fi
    is_due "one rank, for those of all GPUs" 10 || return
    log=$(log_of "one rank, for those of all GPUs")
    within 200 "$programs/debubble-exec" run "$work/small.yaml" --device "$device" --comm local --steps 3 \
        --resume never "${small[@]}" >"$log" 2>&1
    code=$?
    if [ $code != 0 ]; then
        failed "one rank, for those of all GPUs" $code "$(tail -1 "$log")" "$log"
        return
    fi
    one_rank=$(losses_of "$log")
    parity_of_all "a pipeline of $all GPUs against one rank" "$gpus" --set gpus=$all --set parallel.pipeline=$all
    parity_of_all "$all replicas of ZeRO-2 against one rank" "$gpus" --set gpus=$all --set parallel.data=$all \
        --set parallel.zero_stage=2
    [ "$nodes" != 1 ] || parity_of_all "a tensor group of $few GPUs against one rank" "$few" --set gpus=$few \
        --set parallel.tensor=$few --set parallel.sequence=true
    title="pipeline of $all, over NVLink and without"
    [ "$nodes" = 1 ] || title="pipeline of $all on $nodes nodes, by GPUDirect RDMA and without"
    local variable=NCCL_P2P_DISABLE=1 fast=()
    [ "$nodes" = 1 ] || variable=NCCL_NET_GDR_LEVEL=LOC
    [ "$device" = cuda ] || fast=(--set training.global_batch=$all --set training.micro_batch=1
        --set training.seq_length=32 --set model.layers=$all --set training.precision=fp32 "${tiny[@]}")
    with_and_without "$title" "$gpus" $variable --set gpus=$all --set parallel.pipeline=$all "${fast[@]}"
    with_and_without "$all replicas, with the switches' sums (NVLS) and without" "$gpus" NCCL_NVLS_ENABLE=0 \
        --set gpus=$all --set parallel.data=$all --set training.global_batch=$((16 * all)) \
        --set parallel.zero_stage=1 "${fast[@]}"
}

where="four parts of the GPU"
if [ "$device" = cuda ]; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
    [ "$only" = multi ] || export CUDA_VISIBLE_DEVICES=$(one_gpu)  # else ranks would take several
else
    where="two ranks of a processor"
fi
beside_simulated="simulated beside executed, $where"
! wanted first || first_rows
[ "$only" != first ] || parts "$beside_simulated" 1
# What `first` has told is not run again by `rest`.
if [ "$only" = rest ]; then skipping=yes; first_rows; skipping=; only=; fi
rounds=3
[ -z "$limit" ] || rounds=1
! wanted pipeline || parts "$beside_simulated" $rounds
! wanted tests || all_tests
! wanted speed || speeds
! wanted large || large_speeds
if [ "$only" = multi ] || { [ -z "$only" ] && [ "$device" = cuda ]; }; then
    if [ -n "$every_gpu" ]; then export CUDA_VISIBLE_DEVICES=$every_gpu; else unset CUDA_VISIBLE_DEVICES; fi
    all_gpus
fi

[ $ran -gt 0 ] || status=1
echo
printf '%s\n' "${rows[@]}"
[ $status = 0 ] || echo "logs: ${OUT:-$logs}"
[ $status = 0 ] && verdict=PASSED || verdict=FAILED
[ $ran -gt 0 ] || verdict+=", for nothing was run"
[ $not_run = 0 ] || verdict+=", $not_run not run"
[ $short = 0 ] || verdict+=", $short short of what is wanted"
echo "$verdict"
exit $status
