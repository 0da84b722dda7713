#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "trace/profile/formats/json_stream.h"

namespace debubble::profile {

/// Handlers of the values of a text of torch.profiler. A value is valid during the call.
struct KinetoText {
    std::function<void(const std::string& key, std::string_view value)>
        head;  ///< other than events
    std::function<void(std::string_view event)> event;
};

/// Iterates over an object with the list `traceEvents`, or over a list of events alone. Returns in
/// words where the text ends between two events, as that of a stopped profiler does; nothing if it
/// is complete. Throws InputError with the byte of every other mistake.
std::string walk_kineto(JsonStream& stream, const KinetoText& text);

}  // namespace debubble::profile
