#include "trace/profile/formats/kineto_event.h"

#include <cstdint>

#include <fmt/format.h>

namespace debubble::profile {
namespace {

class Walk {
public:
    Walk(JsonStream& stream, const KinetoText& text) : stream_(stream), text_(text) {}

    std::optional<std::string> run() {
        if (stream_.peek() == '[') {
            events();
        } else {
            if (!stream_.take('{')) stream_.refuse("a trace is a JSON object or a list of events");
            if (!stream_.take('}')) keys();
        }
        if (!cut_off_ && !stream_.at_end())
            stream_.refuse("there is text after the end of the trace");
        return cut_off_;
    }

private:
    void keys() {
        do {
            const std::string_view quoted = stream_.value();
            if (quoted.front() != '"') stream_.refuse("a key in quotes is expected");
            const std::string key(quoted.substr(1, quoted.size() - 2));
            if (!stream_.take(':')) stream_.refuse("a colon after the key is expected");
            if (key != "traceEvents") {
                text_.head(key, stream_.value());
                continue;
            }
            events();
            if (cut_off_) return;
        } while (stream_.take(','));
        if (stream_.at_end())
            cut_off_ =
                fmt::format("its text ends at byte {} without the last bracket", stream_.offset());
        else if (!stream_.take('}'))
            stream_.refuse("',' or '}' is expected");
    }

    void events() {
        if (!stream_.take('[')) stream_.refuse("'traceEvents' must be a list");
        if (stream_.take(']')) return;
        do {
            if (stream_.at_end()) return cut_off();
            const std::string_view event = stream_.value();
            ++events_;
            text_.event(event);
        } while (stream_.take(','));
        if (stream_.at_end()) return cut_off();
        if (!stream_.take(']')) stream_.refuse("',' or ']' is expected after an event");
    }

    /// A stopped profiler omits its last events.
    void cut_off() {
        cut_off_ =
            fmt::format("its text ends at byte {}, after {} events", stream_.offset(), events_);
    }

    JsonStream& stream_;
    const KinetoText& text_;
    std::uint64_t events_ = 0;
    std::optional<std::string> cut_off_;
};

}  // namespace

std::optional<std::string> walk_kineto(JsonStream& stream, const KinetoText& text) {
    return Walk(stream, text).run();
}

}  // namespace debubble::profile
