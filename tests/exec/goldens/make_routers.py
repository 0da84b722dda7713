#!/usr/bin/env python3
"""Writes what transformers' routers choose and weigh, with gradients, and the losses of routers.

usage: make_routers.py [DIRECTORY]     (default: next to this file; needs torch, transformers 5.24)

The gate's weight is the identity, so that the hidden states are the logits. Weights are written as
[tokens, experts], zero for experts that a token does not go to, beside the gradients with respect to
the logits of their dot product with d_weights.
"""

import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import (DeepseekV2Config, DeepseekV3Config, GptOssConfig, Llama4TextConfig,
                          MixtralConfig)
from transformers.models.deepseek_v2.modeling_deepseek_v2 import DeepseekV2TopkRouter
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3TopkRouter
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssExperts
from transformers.models.llama4.modeling_llama4 import Llama4Router
from transformers.models.mixtral.modeling_mixtral import (MixtralTopKRouter,
                                                          load_balancing_loss_func)

torch.manual_seed(20251125)

TOKENS, EXPERTS = 11, 16


def with_identity(router):
    with torch.no_grad():
        router.weight.copy_(torch.eye(EXPERTS))
    return router


def dense(weights, indices):
    return torch.zeros(TOKENS, EXPERTS).scatter(1, indices, weights)


def add_case(tensors, name, route, **constants):
    """route(logits [tokens, experts]) -> weights [tokens, experts]"""
    logits = torch.randn(TOKENS, EXPERTS, requires_grad=True)
    d_weights = torch.randn(TOKENS, EXPERTS)
    weights = route(logits)
    (weights * d_weights).sum().backward()
    entries = {"logits": logits, "weights": weights, "d_weights": d_weights,
               "d_logits": logits.grad, **constants}
    tensors.update({f"{name}.{key}": value for key, value in entries.items()})


def routers(tensors):
    sizes = dict(hidden_size=EXPERTS, num_attention_heads=1, num_local_experts=EXPERTS)

    mixtral = with_identity(MixtralTopKRouter(MixtralConfig(num_experts_per_tok=2, **sizes)))
    add_case(tensors, "mixtral", lambda x: dense(*mixtral(x)[1:]))

    for name, groups in (("deepseek_v2", {}), ("deepseek_v2_groups", {"n_group": 4, "topk_group": 2})):
        config = DeepseekV2Config(
            hidden_size=EXPERTS, num_attention_heads=1, n_routed_experts=EXPERTS,
            num_experts_per_tok=4, topk_method="group_limited_greedy" if groups else "greedy", norm_topk_prob=False,
            routed_scaling_factor=16.0 if groups else 1.0, **groups)
        v2 = with_identity(DeepseekV2TopkRouter(config))
        add_case(tensors, name, lambda x, v2=v2: dense(*v2(x)[1:]))

    config = DeepseekV3Config(
        hidden_size=EXPERTS, num_attention_heads=1, n_routed_experts=EXPERTS,
        num_experts_per_tok=4, n_group=4, topk_group=2, norm_topk_prob=True, routed_scaling_factor=2.5)
    v3 = with_identity(DeepseekV3TopkRouter(config))
    correction = torch.randn(EXPERTS) * 0.2
    with torch.no_grad():
        v3.e_score_correction_bias.copy_(correction)
    add_case(tensors, "deepseek_v3", lambda x: dense(*v3(x)[1:]), correction=correction)

    llama = with_identity(Llama4Router(Llama4TextConfig(num_experts_per_tok=1, **sizes)))
    add_case(tensors, "llama4", lambda x: llama(x)[0])


def losses(tensors):
    logits = torch.randn(TOKENS, EXPERTS, dtype=torch.float64, requires_grad=True)
    balance = load_balancing_loss_func((logits,), EXPERTS, 3)
    balance.backward()
    tensors |= {"balance.logits": logits, "balance.loss": balance.reshape(1),
                "balance.d_logits": logits.grad}

    logits = (4 * torch.randn(TOKENS, EXPERTS, dtype=torch.float64)).requires_grad_(True)
    z = torch.logsumexp(logits, dim=-1).square().mean()
    z.backward()
    tensors |= {"z.logits": logits, "z.loss": z.reshape(1), "z.d_logits": logits.grad}


def clamped_swiglu(tensors):
    """gpt-oss has gate and up column by column in turn; here the gates come first."""
    experts = GptOssExperts(GptOssConfig(hidden_size=8, intermediate_size=12, num_local_experts=2))
    halves = (6 * torch.randn(9, 24)).requires_grad_(True)
    gate, up = halves.chunk(2, dim=-1)
    y = experts._apply_gate(torch.stack((gate, up), dim=-1).flatten(-2))
    d_y = torch.randn_like(y)
    (y * d_y).sum().backward()
    tensors |= {"clamped_swiglu.gate_up": halves, "clamped_swiglu.y": y, "clamped_swiglu.d_y": d_y,
                "clamped_swiglu.d_gate_up": halves.grad}


def main():
    here = pathlib.Path(__file__).parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here
    tensors = {}
    routers(tensors)
    losses(tensors)
    clamped_swiglu(tensors)
    save_file({name: tensor.detach().float().contiguous() for name, tensor in tensors.items()},
              folder / "routers.safetensors")


if __name__ == "__main__":
    main()
