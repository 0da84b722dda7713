NNODES=1 NPROC_PER_NODE=8 \
megatron sft --model Qwen/Qwen2.5-7B-Instruct --tensor_model_parallel_size 2 --sequence_parallel true \
    --micro_batch_size 2 --global_batch_size 128 --max_length 2048 --packing true \
    --tuner_type lora --lora_rank 16 --target_modules all-linear --recompute_granularity full --mtp_num_layers 1
