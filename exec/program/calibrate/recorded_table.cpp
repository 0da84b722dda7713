#include "exec/program/calibrate/recorded_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/diagnostic.h"
#include "exec/program/calibrate/operator_shapes.h"
#include "exec/program/calibrate/statistics.h"
#include "trace/profile/formats/recorded_kernels.h"
#include "trace/profile/runs/profiled_run.h"

namespace debubble::exec {
namespace {

using Json = nlohmann::ordered_json;
using profile::OperatorRuns;
using profile::RecordedKernels;

constexpr const char* kHowToRecord =
    "record it with torch.profiler.profile(activities=[ProfilerActivity.CPU, "
    "ProfilerActivity.CUDA], record_shapes=True)";

[[noreturn]] void refuse_profile(const std::string& file, const std::string& sentence) {
    throw InputError({Diagnostic{{file, 0, 0}, sentence, {}}});
}

struct RecordedLine {
    TableKernel kernel;
    std::string device;
    std::set<std::string> operators;
    std::vector<double> seconds;
};

double total(const std::vector<double>& seconds) {
    double sum = 0;
    for (const double one : seconds) sum += one;
    return sum;
}

class Collected {
public:
    void add(const RecordedKernels& rank) {
        const std::string device = rank.device      ? *rank.device
                                   : rank.on_device ? "a device without a name"
                                                    : "a processor";
        for (const OperatorRuns& runs : rank.operators) {
            const OperatorShape shape = table_shape(runs);
            const auto count = static_cast<std::int64_t>(runs.lengths.size());
            for (const std::int64_t length : runs.lengths)
                all_ += static_cast<double>(length) / 1e9;
            if (!shape.kernel) {
                table_.left_out[fmt::format("{}: {}", runs.name, shape.missing)] += count;
                continue;
            }
            const Json key = {device, shape.kernel->kernel, shape.kernel->dtype,
                              shape.kernel->shape};
            RecordedLine& line = lines_[key.dump(-1, ' ', false, Json::error_handler_t::replace)];
            line.kernel = *shape.kernel;
            line.device = device;
            line.operators.insert(runs.name);
            for (const std::int64_t length : runs.lengths)
                line.seconds.push_back(static_cast<double>(length) / 1e9);
        }
        all_ += static_cast<double>(rank.others) / 1e9;
        devices_.insert(device);
        if (!rank.on_device)
            table_.notes.push_back(fmt::format(
                "{}: no device was recorded: the times are those of operators on the processor",
                rank.file));
        if (rank.cut_off) table_.notes.push_back(fmt::format("{}: {}", rank.file, *rank.cut_off));
    }

    RecordedTable finish(std::size_t ranks) && {
        std::vector<const RecordedLine*> sorted;
        double found = 0;
        for (const auto& [key, line] : lines_) {
            sorted.push_back(&line);
            found += total(line.seconds);
        }
        std::ranges::stable_sort(sorted, [](const RecordedLine* one, const RecordedLine* other) {
            return total(one->seconds) > total(other->seconds);
        });
        for (const RecordedLine* line : sorted) put(*line, ranks);
        table_.share = all_ > 0 ? std::min(found / all_, 1.0) : 1;
        if (devices_.size() > 1)
            table_.notes.push_back(
                fmt::format("the profiles are of {} kinds of devices, which a cluster has one of",
                            devices_.size()));
        return std::move(table_);
    }

private:
    void put(const RecordedLine& line, std::size_t ranks) {
        constexpr double kLongest = 1e4;  // seconds that a table may have
        const double seconds = median(line.seconds);
        if (seconds > kLongest) {
            table_.left_out[fmt::format("{}: hours long", *line.operators.begin())] +=
                static_cast<std::int64_t>(line.seconds.size());
            return;
        }
        const bool attention = line.kernel.kernel.starts_with("attention");
        ++(attention ? table_.attentions : table_.products);
        table_.types.insert(line.kernel.dtype);
        table_.runs += static_cast<std::int64_t>(line.seconds.size());
        std::string names;
        for (const std::string& name : line.operators) names += (names.empty() ? "" : ", ") + name;
        const Json json = {
            {"gpu", line.device},
            {"kernel", line.kernel.kernel},
            {"dtype", line.kernel.dtype},
            {"shape", line.kernel.shape},
            {"seconds", seconds},
            {"count", line.seconds.size()},
            {"measures", "sustained"},
            {"source",
             fmt::format("debubble calibrate --from-trace: the median of {} run{} of {} inside "
                         "steps, by torch.profiler on {} rank{}",
                         line.seconds.size(), line.seconds.size() == 1 ? "" : "s", names, ranks,
                         ranks == 1 ? "" : "s")}};
        table_.text += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }

