#include "trace/profile/formats/profile_files.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "trace/profile/formats/database.h"

namespace debubble::profile {
namespace {

constexpr std::int64_t kMostTime =
    4'000'000'000'000'000'000;                ///< ns; of a session and a time in it
constexpr std::int64_t kProcess = 0x1000000;  ///< of a global id: (id / this) % this is the process

std::int64_t process_of(std::int64_t global) {
    return (global / kProcess) % kProcess;
}

class NsightReader {
public:
    explicit NsightReader(const std::string& file) : data_(file) {}

    std::vector<RankProfile> read() {
        session();
        strings();
        device_names();
        kernels();
        if (profiles_.empty())
            data_.refuse(
                "it has no kernel (CUPTI_ACTIVITY_KIND_KERNEL): profile with --trace=cuda,nvtx and "
                "export with `nsys export --type sqlite`");
        copies("CUPTI_ACTIVITY_KIND_MEMCPY");
        copies("CUPTI_ACTIVITY_KIND_MEMSET");
        launches();
        ranges();
        return finished();
    }

private:
    /// The names of a table's columns to read, in that order: NULL for an optional missing one.
    std::vector<std::string> ask(const std::string& table, const std::vector<std::string>& needed,
                                 const std::vector<std::string>& optional = {}) const {
        const std::set<std::string> has = data_.columns(table);
        std::vector<std::string> out;
        for (const std::string& name : needed) {
            if (!has.contains(name))
                data_.refuse(fmt::format("its table {} has no column {}", table, name));
            out.push_back(name);
        }
        for (const std::string& name : optional) out.push_back(has.contains(name) ? name : "NULL");
        return out;
    }
    bool has(const std::string& table) const { return !data_.columns(table).empty(); }

    void session() {
        const std::string table = "TARGET_INFO_SESSION_START_TIME";
        if (!has(table)) return;
        data_.each(table, ask(table, {"utcEpochNs"}), [&](const Row& row) {
            start_ = std::clamp<std::int64_t>(row.number(0), 0, kMostTime / 2);
        });
    }

    void strings() {
        if (!has("StringIds")) return;
        data_.each("StringIds", ask("StringIds", {"id", "value"}),
                   [&](const Row& row) { strings_.emplace(row.number(0), row.text(1)); });
    }

    void device_names() {
        if (!has("TARGET_INFO_GPU")) return;
        data_.each("TARGET_INFO_GPU", ask("TARGET_INFO_GPU", {"name"}), [&](const Row& row) {
            if (device_.empty()) device_ = row.text(0);
        });
    }

    std::int64_t time(const Row& row, int column, const std::string& table) const {
        const std::int64_t ns = row.number(column);
        if (ns < -kMostTime / 4 || ns > kMostTime / 4)
            data_.refuse(fmt::format("its table {} has an impossible time: {} ns", table, ns));
        return ns + start_;
    }

    std::string string(std::int64_t id) const {
        const auto found = strings_.find(id);
        return found == strings_.end() ? fmt::format("string {}", id) : found->second;
    }

    RankProfile& profile(std::int64_t process) {
        const auto [found, is_new] = profiles_.try_emplace(process);
        if (is_new) {
            found->second.file = data_.file();
            found->second.format = "Nsight Systems";
            found->second.backend = "nccl";
            found->second.device = device_;
        }
        return found->second;
    }

    void kernels() {
        const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
        if (!has(table)) return;
        const auto columns = ask(table, {"start", "end", "deviceId", "streamId", "correlationId"},
                                 {"globalPid", "demangledName", "shortName"});
        data_.each(table, columns, [&](const Row& row) {
            const std::int64_t process = process_of(row.number(5));
            RankProfile& of = profile(process);
            DeviceSpan span;
            span.begin = time(row, 0, table);
            span.end = time(row, 1, table);
            if (span.end < span.begin)
                data_.refuse(
                    fmt::format("its table {} has a kernel that ends before it begins", table));
            span.device = static_cast<std::int32_t>(row.number(2));
            span.stream = static_cast<std::int32_t>(row.number(3));
            const int name = row.is_null(6) ? 7 : 6;
            span.name = of.names.number_of(row.is_null(name) ? "a kernel without a name"
                                                             : string(row.number(name)));
            of.kernels.push_back(span);
            correlations_[process].push_back(row.number(4));
            ++of.events;
        });
    }

