#include "trace/profile/rank_profile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string>

namespace debubble::profile {
namespace {

using enum KernelClass;

struct Rule {
    KernelClass kernel_class{};
    std::initializer_list<std::string_view> words;      ///< any of them, in lower case
    std::initializer_list<std::string_view> with = {};  ///< and any of these, if there are some
};

/// In the order in which they are tried.
const std::initializer_list<Rule> kRules = {
    {Copy, {"memcpy ", "memset "}},
    {Dispatch,
     {"deep_ep", "dpsk::ep", "internode::", "intranode::", "hybrid_ep", "notify_dispatch",
      "alltoall", "all_to_all"}},
    {PointToPoint, {"nccldevkernel_sendrecv", "ncclkernel_sendrecv", "ncclkernel_send"}},
    {PointToPoint, {"nvshmem"}, {"put"}},
    {Collective,
     {"nccldevkernel", "ncclkernel", "ncclsymk", "multimem_all_reduce", "userbuffers",
      "kuserbuffers_", "nccl:", "oneshotallreduce", "twoshotallreduce"}},
    {AttentionBackward,
     {"flash_bwd", "fmha_cutlassb", "flashattnbwd", "flash_bprop", "fmha_bwd",
      "attention_backward"}},
    {AttentionForward,
     {"flash_fwd", "fmha_cutlassf", "flashattnfwd", "flash_fprop", "compute_attn_ws", "fmha_fwd",
      "flex_attention"}},
    {Optimizer, {"multi_tensor_apply", "adam", "l2normfunctor", "muon", "distributed_fused"}},
    {Norm,
     {"layer_norm", "layernorm", "rmsnorm", "ln_fwd", "ln_bwd", "welford", "batch_norm", "bn_fw",
      "bn_bw", "rowwisemoments"}},
    {Product,
     {"nvjet", "gemm", "cutlass", "xmma", "ampere_", "sm80_", "sm90_", "sm100_", "splitkreduce",
      "deep_gemm", "cijk_", "wgrad", "dgrad"}},
    {Loss, {"cross_entropy", "softmax", "nll_loss"}},
    {Embedding,
     {"embedding", "vectorized_gather_kernel", "gather_kernel", "indexselect", "index_select"}},
    {Quantise, {"quantize", "transpose", "amax", "per_token", "mxfp8", "nvfp4", "cast"}},
    {Elementwise,
     {"at::native::", "triton_", "rope", "swiglu", "gelu", "dropout", "elementwise",
      "cub::", "at_cuda_detail", "nchwtonhwc", "nhwctonchw"}},
};

const std::initializer_list<Rule> kOperatorRules = {
    {AttentionBackward,
     {"scaled_dot_product", "flash_attention", "efficient_attention"},
     {"backward"}},
    {AttentionForward,
     {"_flash_attention_for_cpu", "scaled_dot_product_flash_attention",
      "scaled_dot_product_efficient", "scaled_dot_product_cudnn",
      "scaled_dot_product_attention_math"}},
    {Optimizer, {"adam", "aten::_fused_", "_foreach_", "muon"}},
    {Norm, {"layer_norm", "rms_norm", "batch_norm"}},
    {Product, {"aten::mm", "aten::addmm", "aten::bmm", "aten::linear", "aten::matmul", "baddbmm"}},
    {Loss, {"cross_entropy", "nll_loss", "log_softmax"}},
    {Embedding, {"embedding"}},
    {Elementwise, {"aten::"}},
};

bool any_in(std::initializer_list<std::string_view> words, std::string_view name) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

std::string lower(std::string_view name) {
    std::string out(name);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

KernelClass by(std::initializer_list<Rule> rules, std::string_view name) {
    const std::string text = lower(name);
    for (const Rule& rule : rules)
        if (any_in(rule.words, text) && (rule.with.size() == 0 || any_in(rule.with, text)))
            return rule.kernel_class;
    return Unknown;
}

}  // namespace

KernelClass class_of(std::string_view kernel) {
    return by(kRules, kernel);
}

KernelClass class_of_operator(std::string_view op) {
    return by(kOperatorRules, op);
}

bool is_communication(KernelClass kernel_class) {
    return kernel_class == PointToPoint || kernel_class == Collective || kernel_class == Dispatch;
}

bool names_backward(std::string_view kernel) {
    return any_in({"backward", "bwd", "bprop", "dgrad", "wgrad", "cutlassb"}, lower(kernel));
}

bool names_weight_gradient(std::string_view kernel) {
    const std::string name = lower(kernel);
    if (any_in({"wgrad", "_nt_", "ailk_bjlk"}, name) || name.ends_with("_nt")) return true;
    if (!name.starts_with("nvjet")) return false;
    return any_in({"_ntn", "_ntt"}, name);
}

std::string_view name_of(KernelClass kernel_class) {
    constexpr ArrayBy<KernelClass, std::string_view, kKernelClasses> kNames{"point-to-point",
                                                                            "collective",
                                                                            "dispatch and combine",
                                                                            "attention forward",
                                                                            "attention backward",
                                                                            "products",
                                                                            "norms",
                                                                            "optimizer",
                                                                            "quantise",
                                                                            "loss",
                                                                            "embedding",
                                                                            "elementwise",
                                                                            "copies",
                                                                            "unknown"};
    return kNames[kernel_class];
}

}  // namespace debubble::profile
