#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// The routing of a microbatch's tokens between the ranks that have a layer's experts.
namespace debubble::exec {

/// The ranks that have a layer's experts, and this one's place among them: `sharing_ranks` have
/// different experts, and `cutting_ranks` cut each of these. A rank's number is cutting +
/// cutting_ranks x sharing.
struct ExpertRanks {
    int sharing_ranks = 1;
    int cutting_ranks = 1;
    int sharing = 0;
    int cutting = 0;

    int count() const { return sharing_ranks * cutting_ranks; }
    int number() const { return cutting + cutting_ranks * sharing; }
};

/// Contiguous rows that are moved.
struct RowBlock {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t count = 0;
    friend bool operator==(const RowBlock&, const RowBlock&) = default;
};

/// The numbers of routed tokens (rows), once all ranks' routers have chosen. A rank's own rows are
/// in the order of the model's experts; received rows are in the order of the ranks that cut the
/// experts, of the senders, and of the rank's experts (Megatron-Core's all-to-all dispatcher), and
/// are then sorted by expert, cutting rank and sender.
class Routing {
public:
    /// `first_rows` [ranks, experts of the model + 1]: the first of each rank's own rows for each
    /// expert, and the end of all rows.
    Routing(const ExpertRanks& ranks, std::span<const std::int32_t> first_rows);

    std::int64_t routed() const { return routed_; }  ///< rows that this rank's tokens are routed as
    std::int64_t received() const { return received_; }  ///< for this rank's part of its experts
    std::int64_t at_experts() const { return at_experts_; }  ///< of all ranks that cut them
    /// Rows that this rank sends to each rank that shares the experts, and receives from it.
    const std::vector<std::int64_t>& sent() const { return sent_; }
    const std::vector<std::int64_t>& taken() const { return taken_; }
    /// Rows that each of the cutting ranks has received.
    const std::vector<std::int64_t>& of_cutting_ranks() const { return of_cutting_ranks_; }
    /// The first row of each of the rank's experts, and the end of all rows, once they are sorted.
    const std::vector<std::int64_t>& first_rows() const { return first_rows_; }
    /// The copies that sort the rows; rows that stay neighbours are copied together.
    const std::vector<RowBlock>& sorting() const { return sorting_; }
    /// The load: rows that this rank received for its part of its experts, relative to its own.
    double load() const;

private:
    std::int64_t routed_ = 0;
    std::int64_t received_ = 0;
    std::int64_t at_experts_ = 0;
    std::vector<std::int64_t> sent_;
    std::vector<std::int64_t> taken_;
    std::vector<std::int64_t> of_cutting_ranks_;
    std::vector<std::int64_t> first_rows_;
    std::vector<RowBlock> sorting_;
};

}  // namespace debubble::exec
