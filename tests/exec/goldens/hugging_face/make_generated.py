#!/usr/bin/env python3
"""Writes how transformers goes on greedily with the models of this folder (see make_models.py)."""

import pathlib

from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import torch

HERE = pathlib.Path(__file__).parent
PROMPT = 3

for name in ("gpt2", "llama", "llama_tied", "mixtral"):
    model = AutoModelForCausalLM.from_pretrained(HERE / name).eval()
    model.generation_config.eos_token_id = None  # nothing ends these texts
    model.generation_config.pad_token_id = 0
    prompts = load_file(HERE / name / "expected.safetensors")["inputs"][:, :PROMPT].long()
    texts = model.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=False,
                           max_length=model.config.max_position_embeddings)
    save_file({"texts": texts.to(torch.int32)}, HERE / name / "generated.safetensors")
    print(name, texts.tolist())
