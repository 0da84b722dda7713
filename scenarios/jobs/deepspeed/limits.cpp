#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "scenarios/jobs/deepspeed/deepspeed.h"
#include "scenarios/software/stage3_limits.h"

namespace debubble::jobs {
namespace {

/// The value that transformers fills in for "auto"; nothing where it leaves DeepSpeed's default.
std::optional<std::int64_t> filled_in(std::string_view name, std::int64_t hidden) {
    if (name == "stage3_prefetch_bucket_size") return 9 * hidden * hidden / 10;
    if (name == "stage3_param_persistence_threshold") return 10 * hidden;
    return std::nullopt;
}

/// DeepSpeed's own default of a limit can be the largest integer, which is none.
std::optional<std::int64_t> elements_of(Settings& in, const std::string& name) {
    const Setting* const setting = in.find(name);
    if (setting != nullptr && setting->value && setting->value->is(text::Node::Kind::Scalar))
        if (const auto number = number_of(setting->value->scalar);
            number && *number > static_cast<double>(scenarios::kMostElements))
            return scenarios::kMostElements;
    return in.whole(name, 0, scenarios::kMostElements);
}

const char* rule_of(std::string_view name) {
    return name == "stage3_prefetch_bucket_size" ? "0.9 x hidden x hidden" : "10 x hidden";
}

}  // namespace

void read_deepspeed_limits(Reading& job, std::int64_t stage, std::optional<std::int64_t> hidden) {
    Settings& in = job.in;
    for (const auto& [limit, name] : scenarios::kStage3Limits) {
        const std::string setting = fmt::format("zero_optimization.{}", name);
        const std::string key = fmt::format("framework.{}", name);
        if (stage < 3) {
            in.find(setting);  // says nothing of the other stages
            continue;
        }
        if (!is_auto(in, setting)) {
            if (const auto elements = elements_of(in, setting))
                job.set(key, *elements, in.find(setting));
            continue;
        }
        const auto filled = hidden ? filled_in(name, *hidden) : std::nullopt;
        if (filled)
            job.set(key, *filled, in.find(setting),
                    fmt::format("{}, filled in for \"auto\" by the caller", rule_of(name)));
        else if (filled_in(name, 1))
            job.note(*in.find(setting),
                     "\"auto\" follows from the model's hidden size, which is unknown: DeepSpeed's "
                     "default is planned");
        else
            job.note(*in.find(setting),
                     "\"auto\" is not filled in by a known caller: DeepSpeed's default is planned");
    }
}

}  // namespace debubble::jobs
