#include "trace/action_log.h"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/dependencies.h"
#include "trace/executed_order.h"

namespace debubble {
namespace {

std::string said(const Action& action) {
    return words(action);
}
std::string said(const Recv& recv) {
    return words(Action{recv});
}
std::string said(const Message& message) {
    const MicroBatch& mb = message.micro_batch;
    return fmt::format("the {} of stage {} for microbatch {}{}",
                       message.kind == Message::Kind::Activation ? "activation" : "gradient",
                       message.producer.index, mb.index,
                       mb.slice ? fmt::format(", slice {}", *mb.slice) : "");
}

/// The first difference between two lists. `verb` says what the rank did with each entry.
template <class T>
std::optional<std::string> first_difference(const std::vector<T>& expected,
                                            const std::vector<T>& log, const char* verb) {
    if (expected == log) return std::nullopt;
    const auto [listed, done] = std::ranges::mismatch(expected, log);
    if (listed == expected.end())
        return fmt::format("{} {} beyond the end of its list", verb, said(*done));
    const auto place = fmt::format("({} of {})", listed - expected.begin() + 1, expected.size());
    if (done == log.end()) return fmt::format("never {} {} {}", verb, said(*listed), place);
    return fmt::format("{} {} where its list has {} {}", verb, said(*done), said(*listed), place);
}

}  // namespace

void ActionLog::clear() {
    actions.clear();
    receives.clear();
    results.clear();
}

ActionLog log_of(const ActionList& list, int stage_count) {
    ActionLog log;
    const auto take_input = [&](const Compute& c) {
        if (const auto input = neighbour_input_of(c, stage_count)) log.results.push_back(*input);
    };
    for (const Action& action : list) {
        for_each_compute(action, take_input);
        if (const auto* overlap = std::get_if<Overlap>(&action)) {
            log.actions.insert(log.actions.end(), {overlap->first, overlap->second});
        } else if (const auto* recv = std::get_if<Recv>(&action)) {
            log.receives.push_back(*recv);
        } else {
            if (const auto* send = std::get_if<Send>(&action)) log.results.push_back(send->message);
            log.actions.push_back(action);
        }
    }
    return log;
}

std::optional<std::string> first_difference(const ActionLog& expected, const ActionLog& log) {
    if (auto difference = first_difference(expected.actions, log.actions, "ran")) return difference;
    if (auto difference = first_difference(expected.receives, log.receives, "requested"))
        return difference;
    return first_difference(expected.results, log.results, "took");
}

}  // namespace debubble
