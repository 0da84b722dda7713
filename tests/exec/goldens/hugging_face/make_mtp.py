#!/usr/bin/env python3
"""Writes deepseek_v3_mtp: DeepSeek-V3's network with two modules that predict further tokens.

transformers has none, so PyTorch computes them here of transformers' layers, as the paper has it
(arXiv:2412.19437, section 2.2): what precedes and the embedding of the next token, each normed, are joined
and projected, and a layer, a norm and the network's own head follow. The gradients are those of the mean
loss plus FACTOR times the mean over the depths. Names are those of DeepSeek's checkpoints, whose copies of
the embedding and of the head are left out.

It needs the packages of make_models.py, which it lies beside.
"""

import json

import torch
import transformers as hf
from safetensors.torch import save_file
from torch import nn
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as v3

from make_models import HERE, LATENT, YARN, randomise, rope, save_model

DEPTHS = 2
FACTOR = 0.3
NAME = "deepseek_v3_mtp"


def config():
    made = hf.DeepseekV3Config(
        **LATENT, q_lora_rank=10, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
        routed_scaling_factor=2.5, num_nextn_predict_layers=DEPTHS,
        **rope(**YARN, mscale=1.0, mscale_all_dim=1.0))
    made._attn_implementation = made._experts_implementation = "eager"
    return made


def module(of, index):
    layer = v3.DeepseekV3DecoderLayer(of, index)
    layer.enorm = v3.DeepseekV3RMSNorm(of.hidden_size, of.rms_norm_eps)
    layer.hnorm = v3.DeepseekV3RMSNorm(of.hidden_size, of.rms_norm_eps)
    layer.eh_proj = nn.Linear(2 * of.hidden_size, of.hidden_size, bias=False)
    layer.shared_head = nn.Module()
    layer.shared_head.norm = v3.DeepseekV3RMSNorm(of.hidden_size, of.rms_norm_eps)
    return layer


def later(tokens, places):
    """The tokens so many places later, and token 0 where there is none."""
    return nn.functional.pad(tokens[:, places:], (0, places))


def cross_entropy(logits, targets, count):
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / count


def predict(model, inputs, targets):
    """The logits of the next token, its mean loss, and that of each depth, over the same count."""
    network = model.model
    length, count = inputs.shape[1], targets.numel()
    mask = torch.full((1, 1, length, length), float("-inf")).triu(1)
    positions = torch.arange(length)[None]
    hidden = network(input_ids=inputs).last_hidden_state
    logits = model.lm_head(hidden)
    losses = []
    for depth, layer in enumerate(network.layers[model.config.num_hidden_layers:], 1):
        token = layer.enorm(network.embed_tokens(later(inputs, depth)))
        joined = layer.eh_proj(torch.cat([token, layer.hnorm(hidden)], -1))
        made = layer(joined, attention_mask=mask, position_ids=positions,
                     position_embeddings=network.rotary_emb(joined, positions))
        hidden = layer.shared_head.norm(made[0] if isinstance(made, tuple) else made)
        further = model.lm_head(hidden)
        losses.append(cross_entropy(further[:, :-depth], targets[:, depth:], count))
    return logits, cross_entropy(logits, targets, count), losses


def main():
    torch.manual_seed(sum(map(ord, NAME)))
    model = hf.DeepseekV3ForCausalLM(config()).eval()
    model.model.layers.extend(
        module(model.config, model.config.num_hidden_layers + depth) for depth in range(DEPTHS))
    randomise(model)
    inputs, targets = (torch.randint(0, model.config.vocab_size, (2, 12)) for _ in range(2))
    logits, loss, ahead = predict(model, inputs, targets)
    (loss + FACTOR / DEPTHS * sum(ahead)).backward()
    folder = HERE / NAME
    folder.mkdir(exist_ok=True)
    save_model(model, folder, "model.safetensors")
    model.config.save_pretrained(folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mtp_layers": DEPTHS}, indent=2) + "\n")
    save_file(dict(inputs=inputs.to(torch.int32), targets=targets.to(torch.int32),
                   logits=logits.detach().contiguous(), loss=loss.detach().reshape(1),
                   ahead=sum(ahead).detach().reshape(1)), folder / "expected.safetensors")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.grad)
        for _, buffer in model.named_buffers():
            buffer.zero_()  # a buffer has no gradient
    save_model(model, folder, "gradients.safetensors")


if __name__ == "__main__":
    main()
