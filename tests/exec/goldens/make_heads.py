#!/usr/bin/env python3
"""Writes transformers' results of what stands around attention: angles of rotary positions, windows,
sinks, caps, norms of heads, and the rotation of latent attention.

usage: make_heads.py [DIRECTORY]     (default: next to this file; needs torch, numpy, transformers)

Operands are float32 numbers, computed with in float64, as in make_goldens.py, whose format the file has.
"""

import pathlib
import sys

import torch
from transformers import Glm4MoeConfig, LlamaConfig
from transformers.models.deepseek_v3.modeling_deepseek_v3 import apply_rotary_pos_emb_interleave
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.glm4_moe.modeling_glm4_moe import Glm4MoeRotaryEmbedding
from transformers.models.gpt_oss import modeling_gpt_oss
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from make_goldens import Cases, rand, save

# Published configurations: llama3.1-8b, deepseek-v3, gpt-oss's angles, gemma-3-27b; and small ones.
SCALINGS = {
    "plain": (1e4, 64, 1.0, 2048, {"rope_type": "default"}),
    "linear": (1e6, 128, 1.0, 131072, {"rope_type": "linear", "factor": 8.0}),
    "dynamic": (1e4, 32, 1.0, 64, {"rope_type": "dynamic", "factor": 2.0}),
    "llama3": (5e5, 128, 1.0, 131072,
               {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192}),
    "yarn": (1.5e5, 64, 1.0, 131072,
             {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
              "original_max_position_embeddings": 4096}),
    "yarn_deepseek": (1e4, 64, 1.0, 163840,
                      {"rope_type": "yarn", "factor": 40.0, "beta_fast": 32.0, "beta_slow": 1.0,
                       "mscale": 1.0, "mscale_all_dim": 1.0,
                       "original_max_position_embeddings": 4096}),
    "yarn_untruncated": (1.5e5, 64, 1.0, 131072,
                         {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                          "truncate": False, "original_max_position_embeddings": 4096}),
    "longrope": (1e4, 8, 1.0, 4096,
                 {"rope_type": "longrope", "factor": 32.0, "short_factor": [1.0, 1.05, 1.1, 1.5],
                  "long_factor": [1.1, 2.0, 4.5, 30.0], "original_max_position_embeddings": 128}),
    "longrope_short": (1e4, 8, 1.0, 4096,
                       {"rope_type": "longrope", "factor": 32.0,
                        "short_factor": [1.0, 1.05, 1.1, 1.5], "long_factor": [1.1, 2.0, 4.5, 30.0],
                        "original_max_position_embeddings": 512}),
    "partial": (1e4, 128, 0.5, 4096, {"rope_type": "default", "partial_rotary_factor": 0.5}),
}


def angles():
    """Per kind: the frequencies, and the factor of cosines and sines; of `dynamic` and `longrope` those
    of a text of 256 tokens."""
    tensors = {}
    for name, (theta, head_dim, partial, longest, scaling) in SCALINGS.items():
        # Llama rotates whole heads, GLM-4.5 the first half of each.
        kind, embedding = ((LlamaConfig, LlamaRotaryEmbedding) if partial == 1.0 else
                           (Glm4MoeConfig, Glm4MoeRotaryEmbedding))
        config = kind(hidden_size=4 * head_dim, num_attention_heads=4, head_dim=head_dim,
                      max_position_embeddings=longest, rope_theta=theta,
                      rope_parameters=dict(scaling, rope_theta=theta))
        rotary = embedding(config)
        positions = torch.arange(256 if name.startswith(("dynamic", "longrope")) else 8)[None]
        rotary(torch.zeros(1), positions)  # some angles are those of the longest text so far
        tensors[name + ".frequencies"] = rotary.inv_freq
        tensors[name + ".magnitude"] = torch.tensor([float(rotary.attention_scaling)])
    return tensors


class Heads:
    """What transformers' functions ask of their module."""
    training = False

    def __init__(self, groups, head_dim, sinks=None):
        self.num_key_value_groups, self.head_dim, self.sinks = groups, head_dim, sinks


def mask(queries, keys, window):
    """0 where a query, of the last positions, sees a key; else the least number."""
    query = torch.arange(keys - queries, keys)[:, None]
    key = torch.arange(keys)[None]
    seen = (key <= query) & (key > query - window)
    return torch.zeros(queries, keys, dtype=torch.float64).masked_fill(~seen, float("-inf"))


def attentions(cases):
    for name, queries, keys, window in [("window", 70, 70, 9), ("window_slice", 5, 70, 40)]:
        inputs = {"q": rand(1, queries, 2, 8), "k": rand(1, keys, 1, 8), "v": rand(1, keys, 1, 8)}
        q, k, v = (inputs[x].transpose(1, 2) for x in "qkv")
        result, _ = modeling_gemma2.eager_attention_forward(
            Heads(2, 8), q, k, v, mask(queries, keys, window), scaling=8 ** -0.5)
        cases.add("attention_" + name, result, inputs)
    inputs = {"q": rand(2, 20, 4, 8), "k": rand(2, 20, 2, 8), "v": rand(2, 20, 2, 8)}
    q, k, v = (inputs[x].transpose(1, 2) for x in "qkv")
    result, _ = modeling_gemma2.eager_attention_forward(
        Heads(2, 8), q * 4, k, v, mask(20, 20, 99), scaling=8 ** -0.5, softcap=2.0)
    cases.add("attention_capped", result, inputs)
    inputs = {"q": rand(2, 20, 4, 8), "k": rand(2, 20, 2, 8), "v": rand(2, 20, 2, 8), "sinks": rand(4)}
    q, k, v = (inputs[x].transpose(1, 2) for x in "qkv")
    result, _ = modeling_gpt_oss.eager_attention_forward(
        Heads(2, 8, inputs["sinks"]), q, k, v, mask(20, 20, 6), scaling=8 ** -0.5)
    cases.add("attention_sinks", result, inputs)


def norms(cases):
    inputs = {"x": rand(2, 5, 3, 8), "gain": rand(8)}
    norm = Qwen3RMSNorm(8, eps=1e-6).double()
    norm.weight = torch.nn.Parameter(inputs["gain"].detach().clone())
    result = norm(inputs["x"].float()).double()  # transformers computes it in float32
    exact = inputs["gain"] * inputs["x"] * torch.rsqrt(inputs["x"].pow(2).mean(-1, keepdim=True) + 1e-6)
    assert torch.allclose(result, exact, rtol=1e-5, atol=1e-6)
    cases.add("head_norm", exact, inputs)


def interleaved(cases):
    """Scores of rotated queries with rotated keys: transformers puts the columns in another order,
    which no score depends on."""
    inputs = {"q": rand(2, 6, 3, 8), "k": rand(2, 6, 1, 8)}
    frequencies = 1e4 ** (-torch.arange(0, 8, 2).double() / 8)
    turns = torch.arange(6).double()[:, None] * frequencies
    turns = torch.cat([turns, turns], -1)[None]
    q, k = apply_rotary_pos_emb_interleave(inputs["q"].transpose(1, 2), inputs["k"].transpose(1, 2),
                                           turns.cos(), turns.sin())
    cases.add("interleaved", q @ k.transpose(-1, -2), inputs)


def main(directory):
    torch.manual_seed(20251125)
    cases = Cases()
    attentions(cases)
    norms(cases)
    interleaved(cases)
    save(directory / "heads.safetensors", cases.tensors | angles())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