    void copies(const std::string& table) {
        if (!has(table)) return;
        const auto columns =
            ask(table, {"start", "end", "deviceId", "streamId"}, {"globalPid", "correlationId"});
        const std::string words = table.ends_with("MEMSET") ? "Memset" : "Memcpy";
        data_.each(table, columns, [&](const Row& row) {
            const std::int64_t process = process_of(row.number(4));
            if (!profiles_.contains(process)) return;
            RankProfile& of = profile(process);
            DeviceSpan span;
            span.begin = time(row, 0, table);
            span.end = std::max(span.begin, time(row, 1, table));
            span.device = static_cast<std::int32_t>(row.number(2));
            span.stream = static_cast<std::int32_t>(row.number(3));
            span.kernel_class = KernelClass::Copy;
            span.name = of.names.number_of(words);
            of.kernels.push_back(span);
            correlations_[process].push_back(row.is_null(5) ? -1 : row.number(5));
            ++of.events;
        });
    }

    void launches() {
        const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
        if (!has(table)) return;
        std::map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> launched;
        data_.each(table, ask(table, {"start", "correlationId", "globalTid"}), [&](const Row& row) {
            launched[process_of(row.number(2))].try_emplace(row.number(1), time(row, 0, table));
        });
        for (auto& [process, of] : profiles_)
            for (std::size_t i = 0; i < of.kernels.size(); ++i) {
                const auto found = launched[process].find(correlations_[process][i]);
                if (found != launched[process].end()) of.kernels[i].launched = found->second;
            }
    }

    /// Push/pop and start/end ranges; marks and the names of threads are events of other types.
    void ranges() {
        const std::string table = "NVTX_EVENTS";
        if (!has(table)) return;
        constexpr std::int64_t kPushPop = 59;
        constexpr std::int64_t kStartEnd = 60;
        const auto columns =
            ask(table, {"start", "end", "eventType", "globalTid"}, {"text", "textId"});
        data_.each(table, columns, [&](const Row& row) {
            const std::int64_t type = row.number(2);
            if ((type != kPushPop && type != kStartEnd) || row.is_null(1)) return;
            const std::int64_t process = process_of(row.number(3));
            if (!profiles_.contains(process)) return;
            RankProfile& of = profile(process);
            std::string name = row.is_null(4) ? "" : row.text(4);
            if (name.empty() && !row.is_null(5)) name = string(row.number(5));
            const std::int64_t begin = time(row, 0, table);
            of.ranges.push_back({begin, std::max(begin, time(row, 1, table)),
                                 of.names.number_of(name),
                                 static_cast<std::int32_t>(row.number(3) % kProcess)});
            ++of.events;
        });
    }

    /// A process is a rank. Ranks are not recorded: the devices order the processes of one file.
    std::vector<RankProfile> finished() {
        std::vector<RankProfile> out;
        for (auto& [process, of] : profiles_) out.push_back(std::move(of));
        std::ranges::stable_sort(out, {}, [](const RankProfile& profile) {
            return profile.kernels.empty() ? 0 : profile.kernels.front().device;
        });
        for (RankProfile& profile : out) finish(profile);
        return out;
    }

    Database data_;
    std::int64_t start_ = 0;
    std::string device_;
    std::unordered_map<std::int64_t, std::string> strings_;
    std::map<std::int64_t, RankProfile> profiles_;  ///< by process
    std::map<std::int64_t, std::vector<std::int64_t>> correlations_;
};

}  // namespace

std::vector<RankProfile> read_nsight(const std::string& file) {
    return NsightReader(file).read();
}

}  // namespace debubble::profile
