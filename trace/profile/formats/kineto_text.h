#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "trace/profile/formats/json_stream.h"

namespace debubble::profile {

/// What is called for the values of a text of torch.profiler. A value is valid during the call.
struct KinetoText {
    std::function<void(const std::string& key, std::string_view value)>
        head;  ///< beside the events
    std::function<void(std::string_view event)> event;
};

/// Walks over an object with the list `traceEvents`, or over a list of events alone. Returns in
/// words where the text ends between two events, as that of a profiler that was stopped does;
/// nothing if it is whole. Throws InputError with the byte of everything else that is wrong.
std::string walk_kineto(JsonStream& stream, const KinetoText& text);

}  // namespace debubble::profile
