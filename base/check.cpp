#include "base/check.h"

#include <fmt/format.h>

namespace debubble {
namespace {

/// Path relative to the project's root, which this file's own path reveals.
std::string_view in_project(std::string_view file) {
    constexpr std::string_view kHere = __FILE__;
    constexpr std::string_view kName = "base/check.cpp";
    static_assert(kHere.ends_with(kName));
    constexpr std::string_view kRoot = kHere.substr(0, kHere.size() - kName.size());
    if (file.starts_with(kRoot)) file.remove_prefix(kRoot.size());
    return file;
}

}  // namespace

void report_defect(std::string_view file, int line, std::string_view condition,
                   std::string_view sentence) {
    throw Defect(fmt::format("debubble has a defect at {}:{}: {}, but `{}` is false",
                             in_project(file), line, sentence, condition));
}

}  // namespace debubble
