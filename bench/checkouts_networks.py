"""Parameters of networks by other frameworks' own files, counted apart from debubble.

The formulas are of Megatron-Core's layers (core/models/gpt) and of the published config.json files; the
reading of Primus's chains follows primus/core/config (extends, environment's defaults, overrides).
"""

import re
import shlex

import yaml

import checkouts_mixers as mixers

# vocab_size of the published config.json files, by parts of the tokenizer's name
VOCABULARIES = [("R1-Distill-Qwen-1.5B", 151936), ("R1-Distill-Qwen", 152064), ("DeepSeek-V2", 102400), ("DeepSeek-V3", 129280), ("Llama-4", 202048),
                ("Llama-3", 128256), ("Llama-2", 32000), ("Mixtral-8x22B-v0.1", 32000), ("Mixtral-8x7B", 32000),
                ("Qwen2.5-3B", 151936), ("Qwen2.5-1.5B", 151936), ("Qwen2.5-0.5B", 151936), ("Qwen2.5", 152064),
                ("Qwen3.5", 248320), ("Qwen3", 151936), ("gpt-oss", 201088), ("Kimi-K2", 163840), ("MiniMax-M2", 200064), ("glm-4-9b", 151552),
                ("gpt-neox-20b", 50432)]
TOKENIZERS = {"GPT2BPETokenizer": 50257, "Llama2Tokenizer": 32000, "Llama3Tokenizer": 128256}


OTHER_NETWORKS = ("encoder_num_layers", "lfm_layer_types", "lora", "attn_res_block_size", "num_joint_layers", "multimodal", "img_h_encoder")


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
    names = content.pop("extends", None) or content.pop("bases", [])  # an old name, by which mamba_370M.yaml names its base
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


def is_hybrid(s):
    """True for a stack of layers with one part each; AnotherNetwork for a specification that is none of those known here."""
    spec = str(s.get("spec") or "")
    if spec and not re.search(r"(hybrid|mamba)_layer_specs|slime_plugins", spec):
        raise AnotherNetwork
    if s.get("hybrid_attention_ratio") or s.get("hybrid_mlp_ratio"):
        raise ValueError("ratios")
    return bool(s.get("hybrid_layer_pattern") or s.get("hybrid_override_pattern") or s.get("model_type") == "mamba")


def megatron_parameters(s):
    """Parameters of a GPT or of a hybrid stack of Megatron-Core. KeyError or ValueError where they are not counted here."""
    if s.get("model_type", "gpt") not in ("gpt", "GPT", "mamba", "hybrid", None) or s.get("trainer_class"):
        raise AnotherNetwork
    hybrid = is_hybrid(s)
    variant = s.get("experimental_attention_variant") or s.get("linear_attention_type")
    variant = variant or ("gdn" if re.search(r"models\.qwen3_(next|5)", str(s.get("spec"))) else None)  # slime's
    if variant and variant not in ("gated_delta_net", "gdn"):
        raise AnotherNetwork
    if any(s.get(name) and not (isinstance(s[name], dict) and s[name].get("enabled", s[name].get("enable", True)) is False)
           for name in OTHER_NETWORKS):
        raise AnotherNetwork
    layers = len(str(s.get("hybrid_layer_pattern") or "")) if hybrid and not s.get("num_layers") else int(s["num_layers"])
    hidden, heads = int(s["hidden_size"]), int(s["num_attention_heads"])
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
        attention += hidden * width if s.get("attention_output_gate") else 0
    dense = attention + mlp(ffn) + 2 * norms * hidden
    experts = int(s.get("num_experts") or 0)
    sparse = 0
    if experts:
        width = int(s.get("moe_ffn_hidden_size") or ffn)
        shared = int(s.get("moe_shared_expert_intermediate_size") or 0)
        routed = experts * mlp(width) + hidden * experts + (mlp(shared) if shared else 0)
        routed += hidden if s.get("moe_shared_expert_gate") else 0
        routed += experts if s.get("moe_router_enable_expert_bias") else 0
        sparse = attention + 2 * norms * hidden + routed
    has_experts = frequency(s.get("moe_layer_freq") or 1, layers) if experts else [0] * layers
    total = sum(sparse if one else dense for one in has_experts)
    if variant:  # every n-th layer has attention, or a list has ones for delta nets
        every = s.get("linear_attention_freq") or 4
        nets = [(i + 1) % int(every) != 0 for i in range(layers)] if str(every).isdigit() else frequency(every, layers)
        total += sum(map(bool, nets)) * (mixers.delta_layer(s, hidden) - attention)
    if hybrid:
        total = mixers.stack(s, hidden, norms * hidden, attention, mlp(ffn), routed if experts else 0)
    tokens = vocabulary(s)
    total += tokens * hidden * (2 if s.get("untie_embeddings_and_output_weights") else 1) + norms * hidden
    if s.get("position_embedding_type", "learned_absolute") == "learned_absolute" and not s.get("use_rotary_position_embeddings"):
        total += int(s["max_position_embeddings"]) * hidden
    depths = 0 if hybrid else int(s.get("mtp_num_layers") or 0)
    total += depths * ((sparse if experts else dense) + 2 * hidden * hidden + 3 * norms * hidden)
    return total



