#include "sim/cost/passes/pair_time.h"

#include <algorithm>
#include <array>
#include <limits>

namespace debubble::sim {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kNoEnd = std::numeric_limits<double>::infinity();

class PairPlayer {
public:
    PairPlayer(const std::vector<IssuedPart>& issued, const PairLanes& lanes)
        : issued_(issued), lanes_(lanes), before_(issued.size(), kNone), state_(issued.size()) {
        std::array<std::size_t, 2> last{kNone, kNone};
        std::array<double, 2> sums{};  // seconds of kernels and of all-to-alls
        for (const IssuedPart& part : issued) sums[part.exchange] += part.seconds;
        const double waits = lanes.waits.relative_to(sums[1], sums[0]);
        for (std::size_t i = 0; i < issued.size(); ++i) {
            state_[i].left = issued[i].seconds;
            if (issued[i].exchange) state_[i].late = waits * issued[i].seconds;
            queues_[issued[i].exchange].push_back(i);
            if (issued[i].alone) continue;
            before_[i] = last[issued[i].forward];
            last[issued[i].forward] = i;
        }
    }

    PlayedPair play() {
        while (next_[0] < queues_[0].size() || next_[1] < queues_[1].size()) {
            start();
            advance(soonest());
            finish();
        }
        result_.seconds = now_;
        for (std::size_t i = 0; i < issued_.size(); ++i) {
            const IssuedPart& part = issued_[i];
            if (state_[i].end > state_[i].begin)
                result_.parts.push_back({part.step, part.forward, part.exchange, part.layer,
                                         state_[i].begin, state_[i].end,
                                         part.products / (state_[i].end - state_[i].begin)});
        }
        return std::move(result_);
    }

private:
    struct State {
        double left = 0;
        double late = 0;  ///< by which the last rank starts it later
        double wait = 0;  ///< of it before, on the last rank
        double sent_at = 0;
        double begin = 0;
        double end = 0;
        bool reached = false;  ///< by the host
        bool sent = false;     ///< by the host: all of its kernels, or an all-to-all's
        bool begun = false;
        bool done = false;
    };
    bool ready(std::size_t i) const { return before_[i] == kNone || state_[before_[i]].done; }
    std::size_t head(std::size_t stream) const {
        return next_[stream] < queues_[stream].size() ? queues_[stream][next_[stream]] : kNone;
    }

    /// A layer without experts has no all-to-all, and has nothing to count.
    bool awaits_counts(const IssuedPart& part) const {
        return lanes_.awaits_counts && part.exchange && part.forward && part.seconds > 0;
    }

    void start() {
        if (at_ < issued_.size() && !state_[at_].reached) {
            if (!awaits_counts(issued_[at_]) || ready(at_)) {
                state_[at_].reached = true;
                host_left_ = lanes_.host * issued_[at_].host;
            }
        }
        for (std::size_t stream = 0; stream < 2; ++stream) {
            const std::size_t i = head(stream);
            if (i == kNone || state_[i].begun || !ready(i)) continue;
            if (!(stream == 0 ? state_[i].reached : state_[i].sent)) continue;
            state_[i].begun = true;
            state_[i].begin = now_;
            if (stream == 1) state_[i].wait = std::max(0.0, last_rank_comes(i) - now_);
        }
    }
    /// The last rank is as late again with its part of the next all-to-all, whatever the stream
    /// does meanwhile.
    double last_rank_comes(std::size_t i) const {
        const double computed = before_[i] == kNone ? 0 : state_[before_[i]].end;
        return std::max(computed, state_[i].sent_at) + state_[i].late;
    }
    /// Whether the stream is busy, and not just waiting for the host's next kernel.
    bool runs(std::size_t stream) const {
        const std::size_t i = head(stream);
        return i != kNone && state_[i].begun && state_[i].left > 0;
    }
    /// Whether the running part of the stream is complete.
    bool ends(std::size_t stream) const {
        const std::size_t i = head(stream);
        return i != kNone && state_[i].begun && state_[i].sent && state_[i].left == 0;
    }
    double rate(std::size_t stream) const {
        if (!runs(1 - stream)) return 1;
        return stream == 0 ? 1 - lanes_.contention.slowed : 1 / lanes_.contention.stretch;
    }
    bool issuing() const { return at_ < issued_.size() && state_[at_].reached; }
    double least() const { return kLeast * lanes_.host * issued_[at_].host; }
    /// The host's time until the part is launched, or until its work after the part is done.
    double host_goes_on() const {
        return state_[at_].sent ? host_left_ : host_left_ - lanes_.host * issued_[at_].after;
    }
    double soonest() const {
        double step = issuing() ? host_goes_on() : kNoEnd;
        for (std::size_t stream = 0; stream < 2; ++stream) {
            if (ends(stream)) return 0;
            if (!runs(stream)) continue;
            const State& state = state_[head(stream)];
            step = std::min(step, state.wait > 0 ? state.wait : state.left / rate(stream));
        }
        return step == kNoEnd ? 0 : step;
    }
    void advance(double step) {
        const std::array<bool, 2> busy{runs(0), runs(1)};
        const std::array<double, 2> rates{rate(0), rate(1)};
        for (std::size_t stream = 0; stream < 2; ++stream)
            if (busy[stream]) {
                State& state = state_[head(stream)];
                double& left = state.wait > 0 ? state.wait : state.left;
                left -= state.wait > 0 ? step : step * rates[stream];
                if (left < kLeast * issued_[head(stream)].seconds) left = 0;
            }
        if (issuing()) host_left_ = std::max(0.0, host_left_ - step);
        if (!busy[0]) (busy[1] ? result_.exposed : result_.idle) += step;
        now_ += step;
    }
    void finish() {
        if (issuing() && !state_[at_].sent && host_goes_on() <= least()) {
            state_[at_].sent = true;
            state_[at_].sent_at = now_;
        }
        if (issuing() && host_left_ <= least()) ++at_;
        for (std::size_t stream = 0; stream < 2; ++stream) {
            if (!ends(stream)) continue;
            const std::size_t i = head(stream);
            state_[i].done = true;
            state_[i].end = now_;
            ++next_[stream];
        }
    }

    static constexpr double kLeast = 1e-12;  ///< of a part: below rounding errors
    const std::vector<IssuedPart>& issued_;
    const PairLanes& lanes_;
    std::vector<std::size_t> before_;  ///< part of its pass for which each waits
    std::vector<State> state_;
    std::array<std::vector<std::size_t>, 2> queues_;  ///< of the streams: kernels, all-to-alls
    std::array<std::size_t, 2> next_{};
    std::size_t at_ = 0;  ///< issued by the host
    double host_left_ = 0;
    double now_ = 0;
    PlayedPair result_;
};

}  // namespace

PlayedPair play(const std::vector<IssuedPart>& issued, const PairLanes& lanes) {
    return PairPlayer(issued, lanes).play();
}

}  // namespace debubble::sim
