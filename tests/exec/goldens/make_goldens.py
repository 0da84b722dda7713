#!/usr/bin/env python3
"""Writes PyTorch's results of operators, optimizers, and four small networks.

usage: make_goldens.py [DIRECTORY]     (default: next to this file; needs torch, numpy)

Inputs are float32 numbers; results are computed from them in float64 and rounded, so
that a tolerance speaks of the operator under test alone. Each file is safetensors:
u64 length of a JSON header, the header {name: {dtype, shape, data_offsets}}, the data.
"""

import json
import math
import pathlib
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(20240611)


def rand(*shape, scale=1.0):
    """Exactly representable in float32, computed with in float64, with a gradient."""
    return (torch.randn(*shape) * scale).double().requires_grad_(True)


def save(path, tensors):
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        array = tensor.detach().numpy()
        kind = "I32" if array.dtype in (np.int64, np.int32) else "F32"
        blob = np.ascontiguousarray(array.astype("<i4" if kind == "I32" else "<f4")).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


class Cases:
    """Collects operands, results and gradients as case.name and case.d_name."""

    def __init__(self):
        self.tensors = {}

    def add(self, case, result, inputs, **constants):
        up = torch.randn(result.shape).double()
        (result * up).sum().backward()
        entries = {"y": result, "d_y": up, **inputs, **constants}
        entries |= {"d_" + name: tensor.grad for name, tensor in inputs.items()}
        self.tensors |= {f"{case}.{name}": tensor for name, tensor in entries.items()}


