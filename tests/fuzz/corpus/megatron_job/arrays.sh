N=${N:-2}
A=(
  --num-layers $((N * 4))  # comment
  --hidden-size 512 --num-attention-heads 8
)
if [[ -z ${B:-} ]]; then A+=(--bf16); else A+=(--fp16); fi
torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py "${A[@]}" --seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 64 --moe-layer-freq '([0]*3+[1]*5)'
