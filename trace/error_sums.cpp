#include "trace/compare.h"

#include <algorithm>

#include <fmt/format.h>

namespace debubble {
namespace {

std::string kind_of(const Action& action) {
    return std::visit(Overloaded{
                          [](const Compute& c) { return std::string(1, letter_of(c.pass)); },
                          [](const Recompute&) { return std::string("RECOMPUTE"); },
                          [](const Overlap&) { return std::string("OVERLAP"); },
                          [](const Send&) { return std::string("SEND"); },
                          [](const Recv&) { return std::string("RECV"); },
                          [](const Unshard&) { return std::string("UNSHARD"); },
                          [](const Reshard&) { return std::string("RESHARD"); },
                          [](const ReduceGrad&) { return std::string("REDUCE_GRAD"); },
                          [](const TiedGradReduce&) { return std::string("TIED_GRAD"); },
                          [](const Offload&) { return std::string("OFFLOAD"); },
                          [](const Reload&) { return std::string("RELOAD"); },
                          [](const GradNorm&) { return std::string("GRAD_NORM"); },
                          [](const OptimizerStep&) { return std::string("OPTIMIZER_STEP"); },
                      },
                      action);
}

std::optional<Stage> stage_of_work(const Action& action) {
    if (const auto* compute = std::get_if<Compute>(&action)) return compute->stage;
    if (const auto* recompute = std::get_if<Recompute>(&action)) return recompute->stage;
    if (const auto* overlap = std::get_if<Overlap>(&action)) return overlap->first.stage;
    return std::nullopt;
}

void add_to(ErrorRow& row, const Compared<Duration>& length) {
    ++row.count;
    row.sum.simulated += length.simulated;
    row.sum.executed += length.executed;
    row.apart += apart(length);
}

template <class Key>
std::vector<ErrorRow> rows_of(const std::map<Key, ErrorRow>& rows) {
    std::vector<ErrorRow> out;
    for (const auto& [key, row] : rows) out.push_back(row);
    return out;
}

}  // namespace

std::optional<double> relative_error(const Compared<Duration>& times) {
    if (times.executed == Duration{}) return std::nullopt;
    return seconds(times.simulated) / seconds(times.executed) - 1;
}

Duration apart(const Compared<Duration>& times) {
    return std::max(times.simulated, times.executed) - std::min(times.simulated, times.executed);
}

std::optional<double> ErrorRow::mean_error() const {
    if (sum.executed == Duration{}) return std::nullopt;
    return seconds(apart) / seconds(sum.executed);
}

void ErrorSums::add(const Action& action, const Compared<Duration>& length) {
    const auto* compute = std::get_if<Compute>(&action);
    ErrorRow& kind = kinds_[{action.index(), compute ? compute->pass : Pass{}}];
    if (kind.count == 0) kind.name = kind_of(action);
    add_to(kind, length);
    const auto stage = stage_of_work(action);
    if (!stage) return;
    ErrorRow& row = stages_[*stage];
    if (row.count == 0) row.name = fmt::format("stage {}", stage->index);
    add_to(row, length);
}

std::vector<ErrorRow> ErrorSums::kinds() const {
    return rows_of(kinds_);
}

std::vector<ErrorRow> ErrorSums::stages() const {
    return rows_of(stages_);
}

}  // namespace debubble
