"""Parameters of networks by other frameworks' own files, counted apart from debubble.

The formulas are of Megatron-Core's layers (core/models/gpt) and of the published config.json files; the
reading of Primus's chains follows primus/core/config (extends, environment's defaults, overrides).
"""

import re

import yaml

# vocab_size of the published config.json files, by parts of the tokenizer's name
VOCABULARIES = [("R1-Distill-Qwen-1.5B", 151936), ("R1-Distill-Qwen", 152064), ("DeepSeek-V2", 102400), ("DeepSeek-V3", 129280), ("Llama-4", 202048),
                ("Llama-3", 128256), ("Llama-2", 32000), ("Mixtral-8x22B-v0.1", 32000), ("Mixtral-8x7B", 32000),
                ("Qwen2.5-3B", 151936), ("Qwen2.5-1.5B", 151936), ("Qwen2.5-0.5B", 151936), ("Qwen2.5", 152064),
                ("Qwen3.5", 248320), ("Qwen3", 151936), ("gpt-oss", 201088), ("Kimi-K2", 163840), ("MiniMax-M2", 200064), ("glm-4-9b", 151552),
                ("gpt-neox-20b", 50432)]
TOKENIZERS = {"GPT2BPETokenizer": 50257, "Llama2Tokenizer": 32000, "Llama3Tokenizer": 128256}


OTHER_NETWORKS = ("spec", "is_hybrid_model", "encoder_num_layers", "hybrid_layer_pattern", "hybrid_override_pattern", "lfm_layer_types",
                  "experimental_attention_variant", "linear_attention_freq", "lora", "attn_res_block_size", "num_joint_layers",
                  "multimodal", "img_h_encoder", "mamba_num_heads")


class AnotherNetwork(Exception):
    """The job trains a network that is no GPT of attention and MLPs."""


def of_environment(value):
    """${VAR:default} as its default, as when nothing is set."""
    if not isinstance(value, str):
        return value
    made = re.sub(r"\$\{([^:{}]+):([^}]*)\}", r"\2", value)
    if made != value:
        try:
            return yaml.safe_load(made)
        except yaml.YAMLError:
            return made
    return value


def chain(path):
    content = yaml.safe_load(path.read_text()) or {}
    names = content.pop("extends", [])
    merged = {}
    for name in [names] if isinstance(names, str) else names:
        merged.update(chain(path.parent / name))
    merged.update({key: of_environment(value) for key, value in content.items()})
    return merged


def primus_settings(root, job):
    """The settings of a job of Primus; None for a backend or a network whose formula is not here."""
    modules = yaml.safe_load(job.read_text())["modules"]
    module = modules.get("pre_trainer") or modules.get("post_trainer")
    if module.get("framework") != "megatron":
        return None
    configs = root / "primus" / "configs"
    settings = {"trainer_class": module.get("trainer_class")}
    for key, kind in (("model", "models"), ("config", "modules")):
        name = of_environment(module[key])
        settings.update(chain(configs / kind / "megatron" / (name if name.endswith((".yaml", ".yml")) else name + ".yaml")))
    settings.update({key: of_environment(value) for key, value in (module.get("overrides") or {}).items()})
    return settings


def model_args(path):
    """MODEL_ARGS of Megatron-LM's tests: flags, of which `true` is a bare one."""
    flags = yaml.safe_load(path.read_text())["MODEL_ARGS"]
    settings = {"swiglu": False, "add_bias_linear": True}
    for flag, value in flags.items():
        name = flag.lstrip("-").replace("-", "_")
        settings[name] = value
    if settings.pop("disable_bias_linear", False):
        settings["add_bias_linear"] = False
    if "moe_router_topk" not in settings:
        settings["moe_router_topk"] = 2
    return settings


def frequency(value, layers):
    """Ones for the layers that have experts."""
    if isinstance(value, int) or str(value).isdigit():
        return [1 if i % int(value) == 0 else 0 for i in range(layers)]
    if isinstance(value, list):
        return value
    if not re.fullmatch(r"[\[\]()\d,+* ]+", value):
        raise ValueError(value)
    return list(eval(value))  # digits, brackets, plus and times alone


