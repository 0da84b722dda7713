#pragma once

#include <string>

#include "scenarios/plan/plan.h"

/// The shapes of a plan's products, attentions and memory-bound kernels, for tools that measure
/// kernels one by one (bench/measure_kernels.py).
namespace debubble::sim {

/// A line of JSON for each distinct kernel of one microbatch on the ranks of one pipeline, that of
/// the most FLOPs in all first:
///
///     {"kernel": "gemm", "shape": {"b": 1, "m": 4096, "k": 768, "n": 2304, "layout": "TN",
///      "accumulate": false, "out_dtype": "bf16"}, "dtype": "bf16", "count": 12,
///      "name": "attn.c_attn", "flops": 14495514624.0, "predicted_s": 6.2e-05}
///
/// `kernel` is gemm, grouped_gemm, attention_forward, attention_backward or memory, whose shape is
/// the bytes read and written and the launches. A product is x [m, k] times a weight [n, k],
/// transposed (TN), a forward's; a gradient times the weight (NN); or a gradient's transpose times
/// x (NT), added to what is there where `accumulate` is true. `shape` of a grouped product has ng
/// experts of M rows each, its stage (fwd, bwd_grad_act, bwd_grad_w) and N and K: x [M, K] gives
/// [M, N], and a weight's gradient is [K, N]; of an attention its batch, seq_len, head_num,
/// kv_head_num, qk_head_dim and v_head_dim, with causal, keys and window. `count` is how often it
/// runs, `flops` are of one run, `predicted_s` is the cost model's time of one.
std::string plan_kernels(const scenarios::Scenario& scenario, const scenarios::Plan& plan);

}  // namespace debubble::sim
