#include "trace/page/action_classes.h"

#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/overloaded.h"
#include "trace/picture/document/exposed_bars.h"
#include "trace/picture/labels.h"
#include "trace/picture/wording.h"
#include "trace/span_graph.h"

namespace debubble::page {
namespace {

using Json = nlohmann::ordered_json;
using picture::LabelForm;

/// Replaces the numbers of a text by "%0", "%1", ... in the order of `places`, and reports them.
template <class Number>
std::string without_numbers(std::string_view text, std::span<const int> places, Number&& number) {
    std::string words;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
            words += text[i++];
            continue;
        }
        std::int64_t value = 0;
        const char* const end =
            std::from_chars(text.data() + i, text.data() + text.size(), value).ptr;
        i = end - text.data();
        words += '%';
        words += static_cast<char>('0' + (seen < places.size() ? places[seen] : int(seen)));
        ++seen;
        number(value);
    }
    return words;
}

std::string template_of(std::string_view text, std::span<const int> places = {}) {
    return without_numbers(text, places, [](std::int64_t) {});
}

/// The peer and the producing stage of a message, which are not in its text.
std::optional<std::array<std::int64_t, 2>> message_of(const Action& action) {
    if (const auto* send = std::get_if<Send>(&action))
        return std::array<std::int64_t, 2>{send->to.index, send->message.producer.index};
    if (const auto* recv = std::get_if<Recv>(&action))
        return std::array<std::int64_t, 2>{recv->from.index, recv->message.producer.index};
    return std::nullopt;
}

const char* role_of(const Action& action) {
    if (is_work(action)) return "work";
    if (std::holds_alternative<OptimizerStep>(action)) return "optimizer";
    if (std::holds_alternative<Send>(action)) return "send";
    if (std::holds_alternative<Recv>(action)) return "recv";
    return "gather";
}

Json json_of(const BarColours& c) {
    return {hex(c.light), hex(c.dark), hex(c.faded_light), hex(c.faded_dark)};
}

/// The labels of a compute by their form. `first` is the place of its first number.
Json labels_of(const Action& action, int first) {
    Json labels = Json::array();
    const std::array after{first + 1, first + 2};
    const std::array all{first, first + 1, first + 2};
    labels.push_back(template_of(label_of(action, LabelForm::Letter)));
    labels.push_back(template_of(label_of(action, LabelForm::LetterAndNumber), after));
    labels.push_back(template_of(label_of(action, LabelForm::StageToo), all));
    return labels;
}

/// The shares of the kinds of work in a bar without exposed communication.
Json shares_of(const Action& action) {
    constexpr Duration kLength{1000};
    Span span;
    span.action = action;
    span.end = Instant{kLength};
    Json shares = Json::array();
    for (const std::int64_t part : picture::bar_work(span).of(kLength))
        shares.push_back(static_cast<double>(part) / static_cast<double>(kLength.count()));
    return shares;
}

std::string key_of(const std::string& words, const BarColours& first,
                   const std::optional<BarColours>& second) {
    std::string key = words;
    const auto add = [&](Rgb c) {
        key += static_cast<char>(c.red);
        key += static_cast<char>(c.green);
        key += static_cast<char>(c.blue);
    };
    add(first.light);
    add(first.dark);
    if (second) add(second->light);
    if (second) add(second->dark);
    return key;
}

}  // namespace

struct ActionClasses::Table {
    std::unordered_map<std::string, std::uint32_t> numbers;
    Json json = Json::array();
    std::vector<std::int64_t> values;
    std::string text;

    void add(const Action& action, const std::string& words, const BarColours& first,
             const std::optional<BarColours>& second) {
        Json one{{"text", words}, {"role", role_of(action)}, {"count", values.size()}};
        // The words of a message contain its peer and its producer, which follow the numbers of its
        // text.
        const int last = static_cast<int>(values.size());
        const std::array of_message{last - 2, last - 1, 1, 2};
        one["words"] =
            template_of(picture::describe(action),
                        message_of(action) ? std::span(of_message) : std::span<const int>());
        one["colours"] = json_of(first);
        one["labels"] = labels_of(action, 0);
        one["work"] = shares_of(action);
        if (const auto* both = std::get_if<Overlap>(&action); both != nullptr && second) {
            one["colours2"] = json_of(*second);
            const int place = both->first.micro_batch.slice ? 3 : 2;
            one["labels"] = labels_of(Action{both->first}, 0);
            one["labels2"] = labels_of(Action{both->second}, place);
        }
        if (std::holds_alternative<Recompute>(action)) one["hatched"] = true;
        json.push_back(std::move(one));
    }
};

ActionClasses::ActionClasses() : table_(std::make_unique<Table>()) {}
ActionClasses::~ActionClasses() = default;

ActionClasses::Found ActionClasses::of(const Action& action, const BarColours& first,
                                       const std::optional<BarColours>& second) {
    Table& table = *table_;
    table.values.clear();
    table.text.clear();
    append_text(table.text, action);
    const std::string words =
        without_numbers(table.text, {}, [&](std::int64_t value) { table.values.push_back(value); });
    if (const auto message = message_of(action))
        table.values.insert(table.values.end(), message->begin(), message->end());
    const auto [place, added] = table.numbers.try_emplace(
        key_of(words, first, second), static_cast<std::uint32_t>(table.numbers.size()));
    if (added) table.add(action, words, first, second);
    return {place->second, table.values};
}

const nlohmann::ordered_json& ActionClasses::json() const {
    return table_->json;
}

}  // namespace debubble::page
