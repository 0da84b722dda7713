#!/usr/bin/env python3
"""Holds the parameters of `debubble model` against those of transformers' own classes, which torch builds without weights.

    network_counts.py [--program build/release/bin/debubble] [--vary N] [--seed S] [TYPE...]

needs torch and transformers. Without --vary the defaults of each class of transformers that writes text, or reads images and
writes text, are counted; with it N random networks of each TYPE, whose sizes and flags are drawn. A network is

  exact    where the sums agree to the unit; biases of a router's choice, which no gradient changes, may be left out
  text     where the text model alone is counted, and the file says so
  wrong    where the sums differ
  refused  where the file is not read
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import torch  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText  # noqa: E402
from transformers.models.auto import modeling_auto as auto  # noqa: E402

TEXT = auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
SEEING = auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

SIZES = {
    "hidden_size": [256, 512, 768], "intermediate_size": [384, 1024], "num_hidden_layers": [4, 6, 8],
    "vocab_size": [1000, 4096], "head_dim": [32, 64, 128], "num_attention_heads": [4, 8], "num_key_value_heads": [1, 2, 4],
    "moe_intermediate_size": [64, 96], "n_routed_experts": [8, 16], "num_experts": [8, 16], "num_local_experts": [8, 16],
    "num_experts_per_tok": [2, 4], "n_shared_experts": [0, 1, 2], "num_shared_experts": [1, 2],
    "first_k_dense_replace": [0, 1, 2], "shared_expert_intermediate_size": [64, 128], "kv_lora_rank": [32, 64],
    "q_lora_rank": [48, 96, None], "qk_rope_head_dim": [16, 32], "qk_nope_head_dim": [32, 64], "v_head_dim": [32, 64],
    "index_n_heads": [4, 8], "index_head_dim": [32, 64], "linear_num_key_heads": [2, 4], "linear_num_value_heads": [4, 8],
    "linear_key_head_dim": [32, 64], "linear_value_head_dim": [32, 64], "linear_conv_kernel_dim": [3, 4],
    "mamba_num_heads": [8, 16], "mamba_head_dim": [16, 32], "ssm_state_size": [16, 32], "n_groups": [1, 2, 4],
    "conv_kernel": [3, 4], "moe_shared_expert_intermediate_size": [32, 64], "decoder_sparse_step": [1, 2],
    "sliding_window": [128, 512], "moe_num_experts": [8], "moe_k": [2], "moe_num_shared_experts": [0, 1, 2],
    "moe_layer_interval": [1, 2], "moe_layer_start_index": [0, 1, 2], "mamba_n_heads": [8, 16], "mamba_d_state": [16, 32],
    "mamba_n_groups": [1, 2], "shared_intermediate_size": [64, 128], "num_dense_layers": [0, 1, 2]}
NO_SIZES = {"return_dict", "output_hidden_states", "output_attentions", "use_cache", "is_encoder_decoder", "is_decoder",
            "add_cross_attention", "tie_encoder_decoder", "output_router_logits", "rope_interleave"}


def drawn(kind, dice):
    """Values of a configuration of the kind: lists of layers are cut to the layers that are drawn."""
    values = AutoConfig.for_model(kind).to_dict()
    usual = values.get("num_hidden_layers", -1)
    for key, value in values.items():
        if key in SIZES and dice.random() < 0.9:
            values[key] = dice.choice(SIZES[key])
        elif isinstance(value, bool) and key not in NO_SIZES and dice.random() < 0.3:
            values[key] = not value
    layers = values.get("num_hidden_layers", -1)
    for key, value in values.items():
        if isinstance(value, list) and len(value) == usual > 2:
            start = dice.randrange(max(1, usual - layers))
            values[key] = value[start:start + layers]
    if "kv_lora_rank" in values:
        values.pop("head_dim", None)
    values.pop("model_type", None)
    return values


def counted(config, kind):
    """All parameters, and those that are trained."""
    make = AutoModelForCausalLM if kind in TEXT else AutoModelForImageTextToText
    with torch.device("meta"):
        model = make.from_config(config)
    model.tie_weights()
    return {sum(p.numel() for p in model.parameters() if p.requires_grad or not trained) for trained in (False, True)}


def judged(program, config, kind, folder):
    """The word for the network, and what there is to say of it."""
    try:
        sums = counted(config, kind)
    except Exception as error:  # not every drawn network can be built, nor every class by its defaults
        return "not built", str(error).split("\n")[0][:100]
    file = pathlib.Path(folder) / "config.json"
    file.write_text(json.dumps(config.to_dict(), default=str))
    answer = subprocess.run([program, "model", file, "--json", "-"], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = [line for line in answer.stderr.split("\n") if "error:" in line]
        return "refused", said[0].split("error:")[1][:120] if said else answer.stderr[:120]
    report = json.loads(answer.stdout)
    if sums & {report["parameters"], report["parameters_with_towers"]}:
        return "exact", ""
    if any("'vision_config'" in part or "'audio_config'" in part for part in report["left_out"]):
        return "text", ""
    return "wrong", f'{report["parameters"]:,} for {max(sums):,}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/debubble")
    parser.add_argument("--vary", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("types", nargs="*")
    asked = parser.parse_args()
    dice = random.Random(asked.seed)
    words = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="debubble-counts-") as folder:
        for kind in asked.types or sorted(set(TEXT) | set(SEEING)):
            for _ in range(asked.vary or 1):
                try:
                    values = drawn(kind, dice) if asked.vary else {}
                    config = AutoConfig.for_model(kind, **values)
                except Exception as error:  # values that its class refuses
                    words["not built"] += 1
                    print(f"{kind}: not built, {str(error)[:80]!r}")
                    continue
                word, said = judged(asked.program, config, kind, folder)
                words[word] += 1
                if word == "wrong" or not asked.vary:
                    print(f"{kind}: {word}" + (f", {said}" if said else ""), flush=True)
    print(", ".join(f"{number} {word}" for word, number in words.most_common()))
    return 1 if words["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
