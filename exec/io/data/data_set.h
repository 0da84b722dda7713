#pragma once

#include <cstdint>

#include "exec/core/tensor.h"

namespace debubble::exec {

/// A microbatch as a model takes it.
struct Batch {
    Tensor inputs;   ///< int32 [samples, T] tokens, or fp32 [samples, channels, height, width]
    Tensor targets;  ///< int32 [samples, T], or [samples] classes
    std::int64_t counted = 0;  ///< number of targets that are not ignored
};

/// A set of samples in the order of storage. Any number of threads may read one.
class DataSet {
public:
    virtual ~DataSet() = default;
    virtual std::int64_t samples() const = 0;  ///< number of samples, at least one
    /// Whether every sample is a file of its own: then reading many takes long, in order too.
    virtual bool is_of_many_files() const { return false; }
    virtual Batch batch_of(std::int64_t samples) const = 0;
    /// Writes a sample to a row of a batch of batch_of(). Returns the number of targets that count.
    virtual std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const = 0;
    /// Fills a row with targets that are all ignored.
    virtual void read_nothing(std::int64_t row, Batch& batch) const = 0;
    /// The number that read() would return.
    virtual std::int64_t counted(std::int64_t sample) const = 0;
};

}  // namespace debubble::exec
