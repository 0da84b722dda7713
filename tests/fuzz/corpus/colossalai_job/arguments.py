plugin = HybridParallelPlugin(tp_size=2, pp_size=2, microbatch_size=1, precision="bf16",
    gradient_checkpoint_config=Config(gradient_checkpointing_ratio=0.5), overlap_p2p=False,
    fp8_communication=True, initial_scale=2**16, num_layers_per_stage=[4, 4], custom_policy=None)
model.gradient_checkpointing_enable()
