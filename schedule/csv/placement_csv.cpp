#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "schedule/csv/cells.h"
#include "schedule/csv/csv.h"

namespace debubble {
namespace {

constexpr std::size_t kLongestPlacement = 4u << 20;

std::optional<Stage> stage_of(const Cell& cell, Mistakes& mistakes) {
    int value = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
    if (error == std::errc{} && stop == end && value >= 0 && value < kMostStages)
        return Stage{value};
    mistakes.add(cell, fmt::format("'{}' is not a stage; a whole number from 0 to {} is expected",
                                   cell.text.substr(0, 24), kMostStages - 1));
    return std::nullopt;
}

void check_that_every_stage_is_held(const Placement& placement, Mistakes& mistakes) {
    std::vector<bool> held(placement.stage_count(), false);
    for (const auto& row : placement.stages)
        for (const Stage stage : row) held[stage.index] = true;
    const auto gap = std::ranges::find(held, false);
    if (gap != held.end())
        mistakes.add_for_file(fmt::format("no rank holds stage {}, but there is a stage {}",
                                          gap - held.begin(), held.size() - 1));
}

}  // namespace

Placement read_placement(std::string_view text, const std::string& file) {
    if (text.size() > kLongestPlacement)
        throw InputError({{{file, 0, 0}, "it is longer than 4 MiB", {}}});
    Mistakes mistakes(text, file);
    Placement placement;
    const auto rows = split_cells(text);
    std::vector<int> last_line(kMostStages, 0);  // the last line with the stage
    if (rows.empty()) mistakes.add_for_file("no stage in it; one row per rank is expected");
    for (std::size_t r = 0; r < rows.size(); ++r) {
        auto& row = placement.stages.emplace_back();
        if (rows[r].empty())
            mistakes.add(static_cast<int>(r) + 1, 1, fmt::format("rank {} holds no stage", r));
        for (const Cell& cell : rows[r]) {
            const auto stage = stage_of(cell, mistakes);
            if (!stage) continue;
            if (last_line[stage->index] == cell.line)
                mistakes.add(cell,
                             fmt::format("stage {} is listed twice in the row", stage->index));
            last_line[stage->index] = cell.line;
            row.push_back(*stage);
        }
    }
    mistakes.throw_if_any();
    check_that_every_stage_is_held(placement, mistakes);
    mistakes.throw_if_any();
    return placement;
}

std::string write_placement(const Placement& placement) {
    std::string text;
    for (const auto& row : placement.stages) {
        for (std::size_t i = 0; i < row.size(); ++i)
            text += fmt::format("{}{}", i > 0 ? "," : "", row[i].index);
        text += '\n';
    }
    return text;
}

}  // namespace debubble
