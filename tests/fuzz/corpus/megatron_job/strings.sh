#!/bin/bash
# Arguments in strings, of which parts are known only when the script runs.
DATA=$1
SIZE=${SIZE:-small}
GPUS=$(python -c 'import torch; print(torch.cuda.device_count())')
case $SIZE in
  small) LAYERS=8; HIDDEN=512 ;;
  *) LAYERS=80; HIDDEN=8192 ;;
esac
[[ $SIZE == small ]] && RECOMPUTE="--recompute-activations" || RECOMPUTE=""
ARGS=" --num-layers $LAYERS --hidden-size ${HIDDEN} --num-attention-heads 8 --bf16 \
  --micro-batch-size 1 --global-batch-size 16 --seq-length 512 --max-position-embeddings 512 \
  --data-path $DATA --vocab-file ${2}/vocab.json --moe-layer-freq ([0]*2+[1]*6) $RECOMPUTE"
cmd="torchrun --nproc_per_node $GPUS --nnodes ${NNODES:-1} pretrain_gpt.py ${ARGS} --swiglu $EXTRA_ARGS"
echo ${cmd}
eval ${cmd} "$@"
