#include "models/partition/partition.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::models {
namespace {

constexpr std::size_t kLongestLayout = 200'000;
constexpr std::string_view kUnits = "EtmL|";

[[noreturn]] void refuse(std::string sentence) {
    throw InputError(std::move(sentence));
}

/// One character, and its place in the string that a person wrote, from 1 on.
struct Sign {
    char unit = 0;
    std::size_t place = 0;
};
using Signs = std::vector<Sign>;

std::string at(const Sign& sign) {
    return fmt::format("'{}' at character {}", sign.unit, sign.place);
}

bool is_digit(const Sign& sign) {
    return std::isdigit(static_cast<unsigned char>(sign.unit)) != 0;
}

/// The number after the star at `star`, whose last digit is before the place that is returned.
std::size_t read_times(const Signs& signs, std::size_t star, std::size_t& times) {
    std::size_t end = star + 1;
    times = 0;
    for (; end < signs.size() && is_digit(signs[end]); ++end) {
        times = 10 * times + (signs[end].unit - '0');
        if (times > kLongestLayout)
            refuse(fmt::format("{} repeats more than {} times", at(signs[star]), kLongestLayout));
    }
    if (end == star + 1) refuse(fmt::format("{} must be followed by a number", at(signs[star])));
    if (times == 0) refuse(fmt::format("{} repeats 0 times", at(signs[star])));
    return end;
}

void repeat(Signs& out, const Signs& what, std::size_t times) {
    if (out.size() + what.size() * times > kLongestLayout)
        refuse(fmt::format("the layout has more than {} characters when expanded", kLongestLayout));
    for (std::size_t i = 0; i < times; ++i) out.insert(out.end(), what.begin(), what.end());
}

Signs without_groups(const Signs& signs) {
    Signs out;
    for (std::size_t i = 0; i < signs.size(); ++i) {
        if (signs[i].unit == ')') refuse(fmt::format("{} has no opening bracket", at(signs[i])));
        if (signs[i].unit != '(') {
            out.push_back(signs[i]);
            continue;
        }
        std::size_t close = i + 1;
        for (; close < signs.size() && signs[close].unit != ')'; ++close)
            if (signs[close].unit == '(')
                refuse(fmt::format("{} is inside a group, but groups cannot be nested",
                                   at(signs[close])));
        if (close == signs.size()) refuse(fmt::format("{} is not closed", at(signs[i])));
        if (close == i + 1) refuse(fmt::format("the group {} is empty", at(signs[i])));
        if (close + 1 == signs.size() || signs[close + 1].unit != '*')
            refuse(fmt::format("{} must be followed by '*' and a number", at(signs[close])));
        std::size_t times = 0;
        const std::size_t end = read_times(signs, close + 1, times);
        repeat(out,
               Signs(signs.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     signs.begin() + static_cast<std::ptrdiff_t>(close)),
               times);
        i = end - 1;
    }
    return out;
}

Signs written_out(std::string_view layout) {
    Signs signs;
    for (std::size_t i = 0; i < layout.size(); ++i)
        if (layout[i] != ',') signs.push_back({layout[i], i + 1});
    const Signs flat = without_groups(signs);
    Signs out;
    for (std::size_t i = 0; i < flat.size(); ++i) {
        const Sign& sign = flat[i];
        if (sign.unit == '*') refuse(fmt::format("{} has nothing to repeat", at(sign)));
        if (kUnits.find(sign.unit) == std::string_view::npos)
            refuse(fmt::format("{} is not E, t, m, L or |", at(sign)));
        std::size_t times = 1;
        if (i + 1 < flat.size() && flat[i + 1].unit == '*') i = read_times(flat, i + 1, times) - 1;
        repeat(out, {sign}, times);
    }
    return out;
}

/// The rules for the order of units.
class Order {
public:
    void take(const Sign& sign, std::size_t stage) {
        if (loss_) refuse(fmt::format("{} comes after L, which must be last", at(sign)));
        if (!embedding_ && sign.unit != 'E')
            refuse(fmt::format("{} comes first, but E must be first", at(sign)));
        if (embedding_ && sign.unit == 'E') refuse(fmt::format("{} is a second E", at(sign)));
        if (sign.unit == 't' && predicted_) refuse(fmt::format("{} is a layer after m", at(sign)));
        if (sign.unit == 'm' && predicted_.value_or(stage) != stage)
            refuse(fmt::format("{} is not in the same stage as the m before it", at(sign)));
        embedding_ = embedding_ || sign.unit == 'E';
        loss_ = loss_ || sign.unit == 'L';
        if (sign.unit == 'm') predicted_ = stage;
    }
    bool ended() const { return loss_; }

private:
    bool embedding_ = false;
    bool loss_ = false;
    std::optional<std::size_t> predicted_;  ///< the stage of the first m
};

/// "t*4" for 4 layers, "t" for 1.
std::string repeated(char unit, int times) {
    if (times == 0) return {};
    return times == 1 ? std::string(1, unit) : fmt::format("{}*{}", unit, times);
}

}  // namespace

std::vector<StageUnits> parse_layout(std::string_view layout) {
    std::vector<StageUnits> stages(1);
    Order order;
    for (const Sign& sign : written_out(layout)) {
        if (sign.unit == '|') {
            stages.emplace_back();
            continue;
        }
        order.take(sign, stages.size());
        StageUnits& stage = stages.back();
        switch (sign.unit) {
            case 'E': stage.embedding = true; break;
            case 't': ++stage.layers; break;
            case 'm': ++stage.predictions; break;
            default: stage.loss = true; break;
        }
    }
    if (!order.ended()) refuse("the layout must end with L");
    if (!stages.front().embedding) refuse("the first stage is empty, but must contain E");
    if (!stages.back().loss) refuse("the last stage is empty, but must contain L");
    return stages;
}

void check_layout(const std::vector<StageUnits>& stages, int ranks) {
    const auto count = static_cast<int>(stages.size());
    if (count % ranks != 0)
        refuse(fmt::format("the layout's {} stages cannot be shared evenly by {} ranks", count,
                           ranks));
    for (int stage = 0; stage < count - ranks; ++stage)
        if (stages[stage].predictions > 0)
            refuse(fmt::format(
                "m is in stage {}, chunk {} of its rank, but must be in the last of its {} chunks",
                stage, stage / ranks, count / ranks));
}

int layers_of(const std::vector<StageUnits>& stages) {
    int sum = 0;
    for (const StageUnits& stage : stages) sum += stage.layers;
    return sum;
}

int predictions_of(const std::vector<StageUnits>& stages) {
    int sum = 0;
    for (const StageUnits& stage : stages) sum += stage.predictions;
    return sum;
}

std::optional<int> prediction_stage_of(const std::vector<StageUnits>& stages) {
    const auto stage =
        std::ranges::find_if(stages, [](const StageUnits& s) { return s.predictions > 0; });
    if (stage == stages.end() || stage->loss) return {};
    return static_cast<int>(stage - stages.begin());
}

std::string layout_of(const std::vector<StageContent>& stages, int predictions) {
    std::vector<std::string> words;
    for (const StageContent& stage : stages)
        words.push_back((stage.embedding ? "E" : "") + repeated('t', stage.layers) +
                        repeated('m', stage.prediction_layers(predictions)) +
                        (stage.head ? "L" : "|"));
    std::string layout;
    for (std::size_t i = 0; i < words.size();) {
        std::size_t end = i + 1;
        while (end < words.size() && words[end] == words[i]) ++end;
        layout += end == i + 1 ? words[i] : fmt::format("({})*{}", words[i], end - i);
        i = end;
    }
    return layout;
}

}  // namespace debubble::models
