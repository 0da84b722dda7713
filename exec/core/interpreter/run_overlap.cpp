#include "exec/core/interpreter/run_step.h"

#include <algorithm>
#include <array>
#include <optional>

#include "models/graph/turns.h"

namespace debubble::exec {

namespace {

/// One pass of the pair, with a record of its parts.
class Recorded {
public:
    Recorded(const OverlapSide& side, Recorder& recorder) : side_(side), recorder_(recorder) {}

    void run_outside() {
        layer_.reset();
        const Moment begin = recorder_.now();
        side_.pass.run_outside();
        recorder_.pair_part(side_.action, PairStep::Outside, layer_, begin, recorder_.now());
    }
    bool begin_layer() {
        const std::optional<int> next = side_.pass.begin_layer();
        in_layer_ = next.has_value();
        computed_ = all_to_alls_ = 0;
        layer_ = next;
        return in_layer_;
    }
    void compute() {
        if (!in_layer_ || (side_.pass.layer_is_done() && !asked_)) return;
        if (asked_)
            recorder_.pair_part(side_.action, all_to_all_step(), layer_, side_.pass.await());
        asked_ = false;
        const Moment begin = recorder_.now();
        side_.pass.compute();
        recorder_.pair_part(side_.action, compute_step(), layer_, begin, recorder_.now());
    }
    void exchange() {
        if (in_layer_) asked_ = side_.pass.all_to_all() || asked_;
    }
    void weights() {
        if (!in_layer_ || asked_ || side_.pass.layer_is_done()) return;
        const Moment begin = recorder_.now();
        if (side_.pass.weights())
            recorder_.pair_part(side_.action, weights_step(), layer_, begin, recorder_.now());
    }
    /// Further all-to-alls than the two of a layer follow each other.
    void finish_layer() {
        compute();
        weights();
        while (in_layer_ && !side_.pass.layer_is_done()) {
            exchange();
            compute();
            weights();
        }
    }

private:
    /// A layer without experts is computed as one.
    PairStep compute_step() {
        using enum PairStep;
        constexpr std::array kForward{Attention, Experts, Combine};
        constexpr std::array kBackward{Combine, Experts, Attention};
        const std::size_t at = std::min<std::size_t>(computed_++, 2);
        if (at == 1 && all_to_alls_ == 0) return Attention;  // after the weights of a dense MLP
        if (at == 0 && (side_.pass.layer_is_done() || !side_.pass.all_to_all_is_next()))
            return Experts;
        return forward() ? kForward[at] : kBackward[at];
    }
    PairStep all_to_all_step() {
        const bool first = all_to_alls_++ == 0;
        return first == forward() ? PairStep::Dispatch : PairStep::Combine;
    }
    PairStep weights_step() {
        return side_.pass.layer_is_done() ? PairStep::AttentionWeights : PairStep::ExpertWeights;
    }
    bool forward() const { return side_.action.pass == Pass::Forward; }

    const OverlapSide& side_;
    Recorder& recorder_;
    bool in_layer_ = false;
    bool asked_ = false;
    std::optional<int> layer_;
    std::size_t computed_ = 0;     ///< computes of the layer
    std::size_t all_to_alls_ = 0;  ///< all-to-alls of the layer
};

}  // namespace

void run_overlap(const OverlapSide& forward, const OverlapSide& backward, Recorder& recorder) {
    Recorded f(forward, recorder), b(backward, recorder);
    models::take_turns(f, b);
}

}  // namespace debubble::exec
