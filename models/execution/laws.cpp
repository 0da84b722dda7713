#include "models/execution/laws.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "text/document_readers.h"
#include "text/fields.h"
#include "text/mapping_reader.h"
#include "text/quantity.h"
#include "text/shipped_files.h"

namespace debubble::models {
namespace {

using text::custom;
using text::Fields;
using text::free_text;
using text::MappingReader;
using text::Mistakes;
using text::Node;
using text::NodePtr;
using text::real;
using text::required;
using text::whole;

constexpr double kMost = 1e6;  ///< of anything
constexpr std::size_t kMostRowsOfTable = 64;

/// Calls add(three numbers) for each list of three, all of which are above 0.
void read_triples(MappingReader& in, std::string_view key, auto&& add) {
    const NodePtr list = in.value(key);
    if (!list) return;
    const auto read = [](const NodePtr& item) -> std::optional<std::array<double, 3>> {
        std::array<double, 3> numbers{};
        if (!item->is(Node::Kind::List) || item->items.size() != numbers.size())
            return std::nullopt;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto number = text::parse_real(item->items[i]->scalar);
            if (!number || !(*number > 0) || *number > kMost) return std::nullopt;
            numbers[i] = *number;
        }
        return numbers;
    };
    if (!list->is(Node::Kind::List) || list->items.empty() ||
        list->items.size() > kMostRowsOfTable) {
        in.complain(key, fmt::format("'{}' must be a list of lists of three numbers", key));
        return;
    }
    for (const NodePtr& item : list->items) {
        if (const auto numbers = read(item))
            add(*numbers);
        else
            in.mistakes().add(item->place,
                              fmt::format("'{}' must have three numbers above 0 and at most 1e6 "
                                          "in each of its lists",
                                          key));
    }
}

void read_tiles(MappingReader& in, std::string_view key, Laws& laws) {
    read_triples(in, key, [&](const std::array<double, 3>& of) {
        laws.gemm_tiles.push_back({of[0], of[1], of[2]});
    });
}

void read_protocols(MappingReader& in, std::string_view key, Laws& laws) {
    read_triples(in, key, [&](const std::array<double, 3>& of) {
        laws.nccl_protocols.push_back({of[0], of[1], of[2]});
    });
}

auto number(double Laws::*member, double least, double most) {
    return required(real(member, least, most));
}

const Fields<Laws>& law_fields() {
    static const Fields<Laws> kFields{
        {"gemm_tiles", required(custom(read_tiles, {})), {}, {}},
        {"fp8_scaled_inside", number(&Laws::fp8_scaled_inside, 0.01, 1), {}, {}},
        {"fp8_scaled_beside", number(&Laws::fp8_scaled_beside, 0.01, 1), {}, {}},
        {"tf32_time", number(&Laws::tf32_time, 0.1, 100), {}, {}},
        {"expert_rows", number(&Laws::expert_rows, 0, kMost), {}, {}},
        {"expert_rows_summed", number(&Laws::expert_rows_summed, 0, kMost), {}, {}},
        {"attention_block", number(&Laws::attention_block, 0, 4096), {}, {}},
        {"older_attention", number(&Laws::older_attention, 0.01, 1), {}, {}},
        {"chosen_row", number(&Laws::chosen_row, 0, 1), {}, {}},
        {"chosen_key", number(&Laws::chosen_key, 0, 1), {}, {}},
        {"exponentials", number(&Laws::exponentials, 1, 1e15), {}, {}},
        {"tensor_cast", number(&Laws::tensor_cast, 0.01, 100), {}, {}},
        {"block_cast", number(&Laws::block_cast, 0.01, 100), {}, {}},
        {"nvfp4_cast", number(&Laws::nvfp4_cast, 0.01, 100), {}, {}},
        {"amax_pass", number(&Laws::amax_pass, 0.01, 100), {}, {}},
        {"clockless_power", number(&Laws::clockless_power, 0, 0.99), {}, {}},
        {"least_clock", number(&Laws::least_clock, 0.01, 1), {}, {}},
        {"host_norm", number(&Laws::host_norm, 1, 100), {}, {}},
        {"exchange_stretch", number(&Laws::exchange_stretch, 1, 10), {}, {}},
        {"nccl_sms", number(&Laws::nccl_sms, 0, 1000), {}, {}},
        {"deepep_sms", number(&Laws::deepep_sms, 0, 1000), {}, {}},
        {"hybridep_sms", number(&Laws::hybridep_sms, 0, 1000), {}, {}},
        {"pieces_of_reduction", required(whole(&Laws::pieces_of_reduction, 1, 1024)), {}, {}},
        {"waiting_share", number(&Laws::waiting_share, 0, 0.99), {}, {}},
        {"waiting_ranks", required(whole(&Laws::waiting_ranks, 2, 1'000'000)), {}, {}},
        {"waiting_exchanges", number(&Laws::waiting_exchanges, 0.001, kMost), {}, {}},
        {"waiting_kernels", number(&Laws::waiting_kernels, 0.001, kMost), {}, {}},
        {"tree_bandwidth", number(&Laws::tree_bandwidth, 0.01, 1), {}, {}},
        {"nccl_protocols", required(custom(read_protocols, {})), {}, {}},
        {"hybridep_hops", number(&Laws::hybridep_hops, 1, 100), {}, {}},
        {"deepep_hops", number(&Laws::deepep_hops, 1, 100), {}, {}},
        {"fused_adam_bytes", number(&Laws::fused_adam_bytes, 0, 1000), {}, {}},
        {"foreach_adam_bytes", number(&Laws::foreach_adam_bytes, 0, 1000), {}, {}},
        {"per_tensor_adam_bytes", number(&Laws::per_tensor_adam_bytes, 0, 1000), {}, {}}};
    return kFields;
}

/// "[1, 2, [3]]" of a list, and the scalar of anything else.
std::string as_text(const Node& node) {
    if (!node.is(Node::Kind::List)) return node.scalar;
    std::vector<std::string> items;
    for (const NodePtr& item : node.items) items.push_back(as_text(*item));
    return fmt::format("[{}]", fmt::join(items, ", "));
}

constexpr const char* kProvenances[] = {"datasheet", "measured", "fitted", "assumed"};

/// Adds the values of one entry of the list to those of the others.
void take(const NodePtr& item, std::vector<Node::Entry>& values, LawFile& read,
          Mistakes& mistakes) {
    MappingReader in(item, "constants", mistakes);
    std::string provenance, source;
    for (const char* key : {"values", "provenance", "source"}) in.demand(key);
    in.text("provenance", provenance);
    in.text("source", source);
    if (std::ranges::find(kProvenances, provenance) == std::end(kProvenances))
        in.complain("provenance",
                    fmt::format("'provenance' must be one of {}", fmt::join(kProvenances, ", ")));
    const NodePtr of = in.value("values");
    in.finish();
    if (!of) return;
    MappingReader each(of, "values", mistakes);
    for (const Node::Entry& entry : of->entries) {
        const auto same = [&](const Node::Entry& other) { return other.key == entry.key; };
        if (std::ranges::any_of(values, same)) {
            mistakes.add(entry.place, fmt::format("'{}' is given twice", entry.key));
            continue;
        }
        values.push_back(entry);
        read.constants.push_back({entry.key, as_text(*entry.value), provenance, source});
    }
}

const LawFile& shipped() {
    static const LawFile kFile = [] {
        const auto path = text::data_folder() / "scenarios" / "laws" / "constants.json";
        return parse_laws(read_file(path), path.string());
    }();
    return kFile;
}

}  // namespace

LawFile parse_laws(const std::string& text, const std::string& file) {
    Mistakes mistakes;
    LawFile read;
    MappingReader in(text::parse_json(text, file), "laws", mistakes);
    in.demand("constants");
    in.value("what");
    std::vector<Node::Entry> values;
    const NodePtr list = in.value("constants");
    if (list && !list->is(Node::Kind::List))
        in.complain("constants",
                    fmt::format("'constants' must be a list, not {}", describe(*list)));
    else if (list)
        for (const NodePtr& item : list->items) take(item, values, read, mistakes);
    in.finish();
    if (list) {
        MappingReader all(text::make_map(std::move(values), list->place), "constants", mistakes);
        read_fields(all, law_fields(), read.laws);
        all.finish();
    }
    mistakes.throw_if_any();
    return read;
}

const Laws& laws() {
    static const Laws& kLaws = shipped().laws;
    return kLaws;
}

const std::vector<LawConstant>& law_constants() {
    return shipped().constants;
}

}  // namespace debubble::models
