#pragma once

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "models/build/layer_names.h"
#include "models/graph/graph.h"
#include "models/read/layer_keys.h"

/// What the kind of an operator promises of the tensors in its roles: their sizes, by the letters
/// of the literature, and the passes that use them.
namespace debubble::models {

using Passes = std::set<char>;  ///< (f)orward, backward-(i)nput, backward-(w)eight

constexpr std::int64_t kAnySize = -1;  ///< of a copy whose size the framework's options decide

struct Use {
    Passes passes;
    std::set<std::int64_t> bytes;  ///< one, if all roles of a tensor agree
    friend bool operator==(const Use&, const Use&) = default;
};
using Uses = std::map<int, Use>;

/// What the operator's kind promises of each of its tensors.
struct Promise {
    const StageGraph& graph;
    const Operator& op;
    const Execution& how = graph.execution;
    const Architecture& model = graph.architecture;
    std::int64_t e = size_of(how.compute);
    std::int64_t tokens = how.tokens();
    std::int64_t stream = (how.sequence_parallel ? tokens / how.tensor : tokens) * model.hidden;
    bool drops = how.hidden_dropout;
    std::int64_t routed = how.sequence_parallel ? tokens / how.tensor : tokens;
    Uses uses = {};
    std::map<int, int> reads = {};  ///< values from other operators, with their gradients
    std::map<int, int> makes = {};
    std::map<int, int> branches = {};  ///< values that are also read with another gradient

    LayerKeys keys() const { return keys_of(model.layer_at(op.layer.value())); }
    void role(int tensor, std::int64_t bytes, const char* passes) {
        Use& use = uses[tensor];
        for (const char* pass = passes; *pass != '\0'; ++pass) use.passes.insert(*pass);
        if (bytes != kAnySize) use.bytes.insert(bytes);
    }
    void role(const std::optional<int>& tensor, std::int64_t bytes, const char* passes) {
        if (tensor) role(*tensor, bytes, passes);
    }
    void read(op::Value x, std::int64_t bytes, const char* value, const char* gradient) {
        role(x.tensor, bytes, value);
        role(x.gradient, bytes, gradient);
        reads[x.tensor] = x.gradient;
    }
    void make(op::Value y, std::int64_t bytes, const char* value, const char* gradient) {
        role(y.tensor, bytes, value);
        role(y.gradient, bytes, gradient);
        makes[y.tensor] = y.gradient;
    }
    /// One kernel there, one back.
    void pass_on(op::Value x, std::int64_t x_bytes, op::Value y, std::int64_t y_bytes) {
        read(x, x_bytes, "f", "i");
        make(y, y_bytes, "f", "i");
    }
    std::int64_t table_bytes(int parameter) const {
        return e * graph.parameters[parameter].elements_of_rank(how);
    }

    void linear(const op::Linear& it, const char* weight_pass);
    void linear_result(const op::Linear& it, std::int64_t bytes, const char* weight_pass);

    void operator()(const op::TokenEmbedding& it);
    void operator()(const op::PositionEmbedding& it);
    void operator()(const op::PatchEmbedding& it);
    void operator()(const op::ClassToken& it);
    void operator()(const op::Norm& it);
    void operator()(const op::Linear& it);
    void operator()(const op::ExpertProducts& it);
    std::int64_t missing(const op::Heads& it) const;
    void heads(const op::Heads& it, std::int64_t of_tokens, const char* value, bool copies);
    void operator()(const op::SplitHeads& it);
    void operator()(const op::HeadNorm& it);
    void operator()(const op::WidthNorm& it);
    void operator()(const op::HeadL2Norm& it);
    void operator()(const op::OpenBranch& it);
    void operator()(const op::Concat& it);
    void operator()(const op::ScatterTokens& it);
    void operator()(const op::StackStreams& it);
    void operator()(const op::SplitStreams& it);
    void operator()(const op::SoftCap& it);
    void operator()(const op::Cast& it);
    void operator()(const op::LatentHeads& it);
    void operator()(const op::AddBranches& it);
    void operator()(const op::Rope& it);
    void operator()(const op::Attention& it);
    void unfused(const op::Attention& it, const op::UnfusedKernel& kernel, std::int64_t rows);
    void operator()(const op::Activation& it);
    void operator()(const op::Residual& it);
    void operator()(const op::GatherColumns& it);
    void operator()(const op::SliceColumns& it);
    void operator()(const op::ExchangeHeads& it);
    void operator()(const op::CopyContext& it);
    void operator()(const op::PickClassToken& it);
    void operator()(const op::Router& it);
    void operator()(const op::OutputGate& it);
    void operator()(const op::SharedGate& it);
    /// The tokens of the whole sequences that a rank has while a recurrence runs.
    std::int64_t in_sequences() const { return tokens * how.context; }
    std::int64_t ranks() const { return std::int64_t{how.tensor} * how.context; }
    void operator()(const op::Convolution& it);
    void operator()(const op::StateSpaceScan& it);
    void operator()(const op::DeltaRule& it);
    void operator()(const op::GroupedNorm& it);
    /// Elements of the rank's tokens as wide as what experts read.
    std::int64_t of_rows() const {
        const std::int64_t latent = keys().expert_latent;
        return latent > 0 ? stream / model.hidden * latent : stream;
    }
    void operator()(const op::Permute& it);
    void operator()(const op::Dispatch& it);
    void operator()(const op::Combine& it);
    void operator()(const op::Loss& it);
    void operator()(const op::ChunkedLoss& it);
    void operator()(const op::Planned& it);
};

/// What the lists of the operator say.
inline Uses listed(const StageGraph& graph, const Operator& op) {
    Uses uses;
    const auto add = [&](const std::vector<int>& list, char pass) {
        for (const int tensor : list) {
            uses[tensor].passes.insert(pass);
            uses[tensor].bytes = {graph.tensors[tensor].bytes.count};
        }
    };
    add(op.forward_uses, 'f');
    add(op.backward_input_uses, 'i');
    add(op.backward_weight_uses, 'w');
    return uses;
}

inline Promise promise_of(const StageGraph& graph, const Operator& op) {
    Promise promise{graph, op};
    std::visit(promise, op.roles);
    return promise;
}

/// The promise in the words of the lists: sizes that are open are the tensor's own, and a role
/// that no pass touches is none.
inline Uses promised(const StageGraph& graph, const Promise& promise) {
    Uses uses = promise.uses;
    for (auto& [tensor, use] : uses)
        if (use.bytes.empty()) use.bytes = {graph.tensors[tensor].bytes.count};
    std::erase_if(uses, [](const auto& use) { return use.second.passes.empty(); });
    return uses;
}

}  // namespace debubble::models
