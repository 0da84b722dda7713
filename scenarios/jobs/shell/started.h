#pragma once

#include <map>
#include <string>
#include <vector>

namespace debubble::jobs {

/// The environment and arguments of a script: those of `import --env NAME=VALUE -- ARG...`.
struct Started {
    std::map<std::string, std::string> environment;
    std::vector<std::string> arguments;
};

/// The environment of such words; throws InputError for one without a name or '='.
std::map<std::string, std::string> parse_environment(const std::vector<std::string>& words);

}  // namespace debubble::jobs
