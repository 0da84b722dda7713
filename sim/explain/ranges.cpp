#include "sim/explain/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

/// The relative difference between the memory of a run by this program, or on a machine that it
/// calibrated, and its plan; tests check it.
constexpr double kOwnError = 0.01;

/// The reason why the plan does not fit: the rank, its operator and the excess.
std::string reason_of(const Prediction& out, const RankPrediction& worst, Bytes limit) {
    const Bytes needs = worst.needs();
    std::string reason = fmt::format("rank {} needs {:.2f} GiB at {}", worst.rank.index,
                                     gib(worst.peak_memory), worst.peak_op);
    if (needs > worst.peak_memory)
        reason += fmt::format(", for which the allocator reserves {:.2f} GiB,", gib(needs));
    if (out.headroom >= limit)
        return reason + fmt::format(
                            " and the headroom for context and communication buffers, {:.2f} GiB, "
                            "leaves nothing of a device's {:.2f} GiB",
                            gib(out.headroom), gib(limit));
    if (out.drawn_memory)
        reason += fmt::format(" in P{:.4g} of the drawn loads", 100 * out.drawn_memory->quantile);
    reason += fmt::format(" and a device has {:.2f} GiB", gib(limit));
    if (out.headroom.count > 0)
        reason += fmt::format(", {:.2f} of them for context and communication buffers",
                              gib(out.headroom));
    return reason + fmt::format(": {:.2f} GiB too much", -gib(out.memory_left));
}

Bytes times(Bytes bytes, double factor) {
    return Bytes{static_cast<std::int64_t>(static_cast<double>(bytes.count) * factor)};
}

MemoryVerdict verdict_of(Bytes low, Bytes high, Bytes room) {
    if (low > room) return MemoryVerdict::DoesNotFit;
    return high <= room ? MemoryVerdict::Fits : MemoryVerdict::CannotBeTold;
}

/// Where the requested memory fits and the reserved memory does not, PyTorch returns unused
/// segments and requests them again, step after step: such a plan is not worth starting, although
/// published ones ran.
void judge_memory(Prediction& out, const scenarios::Scenario& scenario) {
    const auto worst = std::ranges::max_element(out.ranks, {}, &RankPrediction::needs);
    if (worst == out.ranks.end()) return;
    const Bytes limit = scenario.cluster.gpu.memory;
    const Bytes room = limit - out.headroom;
    const Bytes needs = worst->needs();
    const Bytes asked = std::ranges::max(out.ranks, {}, &RankPrediction::peak_memory).peak_memory;
    out.memory_left = room - needs;
    out.memory_left_of_requested = room - asked;
    out.fits = out.memory_left.count >= 0;
    out.tight = out.fits && gib(out.memory_left) < kTight * gib(limit);
    const auto residuals = memory_residuals_of(scenario);
    const double low = residuals ? residuals->low : 1 - kOwnError;
    const double high = residuals ? residuals->high : 1 + kOwnError;
    if (residuals)
        out.memory_range = MemoryRange{times(needs, low), times(needs, high), *residuals};
    out.memory_verdict = verdict_of(times(asked, low), times(needs, high), room);
    if (!out.fits) out.reason = reason_of(out, *worst, limit);
}

}  // namespace

std::string_view name_of(MemoryVerdict verdict) {
    switch (verdict) {
        case MemoryVerdict::Fits: return "fits";
        case MemoryVerdict::DoesNotFit: return "does not fit";
        case MemoryVerdict::CannotBeTold: return "cannot be told";
    }
    return "";
}

bool may_fit(Bytes needs, const scenarios::Scenario& scenario) {
    const auto residuals = memory_residuals_of(scenario);
    const double low = std::min(1.0, residuals ? residuals->low : 1 - kOwnError);
    return times(needs, low) <= scenarios::room_of(scenario);
}

void add_ranges(Prediction& out, const scenarios::Scenario& scenario) {
    if (const auto residuals = residuals_of(scenario))
        out.range = StepRange{out.step_time_s * residuals->low, out.step_time_s * residuals->high,
                              *residuals};
    judge_memory(out, scenario);
}

}  // namespace debubble::sim
