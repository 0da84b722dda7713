#include "gui/viewmodel/timeline/search.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "schedule/csv/csv.h"
#include "trace/picture/subject.h"

namespace debubble::gui {
namespace {

struct Query {
    std::optional<Action> action;
    std::optional<std::string> kind;  ///< in the words of kind_of()
    bool bubbles = false;
    std::optional<BubbleCause> cause;
    std::optional<Rank> rank;
    std::optional<Stage> stage;
    std::optional<int> micro_batch;
    Duration least = Duration::min();
    Duration greatest = Duration::max();
};

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

/// Splits a query into words, numbers with their units, and comparisons: "bubble >5ms" has three.
std::vector<std::string> tokens_of(std::string_view text) {
    std::vector<std::string> tokens;
    const auto is_sign = [](char c) { return c == '<' || c == '>' || c == '='; };
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == ' ' || text[i] == '\t') {
            ++i;
            continue;
        }
        const bool sign = is_sign(text[i]);
        const std::size_t first = i;
        while (i < text.size() && text[i] != ' ' && text[i] != '\t' && is_sign(text[i]) == sign)
            ++i;
        tokens.emplace_back(text.substr(first, i - first));
    }
    return tokens;
}

std::optional<double> number_in(std::string_view text, std::string_view& rest) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    rest = text.substr(end - text.data());
    return value;
}

std::optional<double> unit_of(std::string_view name) {
    const std::string unit = upper(name);
    if (unit == "NS") return 1;
    if (unit == "US" || name == "\u00b5s") return 1e3;
    if (unit == "MS") return 1e6;
    if (unit == "S") return 1e9;
    return std::nullopt;
}

/// The action without its peer, which its text lacks.
Action without_peer(Action action) {
    if (auto* send = std::get_if<Send>(&action)) send->to = {};
    if (auto* recv = std::get_if<Recv>(&action)) recv->from = {};
    return action;
}

class QueryParser {
public:
    explicit QueryParser(std::string_view text) : tokens_(tokens_of(text)) {}

    std::optional<Query> parse() {
        if (tokens_.empty()) return fail(said("search", "nothing to search for"));
        while (next_ < tokens_.size() && mistake_.empty()) term();
        if (!mistake_.empty()) return std::nullopt;
        return query_;
    }
    const std::string& mistake() const { return mistake_; }

private:
    std::nullopt_t fail(std::string mistake) {
        mistake_ = std::move(mistake);
        return std::nullopt;
    }

    void term() {
        const std::string token = tokens_[next_++];
        std::string word = upper(token);
        if (word == "OPT" || word == "OPTIMIZER") word = "OPTIMIZER_STEP";
        if (word == "RANK" || word == "STAGE" || word == "MB" || word == "MICROBATCH")
            return numbered(word);
        if (word.find_first_of("<>=") != std::string::npos) return length(word);
        if (word == "BUBBLE") return bubble();
        if (const auto kind = std::ranges::find(kinds(), word); kind != kinds().end()) {
            query_.kind = *kind;
            return;
        }
        const auto parsed = parse_action(word);
        if (const auto* action = std::get_if<Action>(&parsed))
            query_.action = without_peer(*action);
        else
            fail(filled(
                said("search",
                     "\u201c{}\u201d is not an action, kind or place; try 2F0, send, rank 3, "
                     "bubble > 5 ms"),
                token));
    }

    void numbered(const std::string& word) {
        std::string_view rest;
        const auto value = next_ < tokens_.size() ? number_in(tokens_[next_], rest) : std::nullopt;
        if (!value || !rest.empty() || *value < 0 || *value != std::floor(*value) || *value > 1e9)
            return void(fail(filled(said("search", "{} needs a number"), word)));
        ++next_;
        const int number = static_cast<int>(*value);
        if (word == "RANK")
            query_.rank = Rank{number};
        else if (word == "STAGE")
            query_.stage = Stage{number};
        else
            query_.micro_batch = number;
    }

