#include "models/network/sharding.h"

namespace debubble::models {

std::string_view word(Sharding sharding) {
    switch (sharding) {
        case Sharding::Replicated: return "replicated";
        case Sharding::Column: return "column";
        case Sharding::Row: return "row";
        case Sharding::Vocabulary: return "vocabulary";
    }
    return {};
}

/// Greedy with one point of return, the last star: linear in practice, and
/// pattern x name at worst.
bool ShardingOverride::matches(const std::string& parameter) const {
    std::size_t p = 0;
    std::size_t star = std::string::npos;
    std::size_t resume = 0;
    for (std::size_t i = 0; i < parameter.size();) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = i;
        } else if (p < pattern.size() && pattern[p] == parameter[i]) {
            ++p;
            ++i;
        } else if (star != std::string::npos) {
            p = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string::npos;
}

}  // namespace debubble::models