    RecordedTable table_;
    std::map<std::string, RecordedLine> lines_;
    std::set<std::string> devices_;
    double all_ = 0;
};

void check_kind(const std::string& file) {
    const profile::TraceKind kind = profile::kind_of_trace(file);
    if (kind == profile::TraceKind::Own || kind == profile::TraceKind::Nsight)
        refuse_profile(file, fmt::format("it is no profile of torch.profiler, which alone says the "
                                         "shapes of kernels; {}",
                                         kHowToRecord));
}

/// Why no kernel's shape is known; empty where some may be.
std::string missing_in(const RecordedKernels& rank) {
    if (!rank.has_operators) return fmt::format("the profile has no operators; {}", kHowToRecord);
    if (!rank.has_wanted)
        return "the profile has no product and no attention among its operators (aten::mm, addmm, "
               "bmm, linear, _scaled_mm, _grouped_mm and attention)";
    if (!rank.has_sizes)
        return fmt::format("the profile has no shapes of operators; {}", kHowToRecord);
    return "";
}

}  // namespace

std::string RecordedTable::words() const {
    std::string out = fmt::format(
        "measured kernels: {} product{} and {} attention{} in {}, {} run{}, with {:.1f} % of the "
        "time of all kernels of products and attentions",
        products, products == 1 ? "" : "s", attentions, attentions == 1 ? "" : "s",
        fmt::join(types, ", "), runs, runs == 1 ? "" : "s", 100 * share);
    constexpr double kNearlyAll = 0.995;
    if (share < kNearlyAll)
        out += "; the rest was launched by no operator of PyTorch whose shape is known";
    for (const auto& [reason, count] : left_out)
        out += fmt::format("\nleft out: {} run{} of {}", count, count == 1 ? "" : "s", reason);
    for (const std::string& note : notes) out += "\n" + note;
    return out;
}

RecordedTable recorded_table(const std::vector<std::string>& files) {
    for (const std::string& file : files) check_kind(file);
    Collected all;
    std::vector<std::pair<std::string, std::string>> missing;  // file, sentence
    for (const std::string& file : files) {
        const RecordedKernels rank = profile::read_recorded_kernels(file, is_table_operator);
        std::string why = missing_in(rank);
        if (why.empty())
            all.add(rank);
        else
            missing.emplace_back(file, std::move(why));
    }
    if (missing.size() == files.size())
        refuse_profile(missing.front().first, missing.front().second);
    RecordedTable table = std::move(all).finish(files.size() - missing.size());
    if (!missing.empty())
        table.notes.push_back(fmt::format("{} of {} profiles are not in the table: {}: {}",
                                          missing.size(), files.size(), missing.front().first,
                                          missing.front().second));
    if (table.text.empty()) {
        std::string why =
            "no operator of the profile with a known shape launched a kernel that was recorded";
        for (const auto& [reason, count] : table.left_out)
            why += fmt::format("; {} run{} of {}", count, count == 1 ? "" : "s", reason);
        refuse_profile(files.front(), why);
    }
    text::Mistakes mistakes;
    table.kernels = std::make_shared<const scenarios::KernelTable>(
        scenarios::read_kernel_table(table.text, "the table", mistakes));
    DEBUBBLE_CHECK(mistakes.empty(), "a table that is written is one that can be read");
    return table;
}

}  // namespace debubble::exec