def flags_of(text):
    """The flags of a list of arguments, as fields; a bare one is True."""
    settings = {"swiglu": False, "add_bias_linear": True}
    words = shlex.split(text, comments=True)
    for i, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, _, value = word[2:].partition("=")
        after = words[i + 1:i + 2]
        settings[name.replace("-", "_")] = value or (after[0] if after and not after[0].startswith("--") else True)
    if settings.pop("disable_bias_linear", False):
        settings["add_bias_linear"] = False
    if settings.pop("use_rotary_position_embeddings", False):
        settings["position_embedding_type"] = "rope"
    settings.setdefault("moe_router_topk", 2)
    return settings


def script_settings(text):
    """Megatron-LM's flags of a script whose variables are literals; KeyError where one of them is not."""
    assigned = re.findall(r"^\s*(?:export )?([A-Za-z_]\w*)=[\"']?(?:\$\{\w+:-)?([\w.-]+)\}?[\"']?\s*(?:#.*)?$", text, re.M)
    often = {name for name, _ in assigned if len(re.findall(rf"^\s*(?:export )?{name}=", text, re.M)) > 1}  # by conditions
    variables = {name: value for name, value in assigned if name not in often}
    plain = re.sub(r"\$\{?(\w+)\}?", lambda found: variables.get(found[1], found[0]), text.replace("\\\n", " "))
    found = dict(re.findall(r"--([a-z0-9-]+)[ =]+([^\s\"'\\-][^\s\"'\\]*)", plain))
    settings = {"swiglu": "--swiglu" in plain, "add_bias_linear": "--disable-bias-linear" not in plain}
    settings.update({name.replace("-", "_"): value for name, value in found.items()})
    for name in ("group-query-attention", "untie-embeddings-and-output-weights", "qk-layernorm"):
        settings[name.replace("-", "_")] = f"--{name}" in plain
    if "--use-rotary-position-embeddings" in plain:
        settings["position_embedding_type"] = "rope"
    if "num_key_value_heads" in settings:
        settings.update(group_query_attention=True, num_query_groups=settings["num_key_value_heads"])
    if settings.get("normalization", "").lower() == "rmsnorm":
        settings["normalization"] = "RMSNorm"
    if "num_experts" in settings or any("$" in str(settings.get(name, "$")) for name in ("num_layers", "hidden_size", "num_attention_heads")):
        raise KeyError("computed")
    return settings


def slime_settings(root, job):
    """MODEL_ARGS of the file that a script of slime sources; KeyError where the shell computes some of them."""
    named = re.search(r"""source\s+\S*models/([\w.-]+\.sh)""", job.read_text())
    if not named:
        raise KeyError("source")
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (root / "scripts" / "models" / named[1]).read_text())
    listed = re.search(r"MODEL_ARGS=\((.*?)^\)", text, re.S | re.M)
    settings = flags_of(listed[1])
    loop = dict(re.findall(r"^(NLAYERS|FIRST_K_DENSE_REPLACE)=(\d+)", text, re.M))
    if loop.get("NLAYERS") and settings.get("moe_layer_freq") == "$MOE_LAYER_FREQ":
        dense = int(loop.get("FIRST_K_DENSE_REPLACE", 0))
        settings["moe_layer_freq"] = [0] * dense + [1] * (int(loop["NLAYERS"]) - dense)
    if any("$" in str(value) for value in settings.values()):
        raise KeyError("computed")
    return settings