# ---- the definitions ----------------------------------------------------------


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rope(x, theta=10000.0):
    """x [samples, heads, rows, head_dim]; Hugging Face's rotate_half."""
    half = x.shape[-1] // 2
    frequency = theta ** (-torch.arange(half).double() / half)
    angle = torch.arange(x.shape[-2]).double()[:, None] * frequency
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def attention(q, k, v, causal):
    """q, k, v [samples, rows, heads, head_dim]; as many result heads as q has."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if causal:
        rows, keys = scores.shape[-2:]
        seen = torch.ones(rows, keys).tril(keys - rows).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2)


# ---- operators ----------------------------------------------------------------


def operators():
    cases = Cases()
    x = lambda: rand(5, 24)
    for name, layout in (("linear", (7, 24)), ("conv1d", (24, 7))):
        inputs = {"x": x(), "weight": rand(*layout), "bias": rand(7)}
        weight = inputs["weight"] if name == "linear" else inputs["weight"].T
        cases.add(name, F.linear(inputs["x"], weight, inputs["bias"]), inputs)
    inputs = {"x": x(), "weight": rand(24), "bias": rand(24)}
    normed = F.layer_norm(inputs["x"], (24,), inputs["weight"], inputs["bias"], 1e-5)
    cases.add("layer_norm", normed, inputs)
    inputs = {"x": x(), "weight": rand(24)}
    cases.add("rms_norm", rms_norm(inputs["x"], inputs["weight"], 1e-6), inputs)

    for name, function in (("gelu", F.gelu), ("relu", F.relu),
                           ("gelu_tanh", lambda t: F.gelu(t, approximate="tanh"))):
        inputs = {"x": rand(6, 40, scale=2)}
        cases.add(name, function(inputs["x"]), inputs)
    inputs = {"gate": rand(6, 40, scale=2), "up": rand(6, 40)}
    cases.add("swiglu", F.silu(inputs["gate"]) * inputs["up"], inputs)

    inputs = {"x": rand(2, 9, 3, 8)}
    cases.add("rope", rope(inputs["x"].transpose(1, 2)).transpose(1, 2), inputs)

    shapes = {"attention": (11, 11, 4, 4, True), "attention_full": (11, 11, 4, 4, False),
              "attention_grouped": (11, 11, 4, 2, True), "attention_slice": (5, 11, 4, 2, True),
              "attention_blocks": (80, 80, 2, 1, True)}
    for name, (rows, keys, heads, kv_heads, causal) in shapes.items():
        inputs = {"q": rand(2, rows, heads, 8), "k": rand(2, keys, kv_heads, 8),
                  "v": rand(2, keys, kv_heads, 8)}
        cases.add(name, attention(inputs["q"], inputs["k"], inputs["v"], causal), inputs)

    tokens = torch.randint(0, 13, (2, 7))
    inputs = {"table": rand(13, 6)}
    cases.add("token_embedding", F.embedding(tokens, inputs["table"]), inputs, tokens=tokens)
    inputs = {"x": rand(2, 7, 6), "table": rand(10, 6)}
    cases.add("position_embedding", inputs["x"] + inputs["table"][2:9], inputs)
    inputs = {"images": rand(2, 3, 8, 12), "weight": rand(6, 3, 4, 4), "bias": rand(6),
              "class_token": rand(1, 1, 6), "positions": rand(1, 7, 6)}
    patches = F.conv2d(inputs["images"], inputs["weight"], inputs["bias"], stride=4)
    patches = patches.flatten(2).transpose(1, 2)
    whole = torch.cat([inputs["class_token"].expand(2, 1, 6), patches], 1) + inputs["positions"]
    cases.add("patch_embedding", whole, inputs)

    targets = torch.randint(0, 17, (9,))
    targets[[2, 5]] = -100
    logits = rand(9, 17, scale=3)
    loss = F.cross_entropy(logits, targets, ignore_index=-100)
    loss.backward()
    cases.tensors |= {"cross_entropy.logits": logits, "cross_entropy.targets": targets,
                      "cross_entropy.y": loss, "cross_entropy.d_logits": logits.grad}
    return cases.tensors


# ---- optimizers ---------------------------------------------------------------

OPTIMIZERS = {
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.9, 0.95), weight_decay=0.1),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, eps=1e-6, weight_decay=0.05),
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.01),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.2),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True,
                                          weight_decay=0.01),
}


def optimizers():
    start, gradients = rand(40), torch.randn(3, 40).double()
    tensors = {"start": start, "gradients": gradients}
    for name, make in OPTIMIZERS.items():
        parameter = start.detach().clone().requires_grad_(True)
        optimizer = make([parameter])
        steps = []
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
            steps.append(parameter.detach().clone())
        tensors[name] = torch.stack(steps)
    parts = [torch.randn(8).double().requires_grad_(True) for _ in range(3)]
    for part in parts:
        part.grad = torch.randn(8).double()
    tensors["clip.before"] = torch.stack([part.grad.clone() for part in parts])
    tensors["clip.norm"] = torch.nn.utils.clip_grad_norm_(parts, 1.5)
    tensors["clip.after"] = torch.stack([part.grad for part in parts])
    return tensors


def lr_schedules():
    """The rate of every step; each row one schedule."""
    from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
    rate, steps, warmup = 0.4, 12, 4
    rest = steps - warmup

    def warmed(start_factor, then):
        return lambda o: SequentialLR(
            o, [LinearLR(o, start_factor=start_factor, total_iters=warmup), then(o)], [warmup])

    schedules = {
        "warmup": lambda o: LinearLR(o, total_iters=warmup),
        "linear": warmed(0.25, lambda o: LinearLR(o, 1, 0.125, total_iters=rest)),
        "cosine": lambda o: CosineAnnealingLR(o, T_max=steps),
        "warmed-cosine": warmed(0.1, lambda o: CosineAnnealingLR(o, T_max=rest, eta_min=0.05)),
    }
    tensors = {}
    for name, make in schedules.items():
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
        schedule, rates = make(optimizer), []
        for _ in range(steps):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        tensors[name] = torch.tensor(rates, dtype=torch.float64)
    return tensors


# ---- networks, with Hugging Face's parameter names -----------------------------

HIDDEN, HEADS, LAYERS = 24, 4, 2
SAMPLES, ROWS, VOCAB = 2, 12, 61


def weights(shapes):
    """Larger than usual weights: gradients of all parts are then of one magnitude."""
    made = {}
    for name, shape in shapes.items():
        centre = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
        made[name] = (centre + 0.2 * torch.randn(*shape)).float().double().requires_grad_(True)
    return made


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1)


def gpt2_shapes():
    h = HIDDEN
    shapes = {"wte.weight": (VOCAB, h), "wpe.weight": (ROWS + 4, h)}
    for i in range(LAYERS):
        shapes |= {f"h.{i}.{name}": shape for name, shape in {
            "ln_1.weight": (h,), "ln_1.bias": (h,),
            "attn.c_attn.weight": (h, 3 * h), "attn.c_attn.bias": (3 * h,),
            "attn.c_proj.weight": (h, h), "attn.c_proj.bias": (h,),
            "ln_2.weight": (h,), "ln_2.bias": (h,),
            "mlp.c_fc.weight": (h, 4 * h), "mlp.c_fc.bias": (4 * h,),
            "mlp.c_proj.weight": (4 * h, h), "mlp.c_proj.bias": (h,)}.items()}
    return shapes | {"ln_f.weight": (h,), "ln_f.bias": (h,)}


def gpt2(w, tokens):
    conv = lambda x, name: x @ w[name + ".weight"] + w[name + ".bias"]
    norm = lambda x, name: F.layer_norm(x, (HIDDEN,), w[name + ".weight"], w[name + ".bias"], 1e-5)
    x = F.embedding(tokens, w["wte.weight"]) + w["wpe.weight"][:tokens.shape[1]]
    for i in range(LAYERS):
        q, k, v = conv(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").chunk(3, -1)
        heads = attention(split(q, HEADS), split(k, HEADS), split(v, HEADS), True)
        x = x + conv(heads.flatten(2), f"h.{i}.attn.c_proj")
        wide = F.gelu(conv(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + conv(wide, f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


def llama_shapes():
    h, kv, ffn = HIDDEN, HIDDEN // 2, 2 * HIDDEN
    shapes = {"model.embed_tokens.weight": (VOCAB, h)}
    for i in range(LAYERS):
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in {
            "input_layernorm": (h,), "self_attn.q_proj": (h, h), "self_attn.k_proj": (kv, h),
            "self_attn.v_proj": (kv, h), "self_attn.o_proj": (h, h),
            "post_attention_layernorm": (h,), "mlp.gate_proj": (ffn, h), "mlp.up_proj": (ffn, h),
            "mlp.down_proj": (h, ffn)}.items()}
    return shapes | {"model.norm.weight": (h,), "lm_head.weight": (VOCAB, h)}


def llama(w, tokens, mlp=None):
    """`mlp`: the module in its place."""
    norm = lambda x, name: rms_norm(x, w[name + ".weight"], 1e-6)
    turn = lambda x, heads: rope(split(x, heads).transpose(1, 2)).transpose(1, 2)
    x = F.embedding(tokens, w["model.embed_tokens.weight"])
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        linear = lambda t, name: t @ w[layer + name + ".weight"].T
        y = norm(x, layer + "input_layernorm")
        q, k = turn(linear(y, "self_attn.q_proj"), HEADS), turn(linear(y, "self_attn.k_proj"), 2)
        heads = attention(q, k, split(linear(y, "self_attn.v_proj"), 2), True)
        x = x + linear(heads.flatten(2), "self_attn.o_proj")
        y = norm(x, layer + "post_attention_layernorm")
        if mlp:
            x = x + mlp(w, layer + "block_sparse_moe.", y)
            continue
        gated = F.silu(linear(y, "mlp.gate_proj")) * linear(y, "mlp.up_proj")
        x = x + linear(gated, "mlp.down_proj")
    return norm(x, "model.norm") @ w["lm_head.weight"].T


EXPERTS, CHOSEN = 4, 2


def mixtral_shapes():
    """Llama's with experts in the place of the MLP."""
    h, ffn = HIDDEN, 32
    shapes = {}
    for name, shape in llama_shapes().items():
        if ".mlp." not in name:
            shapes[name] = shape
        elif name.endswith("gate_proj.weight"):
            block = name.replace("mlp.gate_proj.weight", "block_sparse_moe.")
            shapes[block + "gate.weight"] = (EXPERTS, h)
            for e in range(EXPERTS):
                shapes |= {f"{block}experts.{e}.{part}.weight": shape for part, shape in
                           (("w1", (ffn, h)), ("w3", (ffn, h)), ("w2", (h, ffn)))}
    return shapes


