#pragma once

#include <cstdint>
#include <span>

#include "exec/core/tensor.h"

/// Mixtures of experts: their routers, and the permutation of tokens to experts and back.
namespace debubble::exec {

/// The function by which a router scores experts.
enum class RouterScore : std::uint8_t {
    Softmax,     ///< softmax over a token's chosen logits
    PreSoftmax,  ///< softmax over all of its logits, of which the chosen are taken as they are
    Sigmoid,     ///< sigmoid of each logit (DeepSeek-V3, arXiv:2412.19437, section 2.1.2)
};

/// The most groups that devices take: a lane of a warp has one.
inline constexpr std::int64_t kMostExpertGroups = 32;

/// A router's choice. Experts lie in equal groups, and a token's are in `groups_chosen` of these:
/// those whose two best experts have the largest sum by a sigmoid router, those with the best
/// expert by another (DeepSeek-V2, arXiv:2405.04434, section 2.1.2).
struct RouterChoice {
    RouterScore score{};
    std::int64_t chosen = 1;
    std::int64_t groups = 1;
    std::int64_t groups_chosen = 1;
    bool renormalised = true;  ///< a sigmoid router divides the chosen scores by their sum
    double scaling = 1;        ///< factor of the weights after that
};

/// Terms that a router adds to the loss. With p [tokens, experts] the softmax over all logits, or
/// the sigmoids divided by their sum:
///   balance: its factor times the sum of counts[e] p[t, e] (Switch Transformer, arXiv:2101.03961,
///   section 2.2),
///   z: its factor times the sum of squares of logs of sums of exponentials (ST-MoE,
///   arXiv:2202.08906, section 3).
struct RouterLosses {
    RouterScore score{};
    double balance = 0;
    double z = 0;
};

/// Routers of experts. Logits are [tokens, experts], `weights` fp32 [tokens, experts]: zero for
/// experts that a token does not go to, and at least the smallest normal number for the others.
class RouterKernels {
public:
    /// Chooses the best experts of each token, the first of equal ones, and gives them weights. A
    /// sigmoid router's `correction`, fp32 [experts], is added to scores for the choice alone; it
    /// may be empty.
    virtual void route_forward(const RouterChoice& choice, ConstTensorView logits,
                               ConstTensorView correction, TensorView weights) = 0;
    /// dlogits is fp32 and may be dweights. A router by the softmax of the chosen logits reads no
    /// logits, which may then be empty.
    virtual void route_backward_input(const RouterChoice& choice, ConstTensorView dweights,
                                      ConstTensorView weights, ConstTensorView logits,
                                      TensorView dlogits) = 0;

    /// kept = weights, but zero for the tokens that an expert drops: all but the `capacity` with
    /// the largest weights, of equal ones the first.
    virtual void drop_over_capacity(std::int64_t capacity, ConstTensorView weights,
                                    TensorView kept) = 0;

    /// Adds the number of each expert's tokens to counts, fp32 [experts].
    virtual void count_chosen(ConstTensorView weights, TensorView counts) = 0;

    /// Adds each term to its total, fp64 [1]. Counts are fp32 [experts], and may be empty where the
    /// factor of the balance is 0.
    virtual void router_losses_forward(const RouterLosses& losses, ConstTensorView logits,
                                       ConstTensorView counts, TensorView balance,
                                       TensorView z) = 0;
    /// Adds the gradient of both terms to dlogits, fp32.
    virtual void router_losses_backward_input(const RouterLosses& losses, ConstTensorView logits,
                                              ConstTensorView counts, TensorView dlogits) = 0;

    /// y = branch times the sigmoid of one logit a token, x [tokens, hidden] times weight [hidden]:
    /// the gate of shared experts (Qwen2-MoE). scores, fp32 [tokens], are the sigmoids.
    virtual void shared_gate_forward(ConstTensorView x, ConstTensorView weight,
                                     ConstTensorView branch, TensorView y, TensorView scores) = 0;
    /// Adds to dx and dweight, and overwrites dbranch.
    virtual void shared_gate_backward(ConstTensorView dy, ConstTensorView x, ConstTensorView weight,
                                      ConstTensorView branch, ConstTensorView scores,
                                      TensorView dbranch, TensorView dx, TensorView dweight) = 0;

protected:
    ~RouterKernels() = default;
};

/// A mixture of experts. A router chooses some experts for each token, and the token is copied to
/// each of them as a row: `weights` are fp32 [tokens, experts], zero for experts that a token does
/// not go to; rows [tokens x chosen, hidden] are grouped by expert, and those of an expert have the
/// order of their tokens.
class ExpertKernels {
public:
    /// first_rows = int32 [experts + 1]: the first row of each expert, and the end of all rows.
    virtual void first_rows_of_experts(ConstTensorView weights, TensorView first_rows) = 0;

    /// rows = copies of the tokens x [tokens, hidden].
    virtual void permute_forward(ConstTensorView weights, ConstTensorView x, TensorView rows) = 0;
    /// dx = the sum of a token's rows.
    virtual void permute_backward_input(ConstTensorView weights, ConstTensorView drows,
                                        TensorView dx) = 0;

    /// The GEMM of each expert with its own rows, without biases (a grouped GEMM): the rows of
    /// expert e are [first_rows[e], first_rows[e + 1]) of x [rows, inputs] and y [rows, outputs],
    /// and its weight is the e-th [outputs, inputs] of `weights`. Experts without rows are left
    /// out.
    virtual void experts_forward(std::span<const std::int64_t> first_rows, ConstTensorView x,
                                 ConstTensorView weights, TensorView y) = 0;
    virtual void experts_backward_input(std::span<const std::int64_t> first_rows,
                                        ConstTensorView dy, ConstTensorView weights,
                                        TensorView dx) = 0;
    virtual void experts_backward_weight(std::span<const std::int64_t> first_rows,
                                         ConstTensorView x, ConstTensorView dy,
                                         TensorView dweights) = 0;

    /// y = the sum of a token's rows, each times its weight.
    virtual void combine_forward(ConstTensorView weights, ConstTensorView rows, TensorView y) = 0;
    /// drows = dy of the row's token times its weight; dweights = the dot product of dy and the
    /// row. Either is left out if it is empty, and `rows` may then be empty with dweights. Where
    /// tokens are weighted before the experts, these are that weighting and its gradient.
    virtual void combine_backward_input(ConstTensorView weights, ConstTensorView dy,
                                        ConstTensorView rows, TensorView drows,
                                        TensorView dweights) = 0;

protected:
    ~ExpertKernels() = default;
};

}  // namespace debubble::exec
