#include "sim/anchor/measured_plan.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <vector>

namespace debubble::sim {
namespace {

constexpr std::size_t kLongestLine = 4'000;  // std::regex recurses by character

enum class Figure { StepMs, StepS, TokensPerS, Tflops, AllocatedMb, ReservedGib, ReservedGb };

struct Pattern {
    Figure figure;
    const char* regex;  ///< its last group that matched is the number
};

constexpr std::array<Pattern, 11> kPatterns{{
    {Figure::StepMs, R"(elapsed time per iteration \(ms\): *(?:[0-9.,]+/)?([0-9.,]+))"},
    {Figure::StepS, R"((?:iteration_timing|train_step_timing|step[_ ]time)[^0-9]{0,12}([0-9.,]+))"},
    {Figure::TokensPerS, R"(tokens per GPU \(tokens/s/GPU\): *(?:[0-9.,]+/)?([0-9.,]+))"},
    {Figure::TokensPerS, R"(\btps: *([0-9.,]+))"},
    {Figure::TokensPerS, R"(([0-9][0-9.,]*) *(?:tps|tokens/s/GPU)\b)"},
    {Figure::Tflops, R"(throughput per GPU \(TFLOP/s/GPU\): *(?:[0-9.,]+/)?([0-9.,]+))"},
    {Figure::Tflops, R"(\btflops: *([0-9.,]+))"},
    {Figure::AllocatedMb, R"(max allocated: *([0-9.,]+))"},
    {Figure::ReservedGib, R"(\bmem(?:ory)?:? *([0-9.,]+) *GiB)"},
    {Figure::ReservedGb, R"(\bmem(?:ory)?:? *([0-9.,]+) *GB)"},
    {Figure::ReservedGib, R"(mem usage/free/total/usage_ratio: *([0-9.,]+) *GB)"},
}};
constexpr double kMib = 1024.0 * 1024;  // Megatron-LM's MB (training/utils.py, report_memory)
constexpr double kGibibyte = 1024 * kMib;

double number_of(std::string digits) {
    std::erase(digits, ',');
    return std::strtod(digits.c_str(), nullptr);
}

double median(std::vector<double> values) {
    if (values.size() > 2) values.erase(values.begin());
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class Log {
public:
    void add(const std::string& line) {
        static const std::vector<std::regex> kRegexes = [] {
            std::vector<std::regex> all;
            for (const Pattern& pattern : kPatterns)
                all.emplace_back(pattern.regex, std::regex::icase | std::regex::optimize);
            return all;
        }();
        for (std::size_t i = 0; i < kRegexes.size(); ++i) {
            std::smatch match;
            if (!std::regex_search(line, match, kRegexes[i])) continue;
            const double value = number_of(match[1]);
            if (value > 0) take(kPatterns[i].figure, value);
        }
    }
    MeasuredPlan plan() const {
        MeasuredPlan plan;
        if (!step_s_.empty()) plan.step_s = median(step_s_);
        if (!tokens_.empty()) plan.tokens_per_s_per_gpu = median(tokens_);
        if (!tflops_.empty()) plan.tflops_per_gpu = median(tflops_);
        if (allocated_ > 0) plan.allocated = Bytes{static_cast<std::int64_t>(allocated_)};
        if (reserved_ > 0) plan.reserved = Bytes{static_cast<std::int64_t>(reserved_)};
        return plan;
    }

private:
    void take(Figure figure, double value) {
        switch (figure) {
            case Figure::StepMs: step_s_.push_back(value / 1000); break;
            case Figure::StepS: step_s_.push_back(value); break;
            case Figure::TokensPerS: tokens_.push_back(value); break;
            case Figure::Tflops: tflops_.push_back(value); break;
            case Figure::AllocatedMb: allocated_ = std::max(allocated_, value * kMib); break;
            case Figure::ReservedGib: reserved_ = std::max(reserved_, value * kGibibyte); break;
            case Figure::ReservedGb: reserved_ = std::max(reserved_, value * 1e9); break;
        }
    }
    std::vector<double> step_s_, tokens_, tflops_;
    double allocated_ = 0;
    double reserved_ = 0;
};

template <class T>
void fill(std::optional<T>& figure, const std::optional<T>& other) {
    if (!figure) figure = other;
}

}  // namespace

void MeasuredPlan::fill_from(const MeasuredPlan& other) {
    // One figure of the time is enough.
    if (!tokens_per_s_per_gpu && !tflops_per_gpu) fill(step_s, other.step_s);
    fill(tokens_per_s_per_gpu, other.tokens_per_s_per_gpu);
    fill(tflops_per_gpu, other.tflops_per_gpu);
    fill(allocated, other.allocated);
    fill(reserved, other.reserved);
    fill(parts, other.parts);
}

MeasuredPlan read_log(const std::string& text) {
    Log log;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        log.add(line.size() > kLongestLine ? line.substr(0, kLongestLine) : line);
    return log.plan();
}

}  // namespace debubble::sim
