#!/usr/bin/env python3
"""Writes the models of this folder as transformers saves them, with inputs and logits.

    python3 -m venv --system-site-packages venv      # with Debian's python3-torch
    venv/bin/pip install transformers==4.40.2 safetensors
    venv/bin/python tests/exec/goldens/hugging_face/make_models.py
"""

import pathlib

import torch
from safetensors.torch import save_file
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MixtralConfig,
                          MixtralForCausalLM, ViTConfig, ViTForImageClassification)

HERE = pathlib.Path(__file__).parent
TOKENS = dict(vocab_size=29)

MODELS = {
    "gpt2": (GPT2LMHeadModel, GPT2Config(
        n_layer=2, n_embd=16, n_head=4, n_positions=8, bos_token_id=None, eos_token_id=None,
        **TOKENS)),
    "llama": (LlamaForCausalLM, LlamaConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, max_position_embeddings=8, rope_theta=500.0, **TOKENS)),
    "llama_tied": (LlamaForCausalLM, LlamaConfig(
        num_hidden_layers=1, hidden_size=16, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=8, tie_word_embeddings=True, rms_norm_eps=1e-5, **TOKENS)),
    "mixtral": (MixtralForCausalLM, MixtralConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=20, max_position_embeddings=8, rope_theta=500.0, sliding_window=None,
        num_local_experts=4, num_experts_per_tok=2, **TOKENS)),
    "vit": (ViTForImageClassification, ViTConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, intermediate_size=24,
        image_size=8, patch_size=4, num_labels=3)),
}


def save(name, kind, config):
    torch.manual_seed(sum(map(ord, name)))
    model = kind(config).eval()
    for parameter in model.parameters():  # biases and norms are told apart too
        torch.nn.init.normal_(parameter, 0.0, 0.3)
    if kind is ViTForImageClassification:
        inputs = torch.randn(2, 3, 8, 8)
        logits = model(pixel_values=inputs).logits
    else:
        inputs = torch.randint(0, config.vocab_size, (2, 8))
        logits = model(input_ids=inputs).logits
        inputs = inputs.to(torch.int32)
    # The index comes with parts; one model is enough to show it.
    model.save_pretrained(HERE / name, max_shard_size="6KB" if name == "llama" else "1GB")
    (HERE / name / "generation_config.json").unlink(missing_ok=True)
    save_file({"inputs": inputs, "logits": logits.detach().contiguous()},
              HERE / name / "expected.safetensors")


for name, (kind, config) in MODELS.items():
    save(name, kind, config)
