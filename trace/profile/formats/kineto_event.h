#pragma once

#include <simdjson.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/profile/formats/json_stream.h"
#include "trace/profile/rank_profile.h"

/// One event of a file of torch.profiler (libkineto/src/output_json.cpp).
namespace debubble::profile {

/// Maximum valid time: nanoseconds, the year 2033.
inline constexpr std::int64_t kMostInstant = 2'000'000'000'000'000'000;
inline constexpr int kMostRank = 1 << 24;
/// In lists of correlations by kernel: the kernel has none.
inline constexpr std::int64_t kNoCorrelation = -1;

enum class KinetoCategory { Kernel, Copy, Range, DeviceRange, Operator, Launch, Instant, Other };

/// The additional fields of an operator with record_shapes=True: a list of each, as written, with
/// an entry for each input; empty where they are not written.
struct OperatorInputs {
    std::string_view dims;
    std::string_view strides;
    std::string_view types;
    std::string_view values;  ///< of inputs that are not tensors
};

/// The part of an event that is read. Times are nanoseconds.
struct KinetoEvent {
    char phase = 0;
    KinetoCategory category = KinetoCategory::Other;
    std::string_view name;
    std::string name_text;  ///< where the name has escapes
    std::int64_t begin = 0;
    std::int64_t length = 0;
    std::int64_t process = 0;
    std::int64_t thread = 0;
    bool timed = false;
    std::optional<std::int64_t> correlation;  ///< of a kernel and its launch
    std::optional<std::int64_t> device;
    std::optional<std::int64_t> stream;
    std::optional<std::int64_t> allocated;    ///< bytes, of an event of the allocator
    std::optional<std::int64_t> device_type;  ///< of the allocator's memory
    std::int64_t memory_device = -1;          ///< the host's has the number -1
    std::int64_t external = -1;  ///< the operator of a kernel or launch, or an operator's own
    OperatorInputs inputs;
    CollectiveNote note;
};

/// Parses events, each of which is the stream's latest value. Throws InputError with its position
/// for an invalid one.
class KinetoEvents {
public:
    /// Both must outlive it. `wants_operators` is evaluated at each operator; inputs are read only
    /// if `reads_inputs`.
    KinetoEvents(const JsonStream& stream, const std::string& file,
                 std::function<bool()> wants_operators, bool reads_inputs = false)
        : stream_(stream),
          file_(file),
          wants_operators_(std::move(wants_operators)),
          reads_inputs_(reads_inputs) {}

    /// False for an event that is not needed. Kineto writes ph and cat first, so most events are
    /// skipped after two fields.
    bool parse(std::string_view text, KinetoEvent& event);
    /// Throws InputError for an event without a begin, or with an impossible length.
    void check_time(const KinetoEvent& event) const;
    [[noreturn]] void refuse(const std::string& sentence) const;

private:
    void check(simdjson::error_code error) const;
    std::string_view string(simdjson::ondemand::value& value) const;
    std::int64_t time(simdjson::ondemand::value& value, const char* key) const;
    void arguments(simdjson::ondemand::value& value, KinetoEvent& event) const;
    std::string_view list(simdjson::ondemand::value& value) const;

    const JsonStream& stream_;
    const std::string& file_;
    std::function<bool()> wants_operators_;
    bool reads_inputs_ = false;
    simdjson::ondemand::parser parser_;
};

/// Handlers of the values of a text of torch.profiler. A value is valid during the call.
struct KinetoText {
    std::function<void(const std::string& key, std::string_view value)>
        head;  ///< other than events
    std::function<void(std::string_view event)> event;
};

/// Iterates over an object with the list `traceEvents`, or over a list of events alone. Returns in
/// words where the text ends between two events, as that of a stopped profiler does; nothing if it
/// is complete. Throws InputError with the byte of every other mistake.
std::optional<std::string> walk_kineto(JsonStream& stream, const KinetoText& text);

}  // namespace debubble::profile
