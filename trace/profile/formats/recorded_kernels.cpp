#include "trace/profile/formats/recorded_kernels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/profile/formats/json_stream.h"
#include "trace/profile/formats/kineto_event.h"

namespace debubble::profile {
namespace {

using Json = nlohmann::json;
using Wanted = std::function<bool(std::string_view)>;

constexpr std::size_t kMostSpans = 100'000'000;
constexpr std::size_t kMostInputs = 1'000'000;

bool is_matrix(KernelClass kernel_class) {
    return kernel_class == KernelClass::Product || kernel_class == KernelClass::AttentionForward ||
           kernel_class == KernelClass::AttentionBackward;
}

class RecordedReader {
public:
    RecordedReader(ByteSource& source, const Wanted& wanted)
        : file_(source.file()),
          stream_(source),
          events_(
              stream_, file_, [] { return true; }, true),
          wanted_(wanted) {}

    RecordedKernels read() {
        out_.file = file_;
        out_.cut_off = walk_kineto(
            stream_, {[this](const std::string& key, std::string_view value) { head(key, value); },
                      [this](std::string_view value) { event(value); }});
        const bool has_device = any_of_device_ || out_.device;
        const OperatorTimes times = has_device
                                        ? kernel_times(spans_, kernels_, std::move(launches_))
                                        : innermost_times(spans_);
        out_.on_device = has_device;
        out_.others = times.without;
        for (std::size_t i = 0; i < spans_.size(); ++i)
            if (times.of[i] > 0) out_.operators[spans_[i].inputs].lengths.push_back(times.of[i]);
        std::erase_if(out_.operators,
                      [](const OperatorRuns& runs) { return runs.lengths.empty(); });
        return std::move(out_);
    }

private:
    void head(const std::string& key, std::string_view value) {
        if (key != "deviceProperties") return;
        const Json json = Json::parse(value, nullptr, false);
        if (json.is_discarded())
            refuse_at(file_, stream_.value_offset(), fmt::format("'{}' is not valid JSON", key));
        if (!json.is_array() || json.empty() || !json.front().is_object()) return;
        const auto name = json.front().find("name");
        if (name != json.front().end() && name->is_string() && *name != "")
            out_.device = name->get<std::string>();
    }

    void event(std::string_view text) {
        KinetoEvent event;
        if (!events_.parse(text, event) || event.phase != 'X') return;
        switch (event.category) {
            case KinetoCategory::Kernel: return kernel(event);
            case KinetoCategory::Launch: return launch(event);
            case KinetoCategory::Operator: return run(event);
            case KinetoCategory::Copy: any_of_device_ = true; return;
            case KinetoCategory::Range:
            case KinetoCategory::DeviceRange:
            case KinetoCategory::Instant:
            case KinetoCategory::Other: return;
        }
    }

    void kernel(const KinetoEvent& event) {
        events_.check_time(event);
        any_of_device_ = true;
        const KernelClass kernel_class = class_of_name(event.name);
        if (!is_matrix(kernel_class) && kernel_class != KernelClass::Unknown) return;
        kernels_.push_back({event.external, event.correlation.value_or(kNoCorrelation),
                            event.length, is_matrix(kernel_class)});
        check_size();
    }

    KernelClass class_of_name(std::string_view name) {
        const std::uint32_t number = names_.number_of(name);
        if (number == classes_.size()) classes_.push_back(class_of(name));
        return classes_[number];
    }

    void launch(const KinetoEvent& event) {
        events_.check_time(event);
        any_of_device_ = true;
        if (!event.correlation) return;
        launches_.push_back({*event.correlation, thread_of(event), event.begin});
        check_size();
    }

    void run(const KinetoEvent& event) {
        out_.has_operators = true;
        if (!wanted_(event.name)) return;
        out_.has_wanted = true;
        if (event.inputs.dims.empty()) return;
        out_.has_sizes = true;
        events_.check_time(event);
        spans_.push_back({event.external, thread_of(event), event.begin, event.begin + event.length,
                          number_of(event)});
        check_size();
    }

    void check_size() const {
        if (spans_.size() + kernels_.size() + launches_.size() > kMostSpans)
            events_.refuse("this file has too many kernels and operators");
    }

    std::uint64_t thread_of(const KinetoEvent& event) {
        return threads_.try_emplace({event.process, event.thread}, threads_.size()).first->second;
    }

    /// The index of an operator with these inputs in out_.operators.
    std::uint32_t number_of(const KinetoEvent& event) {
        const OperatorInputs& in = event.inputs;
        std::string key(event.name);
        for (const std::string_view part : {in.dims, in.strides, in.types, in.values})
            key.append("\n").append(part);
        const auto number = static_cast<std::uint32_t>(out_.operators.size());
        const auto [found, is_new] = numbers_.try_emplace(std::move(key), number);
        if (!is_new) return found->second;
        if (number >= kMostInputs) events_.refuse("this file has operators of too many shapes");
        out_.operators.push_back({std::string(event.name), inputs_of(in), {}});
        return number;
    }

    Json list(std::string_view text) const {
        if (text.empty()) return Json::array();
        Json json = Json::parse(text, nullptr, false);
        if (json.is_discarded()) events_.refuse("the inputs of this operator are not valid JSON");
        return json;
    }

    std::vector<OperatorInput> inputs_of(const OperatorInputs& in) const {
        const Json dims = list(in.dims);
        const Json strides = list(in.strides);
        const Json types = list(in.types);
        const Json values = list(in.values);
        std::vector<OperatorInput> out(dims.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i].dims = sizes(dims[i]);
            if (i < strides.size())
                if (auto written = sizes(strides[i]); written.size() == out[i].dims.size())
                    out[i].strides = std::move(written);
            if (i < types.size() && types[i].is_string()) out[i].type = types[i].get<std::string>();
            if (i < values.size() && values[i].is_string())
                out[i].value = values[i].get<std::string>();
        }
        return out;
    }

    std::vector<std::int64_t> sizes(const Json& list) const {
        std::vector<std::int64_t> out;
        if (!list.is_array()) events_.refuse("the sizes of an operator's input are not a list");
        for (const Json& size : list) {
            if (size.is_array()) return {};  // a list of tensors
            if (!size.is_number_unsigned() || size.get<std::uint64_t>() > INT64_MAX)
                events_.refuse("a size of an operator's input is not a whole number from 0 on");
            out.push_back(size.get<std::int64_t>());
        }
        return out;
    }

    const std::string file_;
    JsonStream stream_;
    KinetoEvents events_;
    const Wanted& wanted_;
    RecordedKernels out_;
    bool any_of_device_ = false;
    std::vector<OperatorSpan> spans_;
    std::vector<LaunchedKernel> kernels_;
    std::vector<LaunchSpan> launches_;
    Names names_;
    std::vector<KernelClass> classes_;  ///< by name
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> threads_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

RecordedKernels read_recorded_kernels(const std::string& file, const Wanted& wanted) {
    ByteSource source(file);
    return RecordedReader(source, wanted).read();
}

RecordedKernels read_recorded_kernels_text(std::string_view text, const std::string& name,
                                           const Wanted& wanted) {
    ByteSource source(name, text);
    return RecordedReader(source, wanted).read();
}

}  // namespace debubble::profile
