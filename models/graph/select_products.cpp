#include "models/graph/replays.h"

#include <cmath>

namespace debubble::models {
namespace {

class LayerSelection {
public:
    LayerSelection(StageGraph& graph, std::size_t begin, std::size_t end)
        : graph_(graph), begin_(begin), end_(end) {}

    /// The layer's own backward does not need anything after the last GEMM.
    void select() {
        for (std::size_t i = begin_; i < end_; ++i)
            if (op(i).as<op::Linear>() != nullptr || op(i).as<op::ExpertProducts>() != nullptr)
                after_last_ = i + 1;
        for (std::size_t i = begin_; i < after_last_; ++i) {
            if (op(i).as<op::Attention>() != nullptr) continue;
            const double share = op(i).as<op::Linear>() != nullptr ? next_share(i) : 1;
            if (share > 0) run_again(i, share);
            if (const auto* product = op(i).as<op::Linear>(); product != nullptr && share < 1)
                keep(i, product->y.tensor, 1 - share);
        }
    }

private:
    Operator& op(std::size_t i) { return graph_.operators[i]; }

    /// The share of the product's outputs that weights of even numbers make.
    double next_share(std::size_t i) {
        double even = 0, all = 0;
        for (const int weight : op(i).as<op::Linear>()->weights) {
            const auto elements = static_cast<double>(graph_.parameters[weight].elements());
            all += elements;
            if (++products_ % 2 == 0) even += elements;
        }
        return all > 0 ? even / all : 0;
    }

    void run_again(std::size_t i, double share) {
        std::vector<Kernel> again;
        for (Kernel kernel : op(i).forward) {
            if (const auto* sent = std::get_if<Collective>(&kernel.work);
                sent != nullptr && sent->kind == Collective::Kind::ReduceScatter)
                continue;
            if (auto* product = std::get_if<Gemm>(&kernel.work))
                product->n = std::llround(share * static_cast<double>(product->n));
            again.push_back(std::move(kernel));
        }
        op(i).again = std::move(again);
    }

    /// A result that is kept lives until the product's own backward; so does the part of one, in
    /// addition to the recomputed whole, from the next operator on that does not run again.
    void keep(std::size_t i, int tensor, double share) {
        if (share == 1) {
            const bool is_read = i + 1 < after_last_;
            if (!is_read && !graph_.execution.kernels.keeps_unread_products) return;
            op(i).backward_input_uses.push_back(tensor);
            return;
        }
        std::size_t next = i + 1;  // attention after the heads, the residual after an MLP
        while (next < end_ && op(next).as<op::Attention>() == nullptr &&
               op(next).as<op::Residual>() == nullptr)
            ++next;
        if (next == end_) return;
        const Bytes whole = graph_.tensors[tensor].bytes;
        graph_.tensors.push_back({graph_.tensors[tensor].name + ".kept",
                                  Bytes{std::llround(share * static_cast<double>(whole.count))},
                                  MemoryClass::Activations});
        const int kept = static_cast<int>(graph_.tensors.size()) - 1;
        op(next).forward_uses.push_back(kept);
        op(next).backward_input_uses.push_back(kept);
    }

    StageGraph& graph_;
    std::size_t begin_;
    std::size_t end_;
    std::size_t after_last_ = 0;  ///< place after the layer's last product
    int products_ = 0;
};

}  // namespace

void select_products(StageGraph& graph) {
    const std::vector<Operator>& ops = graph.operators;
    for (std::size_t begin = 0; begin < ops.size();) {
        std::size_t end = begin + 1;
        while (end < ops.size() && ops[end].layer == ops[begin].layer) ++end;
        if (ops[begin].layer) LayerSelection(graph, begin, end).select();
        begin = end;
    }
}

}  // namespace debubble::models
