#!/usr/bin/env python3
"""Derives the published orders a second time, and writes the goldens of the generator tests.

    reference_orders.py --write     # golden/orders.txt and golden/order_digests.txt
    reference_orders.py --check     # compares them with what is there (a test runs this)
    reference_orders.py --torch     # compares with the classes of an installed PyTorch (>= 2.6)

The generators say who comes next; this says when. Every pass of a rank has a slot on an ideal
clock on which a forward, a backward-input and a backward-weight slot follow each other for ever,
and the order is that of the slots. A forward that stands `warm_up` forwards into the rank's list
shares its round with the first backward; a W runs `delay` rounds after its I.
"""
import hashlib
import pathlib
import sys
import types

GOLDEN = pathlib.Path(__file__).parent / "golden"
HEADER = "# Written by tests/schedule/reference_orders.py --write\n"
RANKS, STAGES, MICRO_BATCHES, SLICES = range(1, 9), range(1, 5), range(1, 17), range(1, 5)


def by_slots(ranks, chunks, micro_batches, group, warm_up, delay=None):
    """One list of (pass, stage, microbatch) per rank. `delay` splits the backward."""
    passes = [(mb, chunk) for mb in range(micro_batches) for chunk in range(chunks)]
    forwards = sorted(passes, key=lambda p: (p[0] // group, p[1], p[0]))
    backwards = sorted(passes, key=lambda p: (p[0] // group, -p[1], p[0]))
    orders = []
    for rank in range(ranks):
        slots = []
        for i, (mb, chunk) in enumerate(forwards):
            slots.append((3 * (i - warm_up(rank)), "F", chunk * ranks + rank, mb))
        for i, (mb, chunk) in enumerate(backwards):
            stage = chunk * ranks + rank
            slots.append((3 * i + 1, "B" if delay is None else "I", stage, mb))
            if delay is not None:
                slots.append((3 * (i + delay(rank)) + 2, "W", stage, mb))
        orders.append([slot[1:] for slot in sorted(slots)])
    return orders


def pytorch_group(p, m):
    rounds = max(1, m // p)
    return m // rounds if m % rounds == 0 else None


def interleaved(p, v, m, k, rounds="megatron"):
    group = pytorch_group(p, m) if rounds == "pytorch" else p
    if group is None:
        return None
    whole = -(-m // p) * p if rounds == "padded" else m
    orders = by_slots(p, v, whole, group, lambda r: (v - 1) * group + 2 * (p - 1 - r))
    return [[o for o in order if o[2] < m] for order in orders]


def interleaved_zb(p, v, m, k):
    group = pytorch_group(p, m)
    if group is None:
        return None
    return by_slots(p, v, m, group, lambda r: (v - 1) * group + p - 1 - r, lambda r: r)


def looped_bfs(p, v, m, k):
    passes = [(chunk, mb) for chunk in range(v) for mb in range(m)]
    return [[("F", c * p + r, mb) for c, mb in passes] +
            [("B", c * p + r, mb) for c, mb in sorted(passes, reverse=True)] for r in range(p)]


def building_block(p, v, m, group):
    """GIS as the paper builds it: a block of `group` microbatches with fixed offsets, repeated."""
    orders = []
    for r in range(p):
        slots = []
        first_backward = 3 * group * (v - 1) + r + 3 * (p - 1 - r) + 1
        for mb in range(m):
            start = 3 * (mb // group * group * v + mb % group)
            for i in range(v):
                offset = start + 3 * group * i
                slots.append((offset + r, "F", i * p + r, mb))
                stage = (v - 1 - i) * p + r
                slots.append((offset + first_backward, "I", stage, mb))
                slots.append((offset + first_backward + 1, "W", stage, mb))
        orders.append([slot[1:] for slot in sorted(slots)])
    return orders


def seq(p, v, m, k):
    """Slices are microbatches of their own, which come back in reverse within their sequence."""
    def name(op, stage, i):
        return op, stage, i // k, (i % k if op == "F" else k - 1 - i % k)

    orders = by_slots(p, 1, m * k, 1, lambda r: p - r - 2 + k)
    return [[name(*o)[:3 if k == 1 else 4] for o in order] for order in orders]


REFERENCES = {  # name and option: order of (p, v, m, k), or None where there is none
    "gpipe": lambda p, v, m, k: by_slots(p, 1, m, 1, lambda r: m),
    "1f1b": lambda p, v, m, k: by_slots(p, 1, m, 1, lambda r: p - 1 - r),
    "eager-1f1b": lambda p, v, m, k: by_slots(p, 1, m, 1, lambda r: 2 * (p - 1 - r)),
    "interleaved-1f1b": interleaved,
    "interleaved-1f1b rounds=pytorch": lambda *shape: interleaved(*shape, rounds="pytorch"),
    "interleaved-1f1b rounds=padded": lambda *shape: interleaved(*shape, rounds="padded"),
    "looped-bfs": looped_bfs,
    "group-interleaved": lambda p, v, m, k: building_block(p, v, m, p),
    "group-interleaved group=2": lambda p, v, m, k:
        building_block(p, v, m, 2) if (p + 1) // 2 <= 2 <= p else None,
    "group-interleaved group=4": lambda p, v, m, k:
        building_block(p, v, m, 4) if (p + 1) // 2 <= 4 <= p else None,
    "zb-h1": lambda p, v, m, k: by_slots(p, 1, m, 1, lambda r: p - 1 - r, lambda r: r),
    "zb-h2": lambda p, v, m, k: by_slots(p, 1, m, 1, lambda r: 2 * (p - 1 - r), lambda r: 2 * r),
    "interleaved-zb": interleaved_zb,
    "seq-1f1b": seq,
}
MANY_STAGES = {"interleaved-1f1b", "looped-bfs", "group-interleaved", "interleaved-zb"}


def finishes(orders, last_stage):
    """Whether no rank waits for ever."""
    done, at = set(), [0] * len(orders)
    progress = True
    while progress:
        progress = False
        for rank, order in enumerate(orders):
            while at[rank] < len(order):
                op, stage, mb = order[at[rank]][:3]
                needs = {"F": ("F", stage - 1, mb), "W": ("I", stage, mb)}.get(op)
                if op in "IB":
                    needs = ("F", stage, mb) if stage == last_stage else (op, stage + 1, mb)
                if needs[1] >= 0 and needs not in done:
                    break
                done.add((op, stage, mb))
                at[rank] += 1
                progress = True
    return all(i == len(order) for i, order in zip(at, orders))


def text_of(orders):
    def word(op, stage, mb, *slice_index):
        return f"{stage}{op}{mb}" + "".join(f".{s}" for s in slice_index)

    return "".join(" ".join(word(*o) for o in order) + "\n" for order in orders)


def order_text(key, p, v, m, k):
    orders = REFERENCES[key](p, v, m, k)
    if orders is not None and key == "interleaved-1f1b" and not finishes(orders, p * v - 1):
        orders = None
    return "none\n" if orders is None else text_of(orders)


def shapes(name, p):
    for v in STAGES if name in MANY_STAGES else [1]:
        for m in MICRO_BATCHES:
            for k in SLICES if name == "seq-1f1b" else [1]:
                yield p, v, m, k


def goldens():
    orders, digests = HEADER, HEADER
    for key in REFERENCES:
        name = key.split()[0]
        shape = 4, 2 if name in MANY_STAGES else 1, 8, 2 if name == "seq-1f1b" else 1
        orders += "\n{} {} {} {} {}\n".format(key.replace(" ", ":"), *shape)
        orders += order_text(key, *shape)
        for p in RANKS:
            text = "".join(f"{v} {m} {k}\n" + order_text(key, p, v, m, k)
                           for _, v, m, k in shapes(name, p))
            digest = hashlib.sha256(text.encode()).hexdigest()
            digests += f"{key.replace(' ', ':')} {p} {digest}\n"
    return {"orders.txt": orders, "order_digests.txt": digests}


def torch_order(class_name, p, v, m):
    """PyTorch's pipeline_order, from stages that know no more than where they are."""
    from torch.distributed.pipelining import schedules
    stages = [types.SimpleNamespace(
        stage_index=chunk * p, num_stages=p * v, group_size=p, group_rank=0, is_first=chunk == 0,
        is_last=chunk * p == p * v - 1, submod=None, group=None, device=None, has_backward=False,
        stage_index_to_group_rank={s: s % p for s in range(p * v)}) for chunk in range(v)]
    try:
        schedule = getattr(schedules, class_name)(stages, m)
    except ValueError:
        return "none\n"
    return "".join(" ".join(str(a) for a in schedule.pipeline_order[r] if a is not None) + "\n"
                   for r in range(p))


def compare_with_torch():
    different = 0
    for key, class_name in (("interleaved-1f1b rounds=pytorch", "ScheduleInterleaved1F1B"),
                            ("looped-bfs", "ScheduleLoopedBFS"),
                            ("interleaved-zb", "ScheduleInterleavedZeroBubble"),
                            ("zb-h1", "ScheduleInterleavedZeroBubble")):
        count = 0
        for p in RANKS:
            for _, v, m, k in shapes(key.split()[0], p):
                count += 1
                theirs = torch_order(class_name, p, v, m)
                refused = key == "zb-h1" and theirs == "none\n"  # no m is impossible for zb-h1
                if not refused and theirs != order_text(key, p, v, m, k):
                    different += 1
                    print(f"{key} {p} {v} {m} differs from {class_name}")
        print(f"{key}: {count} shapes compared with {class_name}")
    return different == 0


def main():
    if sys.argv[1:] == ["--write"]:
        GOLDEN.mkdir(exist_ok=True)
        for file, text in goldens().items():
            (GOLDEN / file).write_text(text)
    elif sys.argv[1:] == ["--check"]:
        stale = [f for f, text in goldens().items() if (GOLDEN / f).read_text() != text]
        if stale:
            sys.exit(f"differs from what --write would write: {', '.join(stale)}")
    elif sys.argv[1:] == ["--torch"]:
        sys.exit(0 if compare_with_torch() else 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
