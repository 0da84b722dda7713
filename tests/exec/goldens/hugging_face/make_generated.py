#!/usr/bin/env python3
"""Writes how transformers goes on greedily with the language models of this folder that have no such file yet (see
make_models.py)."""

import pathlib

from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import torch

HERE = pathlib.Path(__file__).parent
PROMPT = 3

for folder in sorted(HERE.iterdir()):
    if not folder.is_dir() or folder.name == "vit" or (folder / "generated.safetensors").exists():
        continue
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager",
                                                 experts_implementation="eager").eval()
    model.generation_config.eos_token_id = None  # nothing ends these texts
    model.generation_config.pad_token_id = 0
    prompts = load_file(folder / "expected.safetensors")["inputs"][:, :PROMPT].long()
    length = getattr(model.config, "max_position_embeddings", None) or model.config.max_seq_len
    texts = model.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=False,
                           max_length=length)
    save_file({"texts": texts.to(torch.int32)}, folder / "generated.safetensors")
    print(folder.name, texts.tolist())
