#!/usr/bin/env python3
"""Writes the models of this folder as transformers saves them, with what they compute.

    python3 -m venv venv
    venv/bin/pip install torch==2.15.0 transformers==5.24.0 safetensors==0.8.0
    venv/bin/python tests/exec/goldens/hugging_face/make_models.py            # all that are missing
    venv/bin/python tests/exec/goldens/hugging_face/make_models.py NAME...    # these, anew

The first five were written by transformers 4.40.2 with torch 1.13 and have inputs and logits alone, which
`expected.safetensors` holds. Later ones have targets, the mean loss over them, and its gradients in
`gradients.safetensors`, in the layout of the model's own file. make_generated.py goes on from here.
"""

import pathlib
import sys
import tempfile

import torch
import transformers as hf
from safetensors.torch import load_file, save_file

HERE = pathlib.Path(__file__).parent
TOKENS = dict(vocab_size=29)
SIZES = dict(num_hidden_layers=2, hidden_size=16, max_position_embeddings=16, pad_token_id=None,
             bos_token_id=None, eos_token_id=None, **TOKENS)
HEADS = dict(num_attention_heads=4, num_key_value_heads=2)
GATED = dict(intermediate_size=24, **HEADS, **SIZES)
LATENT = dict(kv_lora_rank=8, qk_nope_head_dim=6, qk_rope_head_dim=8, v_head_dim=5,
              num_attention_heads=2, num_key_value_heads=2, first_k_dense_replace=1,
              intermediate_size=24, moe_intermediate_size=6, n_shared_experts=2, **SIZES)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=8, beta_fast=2.0,
            beta_slow=0.5)
MIXED = ["sliding_attention", "full_attention"]

EARLIER = {
    "gpt2": (hf.GPT2LMHeadModel, lambda: hf.GPT2Config(
        n_layer=2, n_embd=16, n_head=4, n_positions=8, bos_token_id=None, eos_token_id=None,
        **TOKENS)),
    "llama": (hf.LlamaForCausalLM, lambda: hf.LlamaConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, max_position_embeddings=8, rope_theta=500.0, **TOKENS)),
    "llama_tied": (hf.LlamaForCausalLM, lambda: hf.LlamaConfig(
        num_hidden_layers=1, hidden_size=16, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=8, tie_word_embeddings=True, rms_norm_eps=1e-5, **TOKENS)),
    "mixtral": (hf.MixtralForCausalLM, lambda: hf.MixtralConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=20, max_position_embeddings=8, rope_theta=500.0, sliding_window=None,
        num_local_experts=4, num_experts_per_tok=2, **TOKENS)),
    "vit": (hf.ViTForImageClassification, lambda: hf.ViTConfig(
        num_hidden_layers=2, hidden_size=16, num_attention_heads=4, intermediate_size=24,
        image_size=8, patch_size=4, num_labels=3)),
}


def rope(theta=500.0, **more):
    return dict(rope_parameters=dict(rope_theta=theta, **(more or dict(rope_type="default"))))


