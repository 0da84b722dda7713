#include "gui/viewmodel/what_if/held_tensors.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/parallel.h"
#include "gui/viewmodel/timeline/words.h"
#include "scenarios/plan/plan.h"
#include "sim/memory/memory_play.h"
#include "text/wording.h"
#include "trace/picture/subject.h"

namespace debubble::gui {
namespace {

/// The times of a rank's actions, in the order of its list. An action without a span, such as
/// dropping parameters, takes no time after the previous action.
std::vector<sim::ActionTimes> times_of(const Trace& trace, Rank rank) {
    std::map<Action, std::vector<const Span*>> spans;
    for (const Span& span : trace.spans)
        if (span.rank == rank && span.replica == 0) spans[span.action].push_back(&span);
    for (auto& [action, of_action] : spans)
        std::ranges::stable_sort(of_action, std::ranges::greater{}, &Span::begin);
    std::vector<sim::ActionTimes> times;
    Instant now{};
    for (const Action& action : trace.program.ranks[rank.index]) {
        const auto found = spans.find(action);
        if (found == spans.end() || found->second.empty()) {
            times.push_back({now, now});
            continue;
        }
        const Span& span = *found->second.back();  // the earliest that is left
        found->second.pop_back();
        times.push_back({span.begin, span.end});
        now = span.end;
    }
    return times;
}

/// The name with "*" for the layer's number, so that tensors of several layers have equal names.
std::string without_layer(const std::string& name) {
    std::string text;
    for (std::size_t i = 0; i < name.size();) {
        const std::size_t dot = std::min(name.find('.', i), name.size());
        const std::string part = name.substr(i, dot - i);
        const bool number =
            !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
        text += (text.empty() ? "" : ".") + (number ? std::string("*") : part);
        i = dot + 1;
    }
    return text;
}

HeldRow row_of(const sim::HeldTensor& tensor) {
    HeldRow row;
    row.name = tensor.tensor.value_or("");
    row.bytes = tensor.bytes;
    if (tensor.born) {
        const picture::Subject subject = picture::subject_of(*tensor.born);
        if (subject.stage) row.stage = std::to_string(subject.stage->index);
        if (subject.micro_batch) row.micro_batch = to_text(*subject.micro_batch);
        row.born = to_text(*tensor.born);
    }
    if (tensor.freed) row.dies = to_text(*tensor.freed);
    return row;
}

HeldRow& child(std::vector<HeldRow>& rows, const std::string& name) {
    const auto at = std::ranges::find(rows, name, &HeldRow::name);
    if (at != rows.end()) return *at;
    rows.push_back({name, {}, {}, {}, {}, {}, {}});
    return rows.back();
}

/// Sets the values that are equal in all parts.
void set_common_values(HeldRow& row) {
    const auto common = [&](std::string HeldRow::*of) {
        const bool same = std::ranges::all_of(
            row.parts, [&](const HeldRow& part) { return part.*of == row.parts.front().*of; });
        if (same && !row.parts.empty()) row.*of = row.parts.front().*of;
    };
    for (auto of : {&HeldRow::stage, &HeldRow::micro_batch, &HeldRow::born, &HeldRow::dies})
        common(of);
}

void sort_rows(std::vector<HeldRow>& rows) {
    std::ranges::stable_sort(rows, std::ranges::greater{}, &HeldRow::bytes);
    for (HeldRow& row : rows) sort_rows(row.parts);
}

/// Tensors of an action, with one row for those that differ only by their layer.
std::vector<HeldRow> merged(const std::vector<HeldRow>& tensors) {
    std::vector<HeldRow> rows;
    std::vector<std::size_t> counts;
    for (const HeldRow& tensor : tensors) {
        const std::string name = without_layer(tensor.name);
        const auto at = std::ranges::find_if(
            rows, [&](const HeldRow& row) { return row.name == name && row.dies == tensor.dies; });
        if (at == rows.end()) {
            rows.push_back(tensor);
            rows.back().name = name;
            counts.push_back(1);
        } else {
            at->bytes += tensor.bytes;
            ++counts[at - rows.begin()];
        }
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (counts[i] > 1) rows[i].name += filled(said("details", ", {} of them"), counts[i]);
    return rows;
}

}  // namespace

std::optional<HeldAtPeak> held_at_peak(const PredictedPlan& plan, Rank rank,
                                       const std::stop_token& stop) {
    const Trace& trace = plan.document->trace;
    if (rank.index < 0 || std::cmp_greater_equal(rank.index, trace.program.ranks.size()))
        return std::nullopt;
    give_up_if(stop);
    const sim::PlayedMemory played = sim::tensors_at_peak(
        plan.played, scenarios::partition_of(plan.played, trace.program.placement.stage_count()),
        trace.program, rank, times_of(trace, rank));
    give_up_if(stop);
    HeldAtPeak held{rank, {}, {}, {}};
    for (const sim::HeldTensor& tensor : played.largest) {
        held.bytes += tensor.bytes;
        HeldRow& of_class = child(held.rows, std::string(name_of(tensor.held_as)));
        of_class.bytes += tensor.bytes;
        if (!tensor.born) continue;
        HeldRow& of_action = child(of_class.parts, to_text(*tensor.born));
        of_action.bytes += tensor.bytes;
        of_action.parts.push_back(row_of(tensor));
    }
    for (HeldRow& of_class : held.rows)
        for (HeldRow& of_action : of_class.parts) {
            set_common_values(of_action);
            of_action.parts = merged(of_action.parts);
        }
    sort_rows(held.rows);
    held.when = filled(said("details", "{} GiB at {} {}"), text::gib_text(held.bytes),
                       played.action, played.op);
    return held;
}

}  // namespace debubble::gui
