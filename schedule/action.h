#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"
#include "base/overloaded.h"

/// An action of one rank. Its cost and its execution are not known here: the simulator and the
/// executor each give it a meaning.
namespace debubble {

/// A tensor that crosses a stage boundary. A Send and a Recv belong together exactly when their
/// messages are equal.
struct Message {
    enum class Kind : std::uint8_t { Activation, Gradient };
    Kind kind{};
    Stage producer;  ///< the stage that computed it; its consumer is the next (previous) one
    MicroBatch micro_batch;
    friend auto operator<=>(const Message&, const Message&) = default;
};

/// F, B (the full backward), I (backward-input), W (backward-weight).
enum class Pass : std::uint8_t { Forward, Backward, BackwardInput, BackwardWeight };

struct Compute {
    Pass pass{};
    Stage stage;
    MicroBatch micro_batch;
    friend auto operator<=>(const Compute&, const Compute&) = default;
};

/// Recomputes a stage's forward from its saved input, just before its backward.
struct Recompute {
    Stage stage;
    MicroBatch micro_batch;
    friend auto operator<=>(const Recompute&, const Recompute&) = default;
};

/// Two computes carried out at the same time on one rank (DualPipe's F&B).
struct Overlap {
    Compute first;
    Compute second;
    friend auto operator<=>(const Overlap&, const Overlap&) = default;
};

struct Send {
    Message message;
    Rank to;
    friend auto operator<=>(const Send&, const Send&) = default;
};

struct Recv {
    Message message;
    Rank from;
    friend auto operator<=>(const Recv&, const Recv&) = default;
};

/// Gathers the sharded parameters of a stage (ZeRO-1 after the step, ZeRO-3 before use).
struct Unshard {
    Stage stage;
    friend auto operator<=>(const Unshard&, const Unshard&) = default;
};

/// Drops the parameters that Unshard gathered.
struct Reshard {
    Stage stage;
    friend auto operator<=>(const Reshard&, const Reshard&) = default;
};

/// All-reduce (ZeRO-0) or reduce-scatter of a stage's gradients over data and
/// context parallel ranks and over every holder of the stage.
struct ReduceGrad {
    Stage stage;
    friend auto operator<=>(const ReduceGrad&, const ReduceGrad&) = default;
};

/// Sums the gradient of a tied tensor over the stages that hold a copy of it.
struct TiedGradReduce {
    Stage stage;
    friend auto operator<=>(const TiedGradReduce&, const TiedGradReduce&) = default;
};

/// Moves a microbatch's saved activations of a stage to host memory; Reload moves them back.
struct Offload {
    Stage stage;
    MicroBatch micro_batch;
    friend auto operator<=>(const Offload&, const Offload&) = default;
};
struct Reload {
    Stage stage;
    MicroBatch micro_batch;
    friend auto operator<=>(const Reload&, const Reload&) = default;
};

/// All-reduce of gradient norm and overflow flag over all ranks.
struct GradNorm {
    friend auto operator<=>(const GradNorm&, const GradNorm&) = default;
};

struct OptimizerStep {
    friend auto operator<=>(const OptimizerStep&, const OptimizerStep&) = default;
};

using Action = std::variant<Compute, Recompute, Overlap, Send, Recv, Unshard, Reshard, ReduceGrad,
                            TiedGradReduce, Offload, Reload, GradNorm, OptimizerStep>;

/// The letter of the text form: F, B, I, W.
char letter_of(Pass pass);

/// "3", or "3.1" for slice 1 of microbatch 3.
std::string to_text(const MicroBatch& micro_batch);

/// The action's text: PyTorch's where it has one, "2F0", "1SEND_F3", "1UNSHARD",
/// "(0F7;7B3)OVERLAP_F_B"; our own beyond that, "2F0.1" (slice 1), "2R0", "2OFFLOAD0", "2RELOAD0",
/// "2TIED_GRAD", "GRAD_NORM", "OPTIMIZER_STEP". A SEND is written with its sender's stage, a RECV
/// with its receiver's; the peer rank is not written.
std::string to_text(const Action& action);
/// Appends the same text to `text`; programs have many actions.
void append_text(std::string& text, const Action& action);

/// Calls `visit(const Compute&)` for the one compute of a Compute, both of an
/// Overlap, none of any other action.
template <class Visitor>
void for_each_compute(const Action& action, Visitor&& visit) {
    if (const auto* compute = std::get_if<Compute>(&action)) {
        visit(*compute);
    } else if (const auto* overlap = std::get_if<Overlap>(&action)) {
        visit(overlap->first);
        visit(overlap->second);
    }
}

}  // namespace debubble
