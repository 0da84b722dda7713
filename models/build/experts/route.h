#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/build/graph_builder.h"
#include "models/build/layer_names.h"

/// One way from the tokens to their experts, and the way back. Private to the folder: users see
/// graph.h.
namespace debubble::models {

/// The operators of a layer of experts on one rank, each of which the functions below add to the
/// builder's graph. Rows are copies of tokens, one for each expert that a token is routed to.
struct ExpertRoute {
    GraphBuilder& builder;
    const Experts& experts;
    LayerNames names;
    int layer;

    std::string router() const { return names.prefix + names.router; }
    OperatorPlace at(const std::string& kernel) const;
    const Sizes& size() const { return builder.size; }
    /// Columns of a row that goes to an expert.
    std::int64_t width() const { return experts.width(size().hidden); }
    std::int64_t row_bytes(std::int64_t rows) const { return size().element * rows * width(); }
    /// The rank's tokens, as wide as rows.
    std::int64_t token_bytes() const { return row_bytes(size().stream_tokens); }
    /// The rows that this rank's own tokens make.
    std::int64_t routed() const { return size().stream_tokens * experts.per_token; }
    /// The rows for this rank's part of its experts, before the ranks that cut them share theirs.
    std::int64_t received() const { return size().all_expert_rows() / builder.how().expert_tensor; }
    /// Whether tokens are sent once to each rank, by DeepEP or HybridEP, and not once an expert.
    bool sends_tokens() const;
    /// Whether tokens are sorted by separate kernels, before an all-to-all or without one.
    bool sorts_rows() const { return builder.how().expert == 1 || !sends_tokens(); }
    /// Whether routers decide how many rows come to a rank: with all experts whole on it, the rows
    /// are those of its own tokens.
    bool shares() const { return builder.how().expert * builder.how().expert_tensor > 1; }

    Kernel communicate(const std::string& kernel, Collective::Kind kind, Collective::Group group,
                       std::int64_t bytes) const;
    Kernel copies(const std::string& kernel, std::int64_t read, std::int64_t written) const;
    Value value(const std::string& kernel, std::int64_t bytes) const;
    /// Moves rows: one kernel there, one back.
    Value moved(const std::string& kernel, op::Dispatch::Kind kind, bool returns, Value x,
                std::int64_t rows, Kernel there, Kernel back) const;
    /// Marks a value's tensors, built for `rows` rows, as sized by the number of received rows.
    void mark(Value value, RoutedRows::Which which, std::int64_t rows) const;
    void mark_at_experts(Value value) const;
    void mark_received(Value value) const;

    // router.cpp
    Value weights(Value tokens) const;
    void add_backward(Operator& op, op::Router& roles, bool wide) const;
    void count_tokens(Operator& op, op::Router& roles) const;
    void drop_tokens(Operator& op, op::Router& roles) const;

    // exchange.cpp
    std::int64_t sent_bytes(std::int64_t rows, Narrow type) const;
    Kernel exchange(const std::string& kernel, bool returns, Narrow type) const;
    std::vector<Kernel> sent(const std::string& kernel, bool returns, Narrow type,
                             std::vector<int>& uses) const;
    void gather_map(Operator& op) const;
    Value exchanged(Value x, bool returns) const;
    Value gathered(Value x, bool returns) const;

    // permutation.cpp
    Kernel sorts(const std::string& kernel, std::int64_t read, std::int64_t written) const;
    bool permutes_eagerly() const;
    std::vector<Kernel> permutes() const;
    std::vector<Kernel> unpermutes(const std::string& kernel, std::int64_t tokens) const;
    Value sorted(Value x, bool returns) const;
    Value to_experts(Value tokens, Value weights) const;
    Value from_experts(Value rows, Value weights, int gradient) const;

    // eager.cpp
    void clamp() const;
    void add_biases(std::int64_t columns) const;

    // experts.cpp
    bool fuses_products() const;
    void compute_in_products() const;
    void weigh_activation(Value weights) const;
    LinearParameters parameters(bool in) const;
    Value narrowed(Value tokens) const;
    Value normed(Value narrow) const;
    Value widened(Value narrow, int gradient) const;
};

}  // namespace debubble::models
