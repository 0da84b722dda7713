#include "schedule/schedule.h"

#include <fmt/format.h>

#include "base/sha256.h"

namespace debubble {

std::string to_text(const Schedule& schedule) {
    std::string text;
    for (const ActionList& rank : schedule.ranks) {
        for (std::size_t i = 0; i < rank.size(); ++i) {
            if (i > 0) text += ' ';
            append_text(text, rank[i]);
        }
        text += '\n';
    }
    return text;
}

std::string program_hash(const Program& program) {
    std::string text = to_text(program) + "placement\n";
    for (const auto& row : program.placement.stages) {
        for (const Stage stage : row) text += fmt::format("{} ", stage.index);
        text += '\n';
    }
    return sha256(text);
}

}  // namespace debubble
