"""Parameters of layers that mix tokens by a recurrence, counted apart from debubble.

The formulas are of megatron/core/ssm/mamba_mixer.py and gated_delta_product.py at d98e8a64dd.
"""


def mamba_layer(s, hidden):
    """A Mamba-2 mixer: in_proj (z x B C dt), a convolution with a bias, dt_bias, A_log, D, a gated norm, out_proj."""
    head = int(s.get("mamba_head_dim") or 64)
    heads = int(s.get("mamba_num_heads") or int(s.get("mamba_expand") or 2) * hidden // head)
    inner, state, groups = heads * head, int(s.get("mamba_state_dim") or 128), int(s.get("mamba_num_groups") or 8)
    channels = inner + 2 * groups * state
    return hidden * (2 * inner + 2 * groups * state + heads) + channels * (4 + 1) + 3 * heads + inner + inner * hidden


def delta_layer(s, hidden):
    """A gated delta net: q, k, v, gate, beta and alpha in one product, a convolution, dt_bias, A_log, a norm, out_proj."""
    keys = int(s.get("linear_num_key_heads") or 16) * int(s.get("linear_key_head_dim") or 128)
    heads, width = int(s.get("linear_num_value_heads") or 32), int(s.get("linear_value_head_dim") or 128)
    values = heads * width
    return hidden * (2 * keys + 2 * values + 2 * heads) + (2 * keys + values) * int(s.get("linear_conv_kernel_dim") or 4) \
        + 2 * heads + width + values * hidden


def stack(s, hidden, norm, attention, mlp, experts):
    """The layers of a hybrid pattern, each with one norm: M, *, - and E, where | and / cut stages and depths."""
    pattern = str(s.get("hybrid_layer_pattern") or s.get("hybrid_override_pattern") or "M" * int(s["num_layers"]))
    kinds = {"M": mamba_layer(s, hidden), "G": delta_layer(s, hidden), "*": attention, "-": mlp, "E": experts}
    main, *depths = pattern.replace("|", "").split("/")
    total = sum(kinds[letter] + norm for letter in main)
    for depth in depths:
        total += sum(kinds[letter] + norm for letter in depth) + 2 * hidden * hidden + 3 * norm
    return total
