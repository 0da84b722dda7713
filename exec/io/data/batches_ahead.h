#pragma once

#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "exec/io/data/batches.h"

namespace debubble::exec {

/// A rank's part of a step's data.
struct StepBatches {
    std::vector<Batch> micro_batches;
    std::int64_t counted = 0;  ///< targets of the global batch that count
};

/// The batches of a rank's steps. Where a device computes, the host is free meanwhile, and a thread
/// fills those of the next step, so that reading data holds up no step. Where the processor
/// computes, they are filled when they are asked for.
class BatchesAhead {
public:
    /// The rank's place; `micro_batches` empty ones where the rank needs no data.
    struct Wish {
        std::int64_t data_rank = 0;
        std::int64_t micro_batches = 0;
        bool needs_data = true;
        bool ahead = false;
    };
    /// `batches` must outlive this object.
    BatchesAhead(const Batches& batches, const Wish& wish);

    /// The batches of a step, which stay as they are until the next call. Throws InputError where
    /// the data is bad: of the step that is asked for, not of one that was filled ahead.
    const StepBatches& of(std::int64_t step);

private:
    void fill(std::int64_t step, StepBatches& into) const;

    const Batches& batches_;
    Wish wish_;
    std::array<StepBatches, 2> both_;
    std::size_t current_ = 0;
    std::optional<std::int64_t> step_ahead_;
    std::future<void> filled_;  ///< of the other one; destroyed first, which waits for the thread
};

}  // namespace debubble::exec
