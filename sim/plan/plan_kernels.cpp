#include "sim/plan/plan_kernels.h"

#include <algorithm>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "scenarios/plan/derived.h"
#include "sim/cost/kernels/kernel_cost.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;

const char* type_name(const models::Gemm& gemm) {
    switch (gemm.operands) {
        case models::Narrow::None: return gemm.element_bytes > 2 ? "fp32" : "bf16";
        case models::Narrow::Fp8: return "fp8";
        case models::Narrow::Fp8Blockwise: return "fp8_block";
        case models::Narrow::MxFp8: return "mxfp8";
        case models::Narrow::NvFp4: return "nvfp4";
    }
    return "";
}

Json line_of(const models::Gemm& gemm, const char* layout) {
    const bool accumulates = gemm.accumulated > Bytes{};
    // A sum in fp32 is read and written; one in 16 bits moves less.
    const std::int64_t elements = gemm.batch * gemm.m * gemm.n;
    const bool wide = gemm.element_bytes > 2 || gemm.accumulated.count > 4 * elements;
    const char* const result = wide ? "fp32" : "bf16";
    Json line{{"kernel", gemm.group_rows ? "grouped_gemm" : "gemm"}};
    if (!gemm.group_rows) {
        line["shape"] = {{"b", gemm.batch},    {"m", gemm.m},      {"k", gemm.k},
                         {"n", gemm.n},        {"layout", layout}, {"accumulate", accumulates},
                         {"out_dtype", result}};
    } else {
        // The rows of an expert are m, or summed over where the product is a weight's gradient.
        const bool summed = gemm.k == gemm.group_rows;
        line["shape"] = {{"ng", gemm.batch},
                         {"M", *gemm.group_rows},
                         {"N", gemm.n},
                         {"K", summed ? gemm.m : gemm.k},
                         {"stage", summed                        ? "bwd_grad_w"
                                   : std::string(layout) == "NN" ? "bwd_grad_act"
                                                                 : "fwd"},
                         {"accumulate", accumulates},
                         {"out_dtype", result}};
    }
    line["dtype"] = type_name(gemm);
    return line;
}

Json line_of(const models::FlashAttention& attention) {
    Json line{{"kernel", attention.backward ? "attention_backward" : "attention_forward"}};
    line["shape"] = {{"batch", attention.batch},
                     {"seq_len", attention.queries},
                     {"keys", attention.keys},
                     {"head_num", attention.heads},
                     {"kv_head_num", attention.kv_heads},
                     {"qk_head_dim", attention.head_dim},
                     {"v_head_dim", attention.value_dim()},
                     {"causal", attention.causal},
                     {"window", attention.window.value_or(0)}};
    line["dtype"] = attention.narrow ? "fp8" : attention.element_bytes > 2 ? "fp32" : "bf16";
    return line;
}

Json line_of(const models::Traffic& traffic) {
    return {{"kernel", "memory"},
            {"shape",
             {{"read", traffic.read.count},
              {"written", traffic.written.count},
              {"launches", traffic.launches}}},
            {"dtype", "bytes"}};
}

struct Found {
    std::int64_t count = 0;
    std::string name;
    double flops = 0;
    double seconds = 0;
};

class Kernels {
public:
    explicit Kernels(const scenarios::Gpu& gpu) : gpu_(gpu) {}

    void add(const std::vector<models::Kernel>& kernels, const char* layout) {
        for (const models::Kernel& kernel : kernels) {
            if (const auto* gemm = std::get_if<models::Gemm>(&kernel.work))
                add(kernel, line_of(*gemm, layout), kernel_time(*gemm, gpu_));
            if (const auto* attention = std::get_if<models::FlashAttention>(&kernel.work))
                add(kernel, line_of(*attention), kernel_time(*attention, gpu_));
            if (const auto* traffic = std::get_if<models::Traffic>(&kernel.work))
                add(kernel, line_of(*traffic), kernel_time(*traffic, gpu_));
        }
    }

    std::string lines() const {
        std::vector<const std::pair<const std::string, Found>*> sorted;
        for (const auto& entry : found_) sorted.push_back(&entry);
        std::ranges::stable_sort(sorted, [](const auto* a, const auto* b) {
            return a->second.flops * static_cast<double>(a->second.count) >
                   b->second.flops * static_cast<double>(b->second.count);
        });
        std::string text;
        for (const auto* entry : sorted) {
            Json line = Json::parse(entry->first);
            line["count"] = entry->second.count;
            line["name"] = entry->second.name;
            line["flops"] = entry->second.flops;
            line["predicted_s"] = entry->second.seconds;
            text += line.dump() + "\n";
        }
        return text;
    }

private:
    void add(const models::Kernel& kernel, const Json& line, Duration time) {
        Found& found = found_[line.dump()];
        if (found.count++ == 0) found.name = kernel.name;
        found.flops = models::flops(kernel);
        found.seconds = seconds(time);
    }

    const scenarios::Gpu& gpu_;
    std::map<std::string, Found> found_;
};

}  // namespace

std::string plan_kernels(const scenarios::Scenario& scenario, const scenarios::Plan& plan) {
    Kernels kernels(scenario.cluster.gpu);
    const models::Execution execution = scenarios::execution_of(scenario);
    for (const models::StageContent& content : plan.stages) {
        const models::StageGraph graph = models::build_stage(scenario.model, execution, content);
        for (const models::Operator& op : graph.operators) {
            kernels.add(op.forward, "TN");
            kernels.add(op.backward_input, "NN");
            kernels.add(op.backward_weight, "NT");
        }
    }
    return kernels.lines();
}

}  // namespace debubble::sim
