config = GPT2Config(n_layer=4)
plugin = HybridParallelPlugin(tp_size=2, pp_size=2, num_microbatches=2, x=f(y), z=[1, (2,)])
loader = prepare_dataloader(d, batch_size=4)