MODELS = {
    "llama_scaled": (hf.LlamaForCausalLM, lambda: hf.LlamaConfig(
        **GATED, head_dim=8, **rope(rope_type="llama3", factor=8.0, low_freq_factor=1.0,
                                    high_freq_factor=4.0, original_max_position_embeddings=8))),
    "mistral": (hf.MistralForCausalLM, lambda: hf.MistralConfig(
        **GATED, sliding_window=4, head_dim=8, **rope())),
    "qwen2": (hf.Qwen2ForCausalLM, lambda: hf.Qwen2Config(
        **GATED, tie_word_embeddings=True, **rope())),
    "qwen3": (hf.Qwen3ForCausalLM, lambda: hf.Qwen3Config(**GATED, head_dim=8, **rope())),
    "qwen3_moe": (hf.Qwen3MoeForCausalLM, lambda: hf.Qwen3MoeConfig(
        **GATED, head_dim=8, moe_intermediate_size=8, num_experts=4, num_experts_per_tok=2,
        norm_topk_prob=True, **rope())),
    "deepseek_v2": (hf.DeepseekV2ForCausalLM, lambda: hf.DeepseekV2Config(
        **LATENT, q_lora_rank=None, n_routed_experts=4, num_experts_per_tok=2, n_group=1,
        topk_group=1, topk_method="greedy", norm_topk_prob=False, routed_scaling_factor=1.0,
        **rope(**YARN, mscale=0.707, mscale_all_dim=0.707))),
    "deepseek_v3": (hf.DeepseekV3ForCausalLM, lambda: hf.DeepseekV3Config(
        **LATENT, q_lora_rank=10, n_routed_experts=8, num_experts_per_tok=3, n_group=4,
        topk_group=2, routed_scaling_factor=2.5, num_nextn_predict_layers=0,
        **rope(**YARN, mscale=1.0, mscale_all_dim=1.0))),
    "gemma2": (hf.Gemma2ForCausalLM, lambda: hf.Gemma2Config(
        **GATED, head_dim=8, query_pre_attn_scalar=4, sliding_window=4, layer_types=MIXED,
        attn_logit_softcapping=5.0, final_logit_softcapping=3.0, **rope())),
    "gemma3": (hf.Gemma3ForCausalLM, lambda: hf.Gemma3TextConfig(
        **GATED, head_dim=8, query_pre_attn_scalar=4, sliding_window=4, layer_types=MIXED,
        rope_parameters={
            "sliding_attention": dict(rope_type="default", rope_theta=100.0),
            "full_attention": dict(rope_type="linear", factor=8.0, rope_theta=5000.0)})),
    "gpt_oss": (hf.GptOssForCausalLM, lambda: hf.GptOssConfig(
        **HEADS, **SIZES, head_dim=8, intermediate_size=8, num_local_experts=4,
        num_experts_per_tok=2, sliding_window=4, layer_types=MIXED,
        **rope(**YARN, truncate=False))),
    "glm4_moe": (hf.Glm4MoeForCausalLM, lambda: hf.Glm4MoeConfig(
        **GATED, head_dim=8, attention_bias=True, moe_intermediate_size=6, n_routed_experts=4,
        num_experts_per_tok=2, n_shared_experts=1, first_k_dense_replace=1, n_group=1,
        topk_group=1, routed_scaling_factor=1.5, num_mtp_layers=0,
        **rope(rope_type="default", partial_rotary_factor=0.5))),
    "nemotron": (hf.NemotronForCausalLM, lambda: hf.NemotronConfig(
        **GATED, head_dim=8, **rope(rope_type="default", partial_rotary_factor=0.5))),
    "mpt": (hf.MptForCausalLM, lambda: hf.MptConfig(
        d_model=18, n_heads=3, n_layers=2, max_seq_len=16, expansion_ratio=4, pad_token_id=None,
        bos_token_id=None, eos_token_id=None, **TOKENS)),
    "llama4": (hf.Llama4ForCausalLM, lambda: hf.Llama4TextConfig(
        **GATED, head_dim=8, intermediate_size_mlp=20, num_local_experts=4, num_experts_per_tok=1,
        moe_layers=[1], no_rope_layers=[1, 0], attention_chunk_size=5, floor_scale=4,
        attn_scale=0.5, **rope())),
    "qwen2_moe": (hf.Qwen2MoeForCausalLM, lambda: hf.Qwen2MoeConfig(
        **GATED, moe_intermediate_size=8, shared_expert_intermediate_size=12, num_experts=4,
        num_experts_per_tok=2, norm_topk_prob=False, mlp_only_layers=[0], **rope())),
    "qwen3_next": (hf.Qwen3NextForCausalLM, lambda: hf.Qwen3NextConfig(
        **GATED, head_dim=8, moe_intermediate_size=8, shared_expert_intermediate_size=12,
        num_experts=4, num_experts_per_tok=2, norm_topk_prob=True,
        layer_types=["full_attention"] * 2,
        **rope(rope_type="default", partial_rotary_factor=0.5))),
    "olmo2": (hf.Olmo2ForCausalLM, lambda: hf.Olmo2Config(**GATED, **rope())),
    "phi3": (hf.Phi3ForCausalLM, lambda: hf.Phi3Config(**GATED, **rope())),
    "gpt_neox": (hf.GPTNeoXForCausalLM, lambda: hf.GPTNeoXConfig(
        num_attention_heads=4, intermediate_size=40, **SIZES,
        **rope(rope_type="default", partial_rotary_factor=0.5))),
}


def save_model(model, folder, name):
    """Saves the model's weights, and leaves those in that file alone."""
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        save_file(load_file(pathlib.Path(scratch) / "model.safetensors"), folder / name,
                  metadata={"format": "pt"})


def randomise(model):
    """Biases, norms and the routers' corrections are told apart too."""
    for tensor in model.parameters():
        torch.nn.init.normal_(tensor, 0.0, 0.3)
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            torch.nn.init.normal_(buffer, 0.0, 0.1)


def save_earlier(name, kind, config):
    torch.manual_seed(sum(map(ord, name)))
    model = kind(config).eval()
    randomise(model)
    if kind is hf.ViTForImageClassification:
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


def save(name, kind, config):
    torch.manual_seed(sum(map(ord, name)))
    config._attn_implementation = config._experts_implementation = "eager"  # takes every shape
    model = kind(config).eval()
    randomise(model)
    inputs = torch.randint(0, config.vocab_size, (2, 12))
    targets = torch.randint(0, config.vocab_size, (2, 12))
    logits = model(input_ids=inputs).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    save_model(model, folder, "model.safetensors")
    model.config.save_pretrained(folder)
    expected = dict(inputs=inputs.to(torch.int32), targets=targets.to(torch.int32),
                    logits=logits.detach().contiguous(), loss=loss.detach().reshape(1))
    save_file(expected, folder / "expected.safetensors")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.grad)
        for _, buffer in model.named_buffers():
            buffer.zero_()  # a buffer has no gradient
    save_model(model, folder, "gradients.safetensors")


def main(names):
    for name, (kind, config) in (EARLIER | MODELS).items():
        if name not in names and (names or (HERE / name).exists()):
            continue
        (save_earlier if name in EARLIER else save)(name, kind, config())


if __name__ == "__main__":
    main(sys.argv[1:])