def vocabulary(settings):
    if settings.get("vocab_size"):
        return int(settings["vocab_size"])
    kind = settings.get("tokenizer_type")
    if kind in TOKENIZERS:
        return TOKENIZERS[kind]
    model = str(settings.get("tokenizer_model") or "")
    for part, tokens in VOCABULARIES:
        if part.lower() in model.lower():
            return tokens
    raise KeyError("vocabulary")


def megatron_parameters(s):
    """Parameters of a GPT of Megatron-Core. KeyError or ValueError where the network is of another kind."""
    if s.get("model_type", "gpt") not in ("gpt", "GPT", None) or s.get("trainer_class"):
        raise AnotherNetwork
    if any(s.get(name) and not (isinstance(s[name], dict) and s[name].get("enabled", s[name].get("enable", True)) is False)
           for name in OTHER_NETWORKS):
        raise AnotherNetwork
    layers, hidden, heads = int(s["num_layers"]), int(s["hidden_size"]), int(s["num_attention_heads"])
    bias = bool(s.get("add_bias_linear", True))
    norms = 1 if s.get("normalization", "LayerNorm") == "RMSNorm" else 2
    gated = bool(s.get("swiglu") or s.get("quick_geglu"))
    ffn = s.get("ffn_hidden_size")
    ffn = int(ffn) if ffn else (int(4 * hidden * 2 / 3 / 64) * 64 if s.get("swiglu") else 4 * hidden)
    channels = int(s.get("kv_channels") or hidden // heads)
    groups = int(s.get("num_query_groups") or 1) if s.get("group_query_attention") else heads

    def mlp(width):
        return hidden * width * (3 if gated else 2) + (width * (2 if gated else 1) + hidden if bias else 0)

    if s.get("multi_latent_attention"):
        query_rank, key_rank = s.get("q_lora_rank"), int(s.get("kv_lora_rank") or 32)
        own, rope, value = int(s.get("qk_head_dim") or 128), int(s.get("qk_pos_emb_head_dim") or 64), int(s.get("v_head_dim") or 128)
        attention = hidden * (key_rank + rope) + key_rank * heads * (own + value) + heads * value * hidden + norms * key_rank
        attention += hidden * query_rank + query_rank * heads * (own + rope) + norms * query_rank if query_rank else hidden * heads * (own + rope)
    else:
        width = heads * channels
        attention = hidden * (width + 2 * groups * channels) + width * hidden
        attention += width + 2 * groups * channels if bias or s.get("add_qkv_bias") else 0
        attention += hidden if bias else 0
        attention += 2 * norms * channels if s.get("qk_layernorm") else 0
    dense = attention + mlp(ffn) + 2 * norms * hidden
    experts = int(s.get("num_experts") or 0)
    sparse = 0
    if experts:
        width = int(s.get("moe_ffn_hidden_size") or ffn)
        shared = int(s.get("moe_shared_expert_intermediate_size") or 0)
        sparse = attention + 2 * norms * hidden + experts * mlp(width) + hidden * experts + (mlp(shared) if shared else 0)
        sparse += hidden if s.get("moe_shared_expert_gate") else 0
        sparse += experts if s.get("moe_router_enable_expert_bias") else 0
    has_experts = frequency(s.get("moe_layer_freq") or 1, layers) if experts else [0] * layers
    total = sum(sparse if one else dense for one in has_experts)
    tokens = vocabulary(s)
    total += tokens * hidden * (2 if s.get("untie_embeddings_and_output_weights") else 1) + norms * hidden
    if s.get("position_embedding_type", "learned_absolute") == "learned_absolute" and not s.get("use_rotary_position_embeddings"):
        total += int(s["max_position_embeddings"]) * hidden
    depths = int(s.get("mtp_num_layers") or 0)
    total += depths * ((sparse if experts else dense) + 2 * hidden * hidden + 3 * norms * hidden)
    return total

