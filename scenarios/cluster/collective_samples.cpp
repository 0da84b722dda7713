#include "scenarios/cluster/collective_samples.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::scenarios {
namespace {

using Kind = models::Collective::Kind;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr int kMostRanksMeasured = 1'000'000;

/// A name of either tool: "all_reduce_perf", "AllReduce", "alltoall"; nothing inside for a message,
/// nothing for an unsupported collective.
std::optional<std::optional<Kind>> kind_named(std::string_view name) {
    std::string plain;
    for (const char c : name)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto has = [&](std::string_view word) { return plain.find(word) != std::string::npos; };
    if (has("allreduce")) return Kind::AllReduce;
    if (has("allgather")) return Kind::AllGather;
    if (has("reducescatter")) return Kind::ReduceScatter;
    if (has("alltoall")) return Kind::AllToAll;
    if (has("sendrecv")) return std::optional<Kind>{};
    return std::nullopt;
}

std::string_view word_of(const std::optional<Kind>& kind) {
    if (!kind) return "send";
    switch (*kind) {
        case Kind::AllReduce: return "all_reduce";
        case Kind::AllGather: return "all_gather";
        case Kind::ReduceScatter: return "reduce_scatter";
        case Kind::AllToAll: return "all_to_all";
    }
    return "";
}

std::vector<std::string> words_in(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> out;
    for (std::string word; in >> word;) out.push_back(word);
    return out;
}

std::optional<double> number_in(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

class NcclTestsReader {
public:
    NcclTestsReader(const std::string& text, const std::string& file) : text_(text), file_(file) {
        kind_ = kind_named(fs::path(file).filename().string());
    }

    std::vector<CollectiveSample> read() {
        std::istringstream in(text_);
        std::string line;
        for (number_ = 1; std::getline(in, line); ++number_) {
            if (line.starts_with('#'))
                comment(line);
            else if (!words_in(line).empty())
                row(line);
        }
        if (mistakes_.empty() && samples_.empty())
            mistakes_.push_back({{file_, 0, 0}, "it has no rows of sizes and times", {}});
        if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
        for (CollectiveSample& sample : samples_) {
            sample.ranks = std::max(2, ranks_);
            sample.nodes = std::max<int>(1, static_cast<int>(hosts_.size()));
        }
        return std::move(samples_);
    }

private:
    void comment(const std::string& line) {
        const std::vector<std::string> words = words_in(line.substr(1));
        if (words.empty()) return;
        constexpr std::size_t kHost = 7;  // Rank 0 Group 0 Pid 12345 on HOST device 0
        if (words[0] == "Rank" && words.size() > kHost) {
            ranks_ = std::min(ranks_ + 1, kMostRanksMeasured);
            hosts_.insert(words[kHost]);
        }
        if (line.find("Collective test starting") != std::string::npos)
            kind_ = kind_named(words.back());
        if (words[0] == "size") {
            const auto time = std::ranges::find(words, "time");
            if (time != words.end()) time_ = time - words.begin();
        }
    }

    void row(const std::string& line) {
        const auto complain = [&](std::string sentence) {
            if (mistakes_.size() < 20)
                mistakes_.push_back({{file_, number_, 1}, std::move(sentence), line});
        };
        if (!kind_)
            return complain(
                "the collective of this row is unknown: there is no line '# Collective test "
                "starting', and the file's name does not contain it");
        const std::vector<std::string> words = words_in(line);
        if (words.size() <= time_) return complain("a row needs a size first and a time after it");
        const auto size = number_in(words[0]);
        const auto micros = number_in(words[time_]);
        if (!size || *size < 0 || *size > 1e15)
            return complain("the size is not a number of bytes");
        if (!micros || !(*micros > 0) || *micros > 1e12)
            return complain("the time is not a time in microseconds");
        if (*size > 0)
            samples_.push_back(
                {*kind_, 2, 1, Bytes{static_cast<std::int64_t>(*size)}, *micros * 1e-6});
    }

    const std::string& text_;
    const std::string& file_;
    std::optional<std::optional<Kind>> kind_;
    int number_ = 0;
    int ranks_ = 0;
    std::size_t time_ = 5;  ///< index of the column
    std::set<std::string> hosts_;
    std::vector<CollectiveSample> samples_;
    std::vector<Diagnostic> mistakes_;
};

class InspectorReader {
public:
    void read(const std::string& text, const std::string& file) {
        std::istringstream in(text);
        std::string line;
        for (int number = 1; std::getline(in, line); ++number) {
            if (words_in(line).empty()) continue;
            const Json json = Json::parse(line, nullptr, false);
            if (json.is_discarded() || !json.is_object()) {
                mistakes_.push_back(
                    {{file, number, 1}, "this line is not a JSON object", line.substr(0, 200)});
                if (mistakes_.size() > 20) break;
                continue;
            }
            take(json);
        }
    }

    std::vector<CollectiveSample> samples() {
        if (!mistakes_.empty()) throw InputError(std::move(mistakes_));
        std::map<std::tuple<std::optional<Kind>, int, int, std::int64_t>, std::vector<double>>
            sizes;
        for (const auto& [call, best] : calls_)
            sizes[{best.kind, best.ranks, best.nodes, best.bytes.count}].push_back(best.seconds);
        std::vector<CollectiveSample> out;
        for (auto& [size, seconds] : sizes) {
            std::ranges::sort(seconds);
            const auto& [kind, ranks, nodes, bytes] = size;
            out.push_back({kind, ranks, nodes, Bytes{bytes}, seconds[seconds.size() / 10]});
        }
        return out;
    }

private:
    static std::int64_t whole(const Json& json, const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
    }
    static std::string text(const Json& json, const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>() : "";
    }
    static const Json& part(const Json& json, const char* key) {
        static const Json kEmptyObject = Json::object();
        const auto found = json.find(key);
        return found != json.end() && found->is_object() ? *found : kEmptyObject;
    }

    void take(const Json& json) {
        const Json& header = part(json, "header");
        const bool message = json.contains("p2p_perf");
        const Json& perf = part(json, message ? "p2p_perf" : "coll_perf");
        const std::string start = message ? "p2p_" : "coll_";
        const auto of = [&](const char* rest) { return whole(perf, (start + rest).c_str()); };
        CollectiveSample sample;
        if (message) {
            if (text(perf, "p2p") != "Send") return;
        } else {
            const auto kind = kind_named(text(perf, "coll"));
            if (!kind || !*kind) return;
            sample.kind = *kind;
        }
        const std::int64_t ranks = message ? 2 : whole(header, "n_ranks");
        const std::int64_t nodes = whole(header, "nnodes");
        const std::int64_t bytes = of("msg_size_bytes");
        const std::int64_t micros = of("exec_time_us");
        if (ranks < 2 || ranks > kMostRanksMeasured || bytes <= 0 || micros <= 0) return;
        sample.ranks = static_cast<int>(ranks);
        sample.nodes = static_cast<int>(std::clamp<std::int64_t>(nodes, 1, kMostRanksMeasured));
        sample.bytes = Bytes{bytes};
        sample.seconds = 1e-6 * static_cast<double>(micros);
        const auto key =
            std::tuple(text(header, "id"), message, of("sn"), message ? whole(header, "rank") : 0);
        const auto [found, is_new] = calls_.try_emplace(key, sample);
        if (!is_new) found->second.seconds = std::min(found->second.seconds, sample.seconds);
    }

    std::map<std::tuple<std::string, bool, std::int64_t, std::int64_t>, CollectiveSample> calls_;
    std::vector<Diagnostic> mistakes_;
};

/// latency + bytes x per_byte with the least relative squared error.
struct Line {
    double latency = 0;
    double per_byte = 0;
};

Line line_through(const std::vector<std::pair<double, double>>& points) {
    double sww = 0;
    double swx = 0;
    double sxx = 0;
    double sw = 0;
    double sx = 0;
    for (const auto& [bytes, seconds] : points) {
        const double w = 1 / seconds;
        const double x = bytes / seconds;
        sww += w * w;
        swx += w * x;
        sxx += x * x;
        sw += w;
        sx += x;
    }
    const double det = sww * sxx - swx * swx;
    Line line;
    if (points.size() > 1 && det > 1e-12 * sww * sxx)
        line = {(sw * sxx - sx * swx) / det, (sww * sx - swx * sw) / det};
    if (points.size() < 2 || line.latency < 0 || !(line.per_byte > 0)) line = {0, sx / sxx};
    return line;
}

FittedCollective fit(std::vector<CollectiveSample> samples) {
    constexpr std::int64_t kLarge = 1 << 20;
    std::vector<std::pair<double, double>> large;
    std::vector<std::pair<double, double>> all;
    for (const CollectiveSample& sample : samples) {
        all.emplace_back(static_cast<double>(sample.bytes.count), sample.seconds);
        if (sample.bytes.count >= kLarge) large.push_back(all.back());
    }
    Line line = line_through(large.empty() ? all : large);
    std::vector<double> latencies;
    for (const auto& [bytes, seconds] : all)
        if (bytes < static_cast<double>(kLarge))
            latencies.push_back(seconds - bytes * line.per_byte);
    if (!latencies.empty() && !large.empty()) {
        std::ranges::sort(latencies);
        line.latency = std::max(0.0, latencies[(latencies.size() - 1) / 2]);
    }
    FittedCollective out;
    out.cost.latency = from_seconds(line.latency);
    out.cost.bandwidth = {1 / line.per_byte};
    out.sizes = static_cast<int>(all.size());
    for (const auto& [bytes, seconds] : all)
        out.spread =
            std::max(out.spread, std::abs((line.latency + bytes * line.per_byte) / seconds - 1));
    return out;
}

}  // namespace

std::vector<CollectiveSample> read_nccl_tests(const std::string& file) {
    return read_nccl_tests_text(read_file(file), file);
}

std::vector<CollectiveSample> read_nccl_tests_text(const std::string& text,
                                                   const std::string& file) {
    return NcclTestsReader(text, file).read();
}

std::vector<CollectiveSample> read_nccl_inspector_text(const std::string& text,
                                                       const std::string& file) {
    InspectorReader inspector;
    inspector.read(text, file);
    return inspector.samples();
}

std::vector<CollectiveSample> read_nccl_inspector(const std::string& folder) {
    std::error_code error;
    std::vector<std::string> files;
    if (fs::is_directory(folder, error)) {
        for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
            const std::string path = entry.path().string();
            if (entry.is_regular_file(error) &&
                (path.ends_with(".jsonl") || path.ends_with(".log") || path.ends_with(".json")))
                files.push_back(path);
        }
        std::ranges::sort(files);
        if (files.empty())
            throw InputError(
                {Diagnostic{{folder, 0, 0},
                            "this folder has no dump of NCCL's Inspector (.jsonl, .log or .json)",
                            {}}});
    } else {
        files.push_back(folder);
    }
    InspectorReader inspector;
    for (const std::string& file : files) inspector.read(read_file(file), file);
    std::vector<CollectiveSample> samples = inspector.samples();
    if (samples.empty())
        throw InputError({Diagnostic{
            {folder, 0, 0}, "it has no collective and no send with a size and a time", {}}});
    return samples;
}

FittedCollectives fit_collectives(const std::vector<CollectiveSample>& samples, bool of_one_node) {
    std::map<std::pair<std::optional<Kind>, int>, std::vector<CollectiveSample>> groups;
    for (const CollectiveSample& sample : samples)
        if ((sample.nodes == 1) == of_one_node)
            groups[{sample.kind, sample.ranks}].push_back(sample);
    FittedCollectives out;
    for (auto& [group, all] : groups) out[group] = fit(std::move(all));
    return out;
}

std::string words_of(const FittedCollectives& fitted) {
    std::string out;
    for (const auto& [group, found] : fitted)
        out += fmt::format(
            "{}{} over {} ranks: {:.1f} us + bytes / {:.1f} GB/s ({} sizes, within "
            "{:.1f} %)",
            out.empty() ? "" : "; ", word_of(group.first), group.second,
            1e6 * seconds(found.cost.latency), found.cost.bandwidth.value / 1e9, found.sizes,
            100 * found.spread);
    return out;
}

}  // namespace debubble::scenarios
