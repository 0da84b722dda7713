#include "scenarios/cluster/measured.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/graph/operator_runs.h"
#include "text/fields.h"
#include "text/mapping_reader.h"

namespace debubble::scenarios {
namespace {

using models::Collective;
using models::Part;
using text::custom;
using text::described;
using text::duration;
using text::Fields;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;
using text::rate;
using text::read_fields;
using text::real;
using text::required;
using text::whole;
using text::word;

constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kLongestSignature = 1000;
constexpr int kMostMeasurements = 1'000'000'000;
constexpr int kMostMembers = 1'000'000;
constexpr double kMostSecondsPerElement = 1;
constexpr double kLeastCoreShare = 1e-6;

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

struct OperatorEntry {
    std::string signature;
    Part part{};
    MeasuredOperator found;
};

auto in_found(auto member) {
    return [member](auto& entry) -> decltype(auto) { return (entry.found.*member); };
}

const Fields<OperatorEntry>& operator_fields() {
    static const Fields<OperatorEntry> kFields{
        {"operator", required(free_text(&OperatorEntry::signature)),
         "The operator with its sizes and types, as written by `calibrate`.", "norm rms [8x512]"},
        {"part", required(word(&OperatorEntry::part, kParts)), "The pass of the operator.",
         "forward"},
        {"median", required(duration(in_found(&MeasuredOperator::median))),
         "The median of the measured times.", "12 us"},
        {"deviation", duration(in_found(&MeasuredOperator::deviation)),
         "The median absolute deviation.", "1 us"},
        {"samples",
         whole(in_found(&MeasuredOperator::samples), 1, kMostMeasurements, "measurements"),
         "The number of measurements.", "20"}};
    return kFields;
}

struct CollectiveEntry {
    Collective::Kind kind{};
    int ranks = 2;
    MeasuredCollective found;
};

const Fields<CollectiveEntry>& collective_fields() {
    static const Fields<CollectiveEntry> kFields{
        {"kind", required(word(&CollectiveEntry::kind, kCollectives)), "The collective.",
         "all_reduce"},
        {"ranks", required(whole(&CollectiveEntry::ranks, 2, kMostMembers, "ranks")),
         "The number of ranks of the group.", "4"},
        {"latency", required(duration(in_found(&MeasuredCollective::latency))),
         "The latency: the time of a collective of no bytes.", "20 us"},
        {"bandwidth", required(rate(in_found(&MeasuredCollective::bandwidth))),
         "The bandwidth: the bytes of the full tensor divided by the rest of the time.", "5 GB/s"}};
    return kFields;
}

void read_operator(const NodePtr& item, Measured& measured, Mistakes& mistakes) {
    MappingReader in(item, "measured.operators", mistakes);
    OperatorEntry entry;
    read_fields(in, operator_fields(), entry);
    in.finish();
    const auto& [signature, part, found] = entry;
    if (signature.size() > kLongestSignature)
        in.complain("operator", fmt::format("the text of an operator has at most {} characters",
                                            kLongestSignature));
    if (!in.good()) return;
    if (!measured.operators.try_emplace({signature, part}, found).second)
        in.complain("operator",
                    fmt::format("the {} of this operator is given twice", name_of(part)));
}

void read_collective(const NodePtr& item, Measured& measured, Mistakes& mistakes) {
    MappingReader in(item, "measured.collectives", mistakes);
    CollectiveEntry entry;
    read_fields(in, collective_fields(), entry);
    in.finish();
    const auto& [kind, ranks, found] = entry;
    if (!in.good()) return;
    if (!measured.collectives.try_emplace({kind, ranks}, found).second)
        in.complain("kind", fmt::format("this collective over {} ranks is given twice", ranks));
}

struct ProductEntry {
    std::string product;
    std::string algorithm;
};

const Fields<ProductEntry>& product_fields() {
    static const Fields<ProductEntry> kFields{
        {"product", required(free_text(&ProductEntry::product)),
         "The GEMM with its sizes, types and layouts, as written by `calibrate`.",
         "'16384x768x768, a bf16 in rows of 768 by 256'"},
        {"algorithm", required(free_text(&ProductEntry::algorithm)),
         "The library's version and its identifier of the algorithm.", "130102:00000000"}};
    return kFields;
}

void read_product(const NodePtr& item, Measured& measured, Mistakes& mistakes) {
    MappingReader in(item, "measured.products", mistakes);
    ProductEntry entry;
    read_fields(in, product_fields(), entry);
    in.finish();
    for (const auto& [key, text] :
         {std::pair{"product", &entry.product}, std::pair{"algorithm", &entry.algorithm}})
        if (text->size() > kLongestSignature)
            in.complain(key, fmt::format("the text has at most {} characters", kLongestSignature));
    if (!in.good()) return;
    if (!measured.products.try_emplace(entry.product, entry.algorithm).second)
        in.complain("product", "the algorithm of this GEMM is given twice");
}

void read_products(MappingReader& in, std::string_view key, Measured& measured) {
    for_each_item(in.value(key), "measured.products", in.mistakes(),
                  [&](const NodePtr& item) { read_product(item, measured, in.mistakes()); });
}

void read_collectives(MappingReader& in, std::string_view key, Measured& measured) {
    for_each_item(in.value(key), "measured.collectives", in.mistakes(),
                  [&](const NodePtr& item) { read_collective(item, measured, in.mistakes()); });
}

void read_operators(MappingReader& in, std::string_view key, Measured& measured) {
    for_each_item(in.value(key), "measured.operators", in.mistakes(),
                  [&](const NodePtr& item) { read_operator(item, measured, in.mistakes()); });
}

void read_plans(MappingReader& in, std::string_view key, Measured& measured) {
    in.texts(key, measured.plans);
}

const Fields<Measured>& measured_fields() {
    static const Fields<Measured> kFields{
        {"with", free_text(&Measured::with),
         "The kernels, threads and versions that were measured.", "onednn, 1 thread", "none"},
        {"plans", custom(read_plans, {Form{text::ListForm{{Form{text::TextForm{}}}, {}}}}),
         "The training runs that were timed.", "[gpt2 on 2 x CPU, pipeline 2; 1f1b]",
         "none is stated"},
        {"pass_overhead", duration(&Measured::pass_overhead),
         "Time added to each pass, in addition to its operators.", "10 us"},
        {"step_overhead", duration(&Measured::step_overhead),
         "Time added between two steps, spent by the host outside their actions.", "100 us"},
        {"core_share", real(&Measured::core_share, kLeastCoreShare, 1),
         "The share of time for which the timed threads had a core, if others used the machine "
         "meanwhile: the times are then too long.",
         "0.58", "the machine was idle, or this is unknown"},
        {"optimizer_seconds_per_element",
         required(
             real(&Measured::optimizer_seconds_per_element, 0, kMostSecondsPerElement, "seconds")),
         "The time of the optimizer step per parameter.", "1e-9"},
        {"zero_seconds_per_element",
         real(&Measured::zero_seconds_per_element, 0, kMostSecondsPerElement, "seconds"),
         "The time to zero the gradients before a step, per gradient.", "1e-10"},
        {"norm_seconds_per_element",
         real(&Measured::norm_seconds_per_element, 0, kMostSecondsPerElement, "seconds"),
         "The time of the gradient norm per parameter, if a step computes it.", "1e-10"},
        {"collectives",
         custom(read_collectives,
                {Form{text::ListForm{{Form{text::MapForm{described(collective_fields())}}}, {}}}}),
         "The measured collectives.",
         "[{kind: all_reduce, ranks: 2, latency: 20 us, bandwidth: 5 GB/s}]",
         "none: they follow from the rates"},
        {"operators",
         required(custom(
             read_operators,
             {Form{text::ListForm{{Form{text::MapForm{described(operator_fields())}}}, {}}}})),
         "The measured operators.", "[{operator: norm, part: forward, median: 12 us}]"},
        {"products",
         custom(read_products,
                {Form{text::ListForm{{Form{text::MapForm{described(product_fields())}}}, {}}}}),
         "The fastest algorithms of a GPU's GEMMs, which every run uses.",
         "[{product: 16384x768x768, algorithm: \"130102:0\"}]", "none: the library chooses"}};
    return kFields;
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

std::vector<text::Key> measured_keys() {
    return described(measured_fields());
}

std::shared_ptr<const Measured> read_measured(const NodePtr& section, Mistakes& mistakes) {
    MappingReader in(section, "measured", mistakes);
    auto measured = std::make_shared<Measured>();
    read_fields(in, measured_fields(), *measured);
    in.finish();
    return measured;
}

std::string measured_text(const Measured& measured) {
    std::string plans;
    for (const std::string& plan : measured.plans) plans += "\n    - " + yaml_quoted(plan);
    std::string out = fmt::format(
        "measured:\n  with: {}\n  plans:{}{}\n  pass_overhead: {} ns\n  step_overhead: {} ns\n{}"
        "  optimizer_seconds_per_element: {}\n  zero_seconds_per_element: {}\n"
        "  norm_seconds_per_element: {}\n  collectives:{}\n",
        yaml_quoted(measured.with), plans.empty() ? " []" : "", plans,
        measured.pass_overhead.count(), measured.step_overhead.count(),
        measured.core_share ? fmt::format("  core_share: {}\n", *measured.core_share) : "",
        measured.optimizer_seconds_per_element, measured.zero_seconds_per_element,
        measured.norm_seconds_per_element, measured.collectives.empty() ? " []" : "");
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
    if (!measured.products.empty()) out += "  products:\n";
    for (const auto& [product, algorithm] : measured.products)
        out += fmt::format("    - product: {}\n      algorithm: {}\n", yaml_quoted(product),
                           yaml_quoted(algorithm));
    return out;
}

}  // namespace debubble::scenarios