def experts(w, block, x):
    """The experts of each token's largest logits, by the softmax over those (Mixtral)."""
    logits = x @ w[block + "gate.weight"].T
    largest, chosen = logits.topk(CHOSEN + 1, dim=-1)
    assert (largest[..., CHOSEN - 1] - largest[..., CHOSEN]).min() > 3e-5, "fp32 may choose others"
    share = largest[..., :CHOSEN].softmax(-1)
    y = torch.zeros_like(x)
    for e in range(EXPERTS):
        at = f"{block}experts.{e}."
        gated = F.silu(x @ w[at + "w1.weight"].T) * (x @ w[at + "w3.weight"].T)
        weight = ((chosen[..., :CHOSEN] == e) * share).sum(-1, keepdim=True)
        y = y + weight * (gated @ w[at + "w2.weight"].T)
    return y


def vit_shapes():
    h, ffn = HIDDEN, 2 * HIDDEN
    embeddings, linears = "vit.embeddings.", {}
    for name, out, into in (("attention.attention.query", h, h), ("attention.attention.key", h, h),
                            ("attention.attention.value", h, h), ("attention.output.dense", h, h),
                            ("intermediate.dense", ffn, h), ("output.dense", h, ffn)):
        linears |= {name + ".weight": (out, into), name + ".bias": (out,)}
    shapes = {embeddings + "cls_token": (1, 1, h), embeddings + "position_embeddings": (1, 17, h),
              embeddings + "patch_embeddings.projection.weight": (h, 3, 4, 4),
              embeddings + "patch_embeddings.projection.bias": (h,)}
    norms = {f"layernorm_{at}.{part}": (h,) for at in ("before", "after")
             for part in ("weight", "bias")}
    for i in range(LAYERS):
        shapes |= {f"vit.encoder.layer.{i}.{name}": shape
                   for name, shape in (norms | linears).items()}
    return shapes | {"vit.layernorm.weight": (h,), "vit.layernorm.bias": (h,),
                     "classifier.weight": (5, h), "classifier.bias": (5,)}


