#pragma once

#include <string_view>

/// The files of trace/page/assets, which the build embeds into the program.
namespace debubble::page {

extern const std::string_view kStyle;
extern const std::string_view kBody;    ///< the timelines' part of a page
extern const std::string_view kScript;  ///< all modules as one, without their imports and exports

}  // namespace debubble::page