def nanotron_parameters(path):
    """Parameters by models/llama.py, qwen.py and nn/moe.py of nanotron."""
    s = yaml.safe_load(path.read_text())["model"]["model_config"]
    if not (s.get("is_llama_config") or s.get("is_qwen2_config")):
        raise AnotherNetwork
    hidden, layers, vocab, heads = s["hidden_size"], s["num_hidden_layers"], s["vocab_size"], s["num_attention_heads"]
    groups = (s.get("num_key_value_heads") or heads) * (hidden // heads)
    attention = hidden * (hidden + 2 * groups) + hidden * hidden
    attention += hidden + 2 * groups if s.get("attention_bias") and s.get("is_qwen2_config") else 0
    mlp = [3 * hidden * s["intermediate_size"]] * layers
    moe = s.get("moe_config")
    if moe:
        routed = moe["num_experts"] * 3 * hidden * moe.get("moe_intermediate_size", 1408) + hidden * moe["num_experts"]
        routed += 3 * hidden * moe.get("shared_expert_intermediate_size", 5632) + hidden if moe.get("enable_shared_expert") else 0
        chosen = moe.get("layers", [-1])
        mlp = [routed if chosen == [-1] or i in chosen else dense for i, dense in enumerate(mlp)]
    return layers * (attention + 2 * hidden) + sum(mlp) + hidden + vocab * hidden * (1 if s.get("tie_word_embeddings") else 2)


def neox_parameters(path, tokens):
    """Parameters by model/transformer.py and gpt2_model.py of GPT-NeoX."""
    s = {key.replace("-", "_"): value for key, value in yaml.safe_load(path.read_text()).items()}
    kinds = {kind for pattern, _ in s.get("attention_config") or [] for kind in pattern}
    if kinds - {"flash", "global"} or s.get("moe_num_experts", 1) > 1 or s.get("train_impl", "normal") != "normal":
        raise AnotherNetwork
    hidden, heads, layers = s["hidden_size"], s["num_attention_heads"], s["num_layers"]
    norm = 1 if "rms" in s.get("norm", "layernorm") else 2
    groups = (s.get("num_kv_heads") or heads) * (hidden // heads)
    attention = hidden * (hidden + 2 * groups) + hidden * hidden
    attention += 2 * hidden + 2 * groups if s.get("use_bias_in_attn_linear", True) else 0
    width, multiple = s.get("intermediate_size") or 4 * hidden, s.get("mlp_multiple_of", 1)
    gated = s.get("activation", "gelu") in ("swiglu", "geglu")
    if gated:
        width = -(-(int(width * 2 / 3) // 2) // multiple) * multiple
    mlp = hidden * width * (3 if gated else 2) + (width * (2 if gated else 1) + hidden if s.get("use_bias_in_mlp", True) else 0)
    total = layers * (attention + mlp + 2 * norm * hidden) + norm * hidden + tokens * hidden * (2 if s.get("no_weight_tying") else 1)
    return total + (s["max_position_embeddings"] * hidden if s.get("pos_emb", "learned") == "learned" else 0)


# Parameters that model cards and reports state, by parts of names in Hugging Face's hub.
PUBLISHED = [("deepseek-v3", 671e9), ("deepseek-r1", 671e9), ("glm-4.5-air", 106e9), ("kimi-k2", 1.03e12), ("kimi_k2", 1.03e12),
             ("nemotron-3-nano-30b", 31.6e9), ("nemotron_nano_v3", 31.6e9), ("qwen3-next-80b", 80e9), ("gpt-oss-20b", 20.9e9),
             ("gpt-oss-120b", 116.8e9), ("llama4_17bx128e", 400e9), ("llama4_17bx16e", 109e9), ("mixtral-8x7b", 46.7e9), ("mixtral_8x7b", 46.7e9), ("mixtral-8x22b", 140.6e9), ("moonlight-16b", 15.96e9),
             ("glm-4.7", 353e9), ("glm_4.7_te", 353e9), ("mistral-nemo", 12.25e9), ("phi-4", 14.66e9)]
# GPT-3's networks (arXiv:2005.14165, table 2.1), of which DeepSpeed-MoE (arXiv:2201.05596) gives every second layer experts.
GPT3 = {"125m": (12, 768), "350m": (24, 1024), "1.3b": (24, 2048)}


def published_parameters(text):
    """The published count of the first of those names in a text."""
    for name, parameters in PUBLISHED:
        if name in text.lower():
            return parameters
    experts = re.search(r"_(125m|350m|1\.3b)_moe(\d+)", text.lower())
    if experts:
        layers, hidden = GPT3[experts[1]]
        mlp = 8 * hidden * hidden + 5 * hidden
        return (50304 + 2048) * hidden + layers * (4 * hidden * hidden + 8 * hidden) + layers // 2 * (mlp + int(experts[2]) * mlp)
    return None
