#include "exec/program/run/world/same_run.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/sha256.h"

namespace debubble::exec {

namespace {

constexpr std::size_t kMostSentences = 8;
constexpr const char* kLabel = "the comparison of the ranks";

/// The facts as text, one line for each.
std::string text_of(const RunFacts& facts) {
    const auto on_one_line = [](std::string text) {
        std::ranges::replace_if(
            text, [](unsigned char c) { return c < ' '; }, ' ');
        return text;
    };
    std::string text;
    for (const Fact& fact : facts)
        text += on_one_line(fact.what) + '\t' + on_one_line(fact.value) + '\t' +
                on_one_line(fact.advice) + '\n';
    return text;
}

RunFacts facts_in(std::string_view text) {
    RunFacts facts;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        const std::string_view line = text.substr(0, end);
        const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
        facts.push_back({std::string(line.substr(0, first)),
                         std::string(line.substr(first + 1, second - first - 1)),
                         std::string(line.substr(second + 1))});
        text.remove_prefix(end + 1);
    }
    return facts;
}

/// The text of every rank; shorter ones are padded with zeros to whole words of one length.
std::vector<std::string> gather(Communicator& world, std::string mine,
                                std::chrono::nanoseconds patience) {
    auto words = static_cast<std::int32_t>((mine.size() + 3) / 4);
    world.all_reduce(buffer_of(std::span(&words, 1)), Reduction::Max, kLabel)
        ->wait(within(patience));
    const std::size_t size = 4 * static_cast<std::size_t>(words);
    mine.resize(size);
    std::string all(size * static_cast<std::size_t>(world.size()), '\0');
    world
        .all_gather({std::as_bytes(std::span(mine)), DataType::Int32},
                    {std::as_writable_bytes(std::span(all)), DataType::Int32}, kLabel)
        ->wait(within(patience));
    std::vector<std::string> texts;
    for (std::size_t at = 0; at < all.size(); at += size)
        texts.emplace_back(all.substr(at, size).c_str());
    return texts;
}

std::string value_of(const std::string& what, const RunFacts& facts) {
    const auto fact = std::ranges::find(facts, what, &Fact::what);
    return fact == facts.end() ? "not set" : fact->value;
}

/// "; " and the advice of a rank that has some.
std::string advice_on(const std::string& what, const std::vector<RunFacts>& by_rank) {
    for (const RunFacts& facts : by_rank)
        for (const Fact& fact : facts)
            if (fact.what == what && !fact.advice.empty()) return "; " + fact.advice;
    return "";
}

/// The difference in words; empty if all ranks have the same value.
std::string difference(const std::string& what, const std::vector<RunFacts>& by_rank) {
    // Values in the order of the ranks.
    std::vector<std::pair<std::string, std::vector<int>>> values;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
        const std::string value = value_of(what, by_rank[rank]);
        auto known =
            std::ranges::find(values, value, [](const auto& entry) { return entry.first; });
        if (known == values.end()) known = values.insert(known, {value, {}});
        known->second.push_back(static_cast<int>(rank));
    }
    if (values.size() < 2) return "";
    std::vector<std::string> parts;
    for (const auto& [value, ranks] : values)
        parts.push_back(fmt::format("{} on {}", value, words_for_ranks(ranks)));
    return fmt::format("all ranks must run the same: {} is {}{}", what, fmt::join(parts, ", "),
                       advice_on(what, by_rank));
}

std::vector<Diagnostic> differences(const std::vector<RunFacts>& by_rank) {
    std::vector<std::string> names;
    for (const RunFacts& facts : by_rank)
        for (const Fact& fact : facts)
            if (std::ranges::find(names, fact.what) == names.end()) names.push_back(fact.what);
    std::vector<Diagnostic> sentences;
    std::size_t left_out = 0;
    for (const std::string& name : names) {
        std::string sentence = difference(name, by_rank);
        if (sentence.empty()) continue;
        if (sentences.size() < kMostSentences)
            sentences.push_back({{}, std::move(sentence), {}});
        else
            ++left_out;
    }
    if (left_out > 0) sentences.push_back({{}, fmt::format("and {} more differ", left_out), {}});
    return sentences;
}

}  // namespace

std::string words_for_ranks(const std::vector<int>& ranks) {
    std::vector<std::string> runs;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        runs.push_back(i == last ? std::to_string(ranks[i])
                                 : fmt::format("{}-{}", ranks[i], ranks[last]));
        i = last + 1;
    }
    const std::string end = runs.back();
    runs.pop_back();
    return fmt::format("rank{} {}{}{}", ranks.size() == 1 ? "" : "s", fmt::join(runs, ", "),
                       runs.empty() ? "" : " and ", end);
}

void check_same_run(Communicator& world, const RunFacts& mine, std::chrono::nanoseconds patience) {
    const std::string text = text_of(mine);
    const std::vector<std::string> sums = gather(world, sha256(text), patience);
    if (std::ranges::count(sums, sums.front()) == std::ssize(sums)) return;
    std::vector<RunFacts> by_rank;
    for (const std::string& of_rank : gather(world, text, patience))
        by_rank.push_back(facts_in(of_rank));
    throw KnownToAll(differences(by_rank));
}

}  // namespace debubble::exec
