#include "trace/executed_order.h"

#include <cmath>

#include <fmt/format.h>

namespace debubble {
namespace {

void check_hash(const Program& program, const Trace& trace, Sentences& sentences) {
    constexpr std::size_t kShown = 12;
    const std::string hash = program_hash(program);
    const std::string& named = trace.header.program_hash;
    if (named != hash)
        sentences.add(fmt::format("the trace is of program {}, not of {}",
                                  named.empty() ? "(no hash)" : named.substr(0, kShown),
                                  hash.substr(0, kShown)));
}

void check_peaks(const Trace& trace, const OrderOptions& options, Sentences& sentences) {
    if (options.planned_peaks.empty()) return;
    if (trace.peaks.size() != options.planned_peaks.size())
        return sentences.add(fmt::format("memory peaks of {} ranks are recorded, {} were planned",
                                         trace.peaks.size(), options.planned_peaks.size()));
    for (std::size_t rank = 0; rank < trace.peaks.size(); ++rank) {
        const Bytes planned = options.planned_peaks[rank];
        const Bytes held = total(trace.peaks[rank].held);
        const auto apart = static_cast<double>((held - planned).count);
        if (std::abs(apart) > options.memory_tolerance * static_cast<double>(planned.count))
            sentences.add(fmt::format("rank {} held {} bytes at its peak, in {}; {} were planned",
                                      rank, held.count, trace.peaks[rank].action, planned.count));
    }
}

}  // namespace

std::vector<std::string> executed_in_order(const Program& program, const Trace& trace,
                                           const OrderOptions& options) {
    Sentences sentences;
    check_hash(program, trace, sentences);
    const Execution execution = match_lists(program, trace, sentences);
    if (sentences.empty()) check_times(program, trace, execution, sentences);
    check_peaks(trace, options, sentences);
    return std::move(sentences).take();
}

}  // namespace debubble