def vit(w, images):
    norm = lambda x, name: F.layer_norm(x, (HIDDEN,), w[name + ".weight"], w[name + ".bias"], 1e-12)
    at = "vit.embeddings."
    x = F.conv2d(images, w[at + "patch_embeddings.projection.weight"],
                 w[at + "patch_embeddings.projection.bias"], stride=4).flatten(2).transpose(1, 2)
    x = torch.cat([w[at + "cls_token"].expand(len(x), 1, HIDDEN), x], 1)
    x = x + w[at + "position_embeddings"]
    for i in range(LAYERS):
        layer = f"vit.encoder.layer.{i}."
        linear = lambda t, name: F.linear(t, w[layer + name + ".weight"], w[layer + name + ".bias"])
        y = norm(x, layer + "layernorm_before")
        q, k, v = (split(linear(y, "attention.attention." + name), HEADS)
                   for name in ("query", "key", "value"))
        x = x + linear(attention(q, k, v, False).flatten(2), "attention.output.dense")
        y = norm(x, layer + "layernorm_after")
        x = x + linear(F.gelu(linear(y, "intermediate.dense")), "output.dense")
    return F.linear(norm(x, "vit.layernorm")[:, 0], w["classifier.weight"], w["classifier.bias"])


def network(forward, shapes, inputs, targets):
    """Weights, logits, loss and gradients of the first step; losses of ten AdamW steps."""
    w = weights(shapes)
    tensors = {"inputs": inputs, "targets": targets}
    tensors |= {name: value.detach().clone() for name, value in w.items()}
    optimizer = torch.optim.AdamW(w.values(), lr=3e-3, weight_decay=0.01)
    losses = []
    for step in range(10):
        logits = forward(w, inputs)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            tensors["logits"] = logits
            tensors |= {"d_" + name: value.grad.clone() for name, value in w.items()}
        losses.append(loss.detach())
        optimizer.step()
    return tensors | {"losses": torch.stack(losses)}


def main(directory):
    save(directory / "operators.safetensors", operators())
    save(directory / "optimizers.safetensors", optimizers())
    tokens = torch.randint(0, VOCAB, (SAMPLES, ROWS + 1))
    targets = tokens[:, 1:].clone()
    targets[0, :3] = -100
    save(directory / "gpt2.safetensors", network(gpt2, gpt2_shapes(), tokens[:, :-1], targets))
    save(directory / "llama.safetensors", network(llama, llama_shapes(), tokens[:, :-1], targets))
    images = torch.randn(4, 3, 16, 16).double()
    save(directory / "vit.safetensors",
         network(vit, vit_shapes(), images, torch.tensor([4, 0, 2, 1])))
    save(directory / "lr_schedules.safetensors", lr_schedules())
    save(directory / "mixtral.safetensors",
         network(lambda w, x: llama(w, x, experts), mixtral_shapes(), tokens[:, :-1], targets))


main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent)
