#pragma once

#include <random>
#include <string_view>

#include "gui/viewmodel/timeline/document.h"
#include "schedule/generators/generators.h"
#include "tests/trace/trace_of.h"

/// Small timelines with known instants.
namespace debubble::gui {

inline Instant at(std::int64_t ns) {
    return Instant{Duration{ns}};
}

/// F = I = W = `unit`, a link takes `link`.
inline Trace plan(std::string_view schedule, int ranks, int micro_batches,
                  Duration unit = std::chrono::milliseconds(1), Duration link = {},
                  int stages_per_rank = 1) {
    PipelineCosts costs = unit_costs(unit);
    costs.link = link;
    return trace_of(generate(schedule, {ranks, stages_per_rank, micro_batches}), costs);
}

inline Document document_of(Trace trace) {
    return make_document(std::move(trace), std::nullopt);
}

/// Bars with gaps between some of them.
inline Bars random_bars(std::mt19937& random, std::size_t count) {
    std::uniform_int_distribution<std::int64_t> length(1, 1000);
    std::uniform_int_distribution<std::int64_t> gap(-500, 500);
    Bars bars;
    Instant now = at(length(random));
    for (std::uint32_t i = 0; i < count; ++i) {
        now += Duration{std::max<std::int64_t>(gap(random), 0)};
        const Instant end = now + Duration{length(random)};
        bars.push_back({now, end, i});
        now = end;
    }
    return bars;
}

}  // namespace debubble::gui
