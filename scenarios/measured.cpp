#include "scenarios/measured.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/operator_signature.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using models::Collective;
using models::Part;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;

constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kLongestSignature = 1000;
constexpr int kMostMeasurements = 1'000'000'000;
constexpr int kMostMembers = 1'000'000;
constexpr double kMostSecondsPerElement = 1;

constexpr std::pair<std::string_view, Part> kParts[] = {{"forward", Part::Forward},
                                                        {"recompute", Part::Again},
                                                        {"backward", Part::Fused},
                                                        {"backward_input", Part::Input},
                                                        {"backward_weight", Part::Weight}};
constexpr std::pair<std::string_view, Collective::Kind> kCollectives[] = {
    {"all_reduce", Collective::Kind::AllReduce},
    {"all_gather", Collective::Kind::AllGather},
    {"reduce_scatter", Collective::Kind::ReduceScatter},
    {"all_to_all", Collective::Kind::AllToAll}};

/// Calls read(item) for each item of a list that may be missing.
template <class Read>
void for_each_item(const NodePtr& list, std::string_view name, Mistakes& mistakes,
                   const Read& read) {
    if (!list) return;
    if (!list->is(Node::Kind::List)) {
        mistakes.add(list->place,
                     fmt::format("'{}' must be a list, not {}", name, describe(*list)));
        return;
    }
    if (list->items.size() > kMostEntries) {
        mistakes.add(list->place, fmt::format("'{}' has {} entries; at most {} are allowed", name,
                                              list->items.size(), kMostEntries));
        return;
    }
    for (const NodePtr& item : list->items) read(item);
}

void read_operator(const NodePtr& item, Measured& measured, Mistakes& mistakes) {
    MappingReader in(item, "measured.operators", mistakes);
    std::string signature;
    Part part{};
    MeasuredOperator found;
    for (const std::string_view key : {"operator", "part", "median"}) in.demand(key);
    in.text("operator", signature);
    in.word("part", part, kParts);
    in.duration("median", found.median);
    in.duration("deviation", found.deviation);
    in.whole("samples", found.samples, 1, kMostMeasurements);
    in.finish();
    if (signature.size() > kLongestSignature)
        in.complain("operator", fmt::format("the text of an operator has at most {} characters",
                                            kLongestSignature));
    if (!in.good()) return;
    if (!measured.operators.try_emplace({signature, part}, found).second)
        in.complain("operator", fmt::format("the {} of this operator was measured above already",
                                            name_of(part)));
}

void read_collective(const NodePtr& item, Measured& measured, Mistakes& mistakes) {
    MappingReader in(item, "measured.collectives", mistakes);
    Collective::Kind kind{};
    int ranks = 2;
    MeasuredCollective found;
    for (const std::string_view key : {"kind", "ranks", "latency", "bandwidth"}) in.demand(key);
    in.word("kind", kind, kCollectives);
    in.whole("ranks", ranks, 2, kMostMembers);
    in.duration("latency", found.latency);
    in.rate("bandwidth", found.bandwidth);
    in.finish();
    if (!in.good()) return;
    if (!measured.collectives.try_emplace({kind, ranks}, found).second)
        in.complain("kind",
                    fmt::format("this collective over {} ranks was measured above already", ranks));
}

template <class E>
std::string_view word_of(text::Words<E> words, E value) {
    const auto at = std::ranges::find(words, value, [](const auto& entry) { return entry.second; });
    return at == words.end() ? std::string_view{} : at->first;
}

}  // namespace

std::string yaml_quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

const MeasuredOperator* Measured::find(const std::string& signature, models::Part part) const {
    const auto at = operators.find({signature, part});
    return at == operators.end() ? nullptr : &at->second;
}

std::shared_ptr<const Measured> read_measured(const NodePtr& section, Mistakes& mistakes) {
    MappingReader in(section, "measured", mistakes);
    auto measured = std::make_shared<Measured>();
    in.text("with", measured->with);
    in.duration("pass_overhead", measured->pass_overhead);
    in.duration("step_overhead", measured->step_overhead);
    for (const std::string_view key : {"operators", "optimizer_seconds_per_element"})
        in.demand(key);
    in.real("optimizer_seconds_per_element", measured->optimizer_seconds_per_element, 0,
            kMostSecondsPerElement);
    in.real("norm_seconds_per_element", measured->norm_seconds_per_element, 0,
            kMostSecondsPerElement);
    for_each_item(in.value("collectives"), "measured.collectives", mistakes,
                  [&](const NodePtr& item) { read_collective(item, *measured, mistakes); });
    for_each_item(in.value("operators"), "measured.operators", mistakes,
                  [&](const NodePtr& item) { read_operator(item, *measured, mistakes); });
    in.finish();
    return measured;
}

std::string measured_text(const Measured& measured) {
    std::string out = fmt::format(
        "measured:\n  with: {}\n  pass_overhead: {} ns\n  step_overhead: {} ns\n"
        "  optimizer_seconds_per_element: {}\n  norm_seconds_per_element: {}\n  collectives:{}\n",
        yaml_quoted(measured.with), measured.pass_overhead.count(), measured.step_overhead.count(),
        measured.optimizer_seconds_per_element, measured.norm_seconds_per_element,
        measured.collectives.empty() ? " []" : "");
    for (const auto& [key, found] : measured.collectives)
        out += fmt::format("    - {{kind: {}, ranks: {}, latency: {} ns, bandwidth: {} B/s}}\n",
                           word_of<Collective::Kind>(kCollectives, key.first), key.second,
                           found.latency.count(), found.bandwidth.value);
    out += measured.operators.empty() ? "  operators: []\n" : "  operators:\n";
    for (const auto& [key, found] : measured.operators)
        out += fmt::format(
            "    - operator: {}\n      part: {}\n      median: {} ns\n      deviation: {} ns\n"
            "      samples: {}\n",
            yaml_quoted(key.first), name_of(key.second), found.median.count(),
            found.deviation.count(), found.samples);
    return out;
}

}  // namespace debubble::scenarios
