#!/usr/bin/env python3
"""Trains models of make_models.py with weight decay and writes their losses and last weights.

    venv/bin/python tests/exec/goldens/hugging_face/make_decayed.py            # all that are missing
    venv/bin/python tests/exec/goldens/hugging_face/make_decayed.py NAME...    # these, anew

`losses.safetensors` in the folder `decayed` of a model has a vector of losses for each optimizer, and
OPTIMIZER.safetensors the weights after the last step, in the layout of the model's own file. Every step
sees the tokens of expected.safetensors. `matrices` has torch's groups of parameters: those of one
dimension, norms and biases, do not decay.
"""

import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

from make_models import HERE, MODELS, save_model

STEPS = 6
# Norms whose weights are w of 1 + w, and a network that has biases.
NAMES = ["gemma2", "gemma3", "nemotron", "gpt_neox"]


def groups(model):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    return [dict(params=matrices), dict(params=others, weight_decay=0.0)]


# An epsilon as large as some gradients: a smaller one makes steps of their rounding.
ADAM = dict(lr=0.01, betas=(0.9, 0.95), eps=1e-3, weight_decay=0.5)
OPTIMIZERS = {
    "adamw": lambda m: torch.optim.AdamW(m.parameters(), **ADAM),
    "adam": lambda m: torch.optim.Adam(m.parameters(), **(ADAM | dict(weight_decay=0.02))),
    "sgd": lambda m: torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1),
    "matrices": lambda m: torch.optim.AdamW(groups(m), **ADAM),
}


def train(name, optimizer):
    kind, config = MODELS[name]
    config = config()
    config._attn_implementation = config._experts_implementation = "eager"
    model = kind.from_pretrained(HERE / name, config=config).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    golden = load_file(HERE / name / "expected.safetensors")
    step = OPTIMIZERS[optimizer](model)
    losses = []
    for _ in range(STEPS):
        logits = model(input_ids=golden["inputs"].long()).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), golden["targets"].flatten().long())
        step.zero_grad()
        loss.backward()
        step.step()
        losses.append(loss.detach())
    return model, torch.stack(losses)


def main(names):
    for name in NAMES:
        folder = HERE / name / "decayed"
        if name not in names and (names or folder.exists()):
            continue
        folder.mkdir(exist_ok=True)
        losses = {}
        for optimizer in OPTIMIZERS:
            model, losses[optimizer] = train(name, optimizer)
            save_model(model, folder, f"{optimizer}.safetensors")
        save_file(losses, folder / "losses.safetensors")


if __name__ == "__main__":
    main(sys.argv[1:])
