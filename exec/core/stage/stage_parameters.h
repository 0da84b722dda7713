#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <vector>

#include "exec/core/tensor.h"

/// A stage's parameters, as its operators see them.
namespace debubble::exec {

/// Time of one thread: by the clock, and the time for which it had a core. Only differences between
/// readings of now() have a meaning.
struct HostTime {
    std::chrono::nanoseconds clock{};
    std::chrono::nanoseconds on_core{};

    static HostTime now() {
        return {std::chrono::steady_clock::now().time_since_epoch(), on_core_so_far()};
    }
    /// The processor time of the calling thread, in user and in kernel mode.
    static std::chrono::nanoseconds on_core_so_far() {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    }

    HostTime& operator+=(const HostTime& more) {
        clock += more.clock;
        on_core += more.on_core;
        return *this;
    }
    friend HostTime operator+(HostTime a, const HostTime& b) { return a += b; }
    friend HostTime operator-(const HostTime& a, const HostTime& b) {
        return {a.clock - b.clock, a.on_core - b.on_core};
    }
};

// A stage's parameters, as its operators see them.

/// The layers of a pass (nullopt: embedding or head) in the order of their operators; neighbours
/// differ.
using PassOrder = std::vector<std::optional<int>>;

/// Whether a pass reads parameters. A backward-weight reads only activations and their gradients.
enum class PassReads : std::uint8_t { Parameters, NoParameters };

/// Indices are those of StageGraph::parameters; shapes are those of this rank's slice. The slices
/// of the weights of one operator (query, key, value) are contiguous in memory, in their order, and
/// so are those of its biases, so that one GEMM can read them all.
class StageParameters {
public:
    virtual ~StageParameters() = default;
    /// The parameter in the compute type; without data in a pass that reads no parameters and has
    /// none.
    virtual TensorView value(int parameter) = 0;
    virtual TensorView gradient(int parameter) = 0;  ///< backward passes add to it

    /// A buffer, fp32, by its index in StageGraph::buffers.
    virtual TensorView buffer(int /*index*/) { return {}; }
    /// The tokens of each expert of a layer in this step, fp32 [experts]: passes add to it; empty
    /// where they are not counted.
    virtual TensorView expert_loads(int /*layer*/) { return {}; }

    // Called around every pass, and around the operators of each layer in it, so that gathers of
    // parameters and reductions of gradients overlap the computation of other layers.
    virtual void begin_pass(const PassOrder& /*order*/, PassReads /*reads*/) {}
    virtual void open(std::optional<int> /*layer*/) {}
    virtual void close(std::optional<int> /*layer*/) {}
    virtual void end_pass() {}
    /// Whether passes gather their parameters, layer by layer, so that only one runs at a time.
    virtual bool gathers_in_passes() const { return false; }
    /// The time for which these calls have waited for other ranks, in total.
    virtual HostTime communicated() const { return {}; }
};

}  // namespace debubble::exec
