#pragma once

#include <span>
#include <vector>

#include "exec/core/kernels/experts.h"
#include "exec/cpu/loops/operands.h"

/// Mixtures of experts: routers, the rows of experts, and the gate of shared experts.
namespace debubble::exec::loops {

// Routers of experts (exec/core/kernels/experts.h): tokens do not depend on each other.

/// A weight below the smallest normal number becomes that number, so that it still shows the
/// choice. `correction` may be empty.
void route_forward(const RouterChoice& choice, In logits, In correction, Out weights);
/// dlogits may be dweights; logits may be empty where the chosen logits' softmax is the weight.
void route_backward(const RouterChoice& choice, In dweights, In weights, In logits, Out dlogits);

/// `kept` may not be `weights`.
void drop_over_capacity(std::int64_t capacity, In weights, Out kept);

void count_chosen(In weights, Out counts);

/// The sums over the tokens, each times its factor.
double balance_loss(const RouterLosses& losses, In logits, In counts);
double z_loss(const RouterLosses& losses, In logits);
void router_losses_backward(const RouterLosses& losses, In logits, In counts, Out dlogits);

// A mixture of experts whose router chooses some experts for every token (Shazeer et al. 2017,
// arXiv:1701.06538; Mixtral, Jiang et al. 2024, arXiv:2401.04088, section 2.1). There is a row for
// each of a token's experts, which has fewer where some have dropped it.
//
// weights [tokens, experts] are zero for experts that a token does not go to. They alone tell
// which rows belong to which expert.

/// The rows of all experts, expert by expert, each expert's in the order of its tokens.
class ExpertRows {
public:
    explicit ExpertRows(In weights);

    std::int64_t tokens() const { return tokens_; }
    /// Row [experts + 1] at which each expert's rows start, and at which all end.
    std::span<const std::int64_t> first() const { return first_; }
    /// The rows of a token, in the order of its experts.
    std::span<const std::int64_t> rows_of(std::int64_t token) const {
        return of_token(rows_, token);
    }
    std::span<const std::int64_t> experts_of(std::int64_t token) const {
        return of_token(experts_, token);
    }

private:
    std::span<const std::int64_t> of_token(const std::vector<std::int64_t>& all,
                                           std::int64_t token) const {
        const std::size_t* at = begins_.data() + token;
        return std::span(all).subspan(at[0], at[1] - at[0]);
    }

    std::int64_t tokens_ = 0;
    std::vector<std::int64_t> first_;
    std::vector<std::size_t> begins_;    ///< [tokens + 1]: places in the two lists
    std::vector<std::int64_t> rows_;     ///< token by token
    std::vector<std::int64_t> experts_;  ///< likewise
};

/// The tokens that a call works on; x, y and weights are available as a whole.
struct TokenRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
};

/// dx [tokens, hidden] = the sum over each token's rows of dy [rows, hidden], in the order of its
/// experts. Its forward copies rows (CpuOperators).
void permute_backward(const ExpertRows& rows, TokenRange tokens, In dy, Out dx);

/// y [tokens, hidden] = the sum of each token's rows of x [rows, hidden] by their weights.
void combine_forward(const ExpertRows& rows, TokenRange tokens, In weights, In x, Out y);
/// Computes dx and dweights, unless they are empty; the latter is zero for experts that a token
/// does not go to.
void combine_backward(const ExpertRows& rows, TokenRange tokens, In weights, In dy, In x, Out dx,
                      Out dweights);

// The gate of shared experts: y = score x branch, with a score the sigmoid of x times weight.
// Shapes: x, branch, y [tokens, hidden], weight [hidden], scores [tokens].

void shared_gate_forward(In x, In weight, In branch, Out y, Out scores);
/// Adds to dx; overwrites dbranch, which may be dy.
void shared_gate_backward_input(In dy, In weight, In branch, In scores, Out dbranch, Out dx);
/// Adds in the order of the tokens.
void shared_gate_backward_weight(In dy, In x, In branch, In scores, Out dweight);

}  // namespace debubble::exec::loops
