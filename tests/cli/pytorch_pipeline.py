#!/usr/bin/env python3
"""Trains the network of scenarios/two-rank-gpt.yaml by torch.distributed.pipelining on two processes
of this machine (gloo, no GPU), and writes one file of torch.profiler per rank.

    pytorch_pipeline.py OUT [--schedule 1F1B|GPipe|Interleaved1F1B] [--steps 5] [--memory]

Both stages hold four equal layers, the first the embedding, the last the head. Ends with 77 where
PyTorch is missing or has no pipelining.
"""

import argparse
import os
import pathlib
import sys

try:
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as processes
    from torch import nn
    from torch.distributed.pipelining import PipelineStage, schedules
    from torch.nn import functional
except ImportError as error:
    print(f"there is no PyTorch with pipelining: {error}")
    sys.exit(77)

RANKS, LAYERS, HIDDEN, HEADS, VOCAB, TOKENS, MICRO_BATCHES = 2, 8, 256, 4, 512, 128, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        samples, tokens, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(samples, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(samples, tokens, HIDDEN))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Stage(nn.Module):
    def __init__(self, index, count):
        super().__init__()
        first, last = index == 0, index == count - 1
        self.tokens = nn.Embedding(VOCAB, HIDDEN) if first else None
        self.positions = nn.Embedding(TOKENS, HIDDEN) if first else None
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS // count))
        self.norm = nn.LayerNorm(HIDDEN) if last else None
        self.head = nn.Linear(HIDDEN, VOCAB, bias=False) if last else None

    def forward(self, x):
        if self.tokens is not None:
            x = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return x if self.head is None else self.head(self.norm(x))


def loss_of(logits, targets):
    return functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))


def train(rank, arguments, store):
    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    kind = schedules.get_schedule_class(arguments.schedule)
    single = issubclass(kind, schedules.PipelineScheduleSingle)
    count = RANKS if single else 2 * RANKS
    stages = [PipelineStage(Stage(i, count), i, count, torch.device("cpu"))
              for i in range(rank, count, RANKS)]
    schedule = kind(stages[0] if single else stages, n_microbatches=MICRO_BATCHES, loss_fn=loss_of)
    optimizer = torch.optim.AdamW([p for s in stages for p in s.submod.parameters()], lr=1e-4, fused=True)
    tokens = torch.randint(0, VOCAB, (MICRO_BATCHES, TOKENS + 1))
    given = (tokens[:, :-1].contiguous(),) if rank == 0 else ()
    wanted = {"target": tokens[:, 1:].contiguous(), "losses": []} if rank == RANKS - 1 else {}
    warm_up = 2
    plan = torch.profiler.schedule(wait=0, warmup=warm_up, active=arguments.steps, repeat=1)
    path = str(pathlib.Path(arguments.out) / f"rank{rank}.pt.trace.json")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan,
                                profile_memory=arguments.memory,
                                on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
        for _ in range(warm_up + arguments.steps):
            schedule.step(*given, **wanted)
            optimizer.step()
            optimizer.zero_grad()
            dist.barrier()
            profiler.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--schedule", default="1F1B")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--memory", action="store_true")
    given_arguments = parser.parse_args()
    os.makedirs(given_arguments.out, exist_ok=True)
    rendezvous = os.path.abspath(os.path.join(given_arguments.out, "rendezvous"))
    pathlib.Path(rendezvous).unlink(missing_ok=True)
    processes.spawn(train, args=(given_arguments, rendezvous), nprocs=RANKS)
    pathlib.Path(rendezvous).unlink(missing_ok=True)
