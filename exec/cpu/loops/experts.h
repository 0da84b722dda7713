#pragma once

#include <span>
#include <vector>

#include "exec/cpu/loops/operands.h"

/// A mixture of experts whose router chooses some experts for every token (Shazeer et al. 2017,
/// arXiv:1701.06538; Mixtral, Jiang et al. 2024, arXiv:2401.04088, section 2.1). There is a row for
/// each of a token's experts, which has fewer where some have dropped it.
///
/// weights [tokens, experts] are zero for experts that a token does not go to. They alone tell
/// which rows belong to which expert.
namespace debubble::exec::loops {

/// The rows of the experts, one expert's after the other's, each in the order of its tokens.
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

}  // namespace debubble::exec::loops