    void bubble() {
        query_.bubbles = true;
        if (next_ == tokens_.size()) return;
        for (std::size_t c = 0; c < kBubbleCauses; ++c) {
            // A name such as "optimizer barrier" has two words: the first is enough.
            const std::string name = upper(name_of(static_cast<BubbleCause>(c)));
            const std::string first = name.substr(0, name.find(' '));
            if (upper(tokens_[next_]) != first) continue;
            if (first == "STAGE" && next_ + 1 < tokens_.size()) {
                std::string_view rest;
                // In "bubble stage 3" it is a place.
                if (number_in(tokens_[next_ + 1], rest)) return;
            }
            query_.cause = static_cast<BubbleCause>(c);
            ++next_;
            return;
        }
    }

    void length(const std::string& sign) {
        std::string_view rest;
        const auto value = next_ < tokens_.size() ? number_in(tokens_[next_], rest) : std::nullopt;
        if (!value)
            return void(fail(filled(said("search", "{} needs a time, as in {} 5 ms"), sign, sign)));
        std::string unit(rest);
        ++next_;
        if (unit.empty() && next_ < tokens_.size()) unit = tokens_[next_++];
        const auto size = unit_of(unit);
        if (!size || std::abs(*value) > 1e9)
            return void(
                fail(filled(said("search", "{} {} needs a unit: ns, us, ms or s"), sign, *value)));
        const Duration time{std::llround(*value * *size)};
        if (sign == ">")
            query_.least = time + Duration{1};
        else if (sign == ">=")
            query_.least = time;
        else if (sign == "<")
            query_.greatest = time - Duration{1};
        else if (sign == "<=")
            query_.greatest = time;
        else
            fail(filled(said("search", "{} is not a comparison"), sign));
    }

    std::vector<std::string> tokens_;
    std::size_t next_ = 0;
    Query query_;
    std::string mistake_;
};

bool meets(const Query& query, Duration length, Rank rank) {
    return query.least <= length && length <= query.greatest &&
           (!query.rank || *query.rank == rank);
}

bool matches(const Query& query, const Span& span) {
    if (query.action && without_peer(span.action) != *query.action) return false;
    if (query.kind && kind_of(span.action) != *query.kind) return false;
    if (!meets(query, span.length(), span.rank)) return false;
    const Subject subject = subject_of(span.action);
    if (query.stage && subject.stage != query.stage) return false;
    return !query.micro_batch ||
           (subject.micro_batch && subject.micro_batch->index == *query.micro_batch);
}

bool matches(const Query& query, const TimelineDocument& document, const Bubble& bubble) {
    if (query.cause && bubble.cause != *query.cause) return false;
    if (!meets(query, bubble.end - bubble.begin, bubble.rank)) return false;
    if (!query.stage && !query.micro_batch) return true;
    if (bubble.waited_for >= document.trace.spans.size()) return false;
    const Subject subject = subject_of(document.span(bubble.waited_for).action);
    return (!query.stage || subject.stage == query.stage) &&
           (!query.micro_batch ||
            (subject.micro_batch && subject.micro_batch->index == *query.micro_batch));
}

}  // namespace

SearchResult search(const TimelineDocument& document, std::string_view text) {
    QueryParser parser(text);
    const auto query = parser.parse();
    if (!query) return {{}, parser.mistake()};
    SearchResult result;
    if (!query->bubbles) {
        for (std::uint32_t i = 0; i < document.trace.spans.size(); ++i)
            if (matches(*query, document.span(i))) result.hits.push_back(SpanRef{i, Side::A});
        return result;
    }
    std::vector<std::uint32_t> bubbles;
    for (std::uint32_t b = 0; b < document.statistics.bubbles.size(); ++b)
        if (matches(*query, document, document.bubble(b))) bubbles.push_back(b);
    std::ranges::stable_sort(bubbles, {},
                             [&](std::uint32_t b) { return document.bubble(b).begin; });
    for (const std::uint32_t b : bubbles) result.hits.push_back(BubbleRef{b});
    return result;
}

}  // namespace debubble::gui
