#!/usr/bin/env python3
"""Trains a small GPT on two processes of this machine (gloo, no GPU) by the order of a plan, which torch.distributed.pipelining
executes, and lays the profile beside the prediction.

    python3 pytorch_by_plan.py [--schedule 1f1b] [--steps 5] [--out FOLDER]

Needs debubble and PyTorch. Orders of one or two stages a rank; --schedule zb-v is a V.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import tempfile

import debubble as db
from debubble.torch import PipelineOrder, pipeline_order

LAYERS, HIDDEN, HEADS, VOCAB, TOKENS, MICRO_BATCHES = 8, 256, 4, 512, 128, 8
PLAN = {
    "name": "two-rank-gpt",
    "model": {"name": "small-gpt", "family": "gpt2", "layers": LAYERS, "hidden": HIDDEN, "heads": HEADS, "vocab": VOCAB,
              "max_positions": TOKENS, "dropout": 0},
    "cluster": "this-machine",
    "framework": "debubble",
    "gpus": 2,
    "parallel": {"pipeline": 2, "data": 1, "partition": "uniform"},
    "training": {"global_batch": MICRO_BATCHES, "micro_batch": 1, "seq_length": TOKENS, "precision": "fp32",
                 "attention": "flash", "optimizer": {"name": "adamw", "lr": 1e-4}},
}


def stage_module(index: int, count: int, layers: int):
    """Stage `index` of `count`: the first has the embedding, the last the head."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self) -> None:
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
        def __init__(self) -> None:
            super().__init__()
            first, last = index == 0, index == count - 1
            self.tokens = nn.Embedding(VOCAB, HIDDEN) if first else None
            self.positions = nn.Embedding(TOKENS, HIDDEN) if first else None
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(HIDDEN) if last else None
            self.head = nn.Linear(HIDDEN, VOCAB, bias=False) if last else None

        def forward(self, x):
            if self.tokens is not None:
                x = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
            for block in self.blocks:
                x = block(x)
            return x if self.head is None else self.head(self.norm(x))

    return Stage()


def loss_of(logits, targets):
    from torch.nn import functional

    return functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))


def train(rank: int, order: PipelineOrder, steps: int, folder: str) -> None:
    import torch
    import torch.distributed as dist
    from torch.distributed.pipelining import PipelineStage
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

    torch.set_num_threads(1)
    torch.manual_seed(1 + rank)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=len(order.stages))
    count = len(order.content)
    stages = [PipelineStage(stage_module(i, count, order.content[i]["layers"]), i, count, torch.device("cpu"))
              for i in order.stages[rank]]
    schedule = _PipelineScheduleRuntime(stages, n_microbatches=order.micro_batches, loss_fn=loss_of)
    holder = {stage: of for of, held in enumerate(order.stages) for stage in held}
    schedule.stage_index_to_group_rank = holder
    for stage in stages:
        stage.stage_index_to_group_rank = holder
    path = pathlib.Path(folder) / f"order-{rank}.csv"
    path.write_text(order.csv)
    schedule._load_csv(str(path), format="compute_only")
    optimizer = torch.optim.AdamW([p for s in stages for p in s.submod.parameters()], lr=1e-4, fused=True)
    tokens = torch.randint(0, VOCAB, (order.micro_batches, TOKENS + 1))
    has_loss = count - 1 in order.stages[rank]
    given = (tokens[:, :-1].contiguous(),) if 0 in order.stages[rank] else ()
    wanted = {"target": tokens[:, 1:].contiguous(), "losses": []} if has_loss else {}
    warm_up = 2
    plan = torch.profiler.schedule(wait=0, warmup=warm_up, active=steps, repeat=1)
    trace = str(pathlib.Path(folder) / f"rank{rank}.pt.trace.json")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan,
                                on_trace_ready=lambda p: p.export_chrome_trace(trace)) as profiler:
        for _ in range(warm_up + steps):
            schedule.step(*given, **wanted)
            optimizer.step()
            optimizer.zero_grad()
            dist.barrier()
            profiler.step()
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--schedule", default="1f1b")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    plan = {**PLAN, "schedule": arguments.schedule}
    predicted = db.simulate(plan)
    order = pipeline_order(predicted, transport="group")
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(arguments.out or scratch)
        os.makedirs(folder, exist_ok=True)
        import torch.multiprocessing as processes

        processes.spawn(train, args=(order, arguments.steps, folder), nprocs=len(order.stages))
        pathlib.Path(folder, "rendezvous").unlink(missing_ok=True)
        files = [os.path.join(folder, f"rank{rank}.pt.trace.json") for rank in range(len(order.stages))]
        run = db.read_trace(files, plan)
    ran, planned = run.timeline(), predicted.timeline()
    print(f"{'':10} {'predicted':>12} {'executed':>12}")
    print(f"{'step':10} {predicted.step_time:>10.4f} s {run.raw['step_time_s']:>10.4f} s")
    print(f"{'bubble':10} {100 * predicted.bubble:>10.1f} % {100 * run.raw['bubble']:>10.1f} %")
    for rank in range(len(order.stages)):
        lists = [[(row["pass"], row["stage"], row["microbatch"]) for row in table.to_dicts()
                  if row["rank"] == rank and row["pass"]] for table in (planned, ran)]
        same = "the order of the plan" if lists[0] == lists[1] else "another order than the plan's"
        print(f"rank {rank}: {len(lists[1])} passes, in {same}")


if __name__ == "__main__":
    main()
