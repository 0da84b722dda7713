#include "trace/profile/formats/profile_files.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/profile/formats/json_stream.h"
#include "trace/profile/formats/kineto_event.h"

namespace debubble::profile {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRecords = 100'000'000;

class KinetoReader {
public:
    KinetoReader(ByteSource& source, bool keep_operators)
        : stream_(source),
          events_(stream_, profile_.file, [this] { return wants_operators(); }),
          keep_operators_(keep_operators) {
        profile_.file = source.file();
        profile_.format = "Kineto";
    }

    RankProfile read() {
        profile_.cut_off =
            walk_kineto(stream_, {[this](const std::string& key, Text value) { head(key, value); },
                                  [this](Text value) { event(value); }});
        no_kernels_ = profile_.kernels.empty();
        profile_.memory = no_kernels_ && of_device_.empty() ? of_host_.take() : of_device_.take();
        join_launches();
        if (base_ != 0) shift(base_);
        profile_.bytes = stream_.offset();
        finish(profile_);
        return std::move(profile_);
    }
    /// True if operators were skipped and no kernel followed: then they are needed after all.
    bool left_operators_out() const { return left_out_ && no_kernels_; }

private:
    using Text = std::string_view;

    void head(const std::string& key, Text text) {
        const std::uint64_t place = stream_.value_offset();
        if (key == "baseTimeNanoseconds") {
            const auto [end, error] = std::from_chars(text.begin(), text.end(), base_);
            if (error != std::errc() || end != text.end() || base_ < 0 || base_ > kMostInstant)
                refuse_at(profile_.file, place, "baseTimeNanoseconds is not a time");
            return;
        }
        if (key != "distributedInfo" && key != "deviceProperties") return;
        const Json json = Json::parse(text, nullptr, false);
        if (json.is_discarded())
            refuse_at(profile_.file, place, fmt::format("'{}' is not valid JSON", key));
        if (key == "distributedInfo")
            distributed(json, place);
        else
            devices(json);
    }

    static std::string text_of(const Json& json, const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>() : "";
    }

    void distributed(const Json& json, std::uint64_t place) {
        if (!json.is_object()) return;
        const auto whole = [&](const char* key) -> std::optional<int> {
            const auto found = json.find(key);
            if (found == json.end()) return std::nullopt;
            if (!found->is_number_integer() || found->get<std::int64_t>() < 0 ||
                found->get<std::int64_t>() > kMostRank)
                refuse_at(profile_.file, place,
                          fmt::format("'{}' of distributedInfo is not a number of ranks", key));
            return found->get<int>();
        };
        profile_.rank = whole("rank");
        profile_.world_size = whole("world_size");
        profile_.backend = text_of(json, "backend");
        const auto groups = json.find("pg_config");
        if (groups == json.end() || !groups->is_array()) return;
        for (const Json& group : *groups) {
            if (!group.is_object()) continue;
            ProcessGroup read{text_of(group, "pg_desc"), {}};
            const auto ranks = group.find("ranks");
            if (ranks != group.end() && ranks->is_array())
                for (const Json& rank : *ranks)
                    if (rank.is_number_integer() && rank.get<std::int64_t>() >= 0 &&
                        rank.get<std::int64_t>() <= kMostRank)
                        read.ranks.push_back(rank.get<int>());
            profile_.groups.push_back(std::move(read));
        }
    }

    void devices(const Json& json) {
        if (!json.is_array() || json.empty() || !json.front().is_object()) return;
        profile_.device = text_of(json.front(), "name");
    }

    void event(Text text) {
        ++profile_.events;
        KinetoEvent event;
        if (!events_.parse(text, event)) return;
        if (event.phase == 'i' || event.phase == 'I') return memory(event);
        if (event.phase != 'X') return;
        if (event.category == KinetoCategory::Other || event.category == KinetoCategory::Instant)
            return;
        events_.check_time(event);
        keep(event);
        if (records() > kMostRecords) events_.refuse("this file has too many kernels and ranges");
    }

    std::size_t records() const {
        return profile_.kernels.size() + profile_.ranges.size() + profile_.ops.size() +
               launches_.size();
    }

    /// Operators are kept where no kernels show what a rank computed.
    bool wants_operators() {
        if (keep_operators_) return true;
        if (profile_.kernels.empty() && profile_.device.empty()) return true;
        left_out_ = true;
        if (!profile_.ops.empty()) profile_.ops = {};
        return false;
    }

    void memory(const KinetoEvent& event) {
        constexpr std::int64_t kHost = 0;  // c10::DeviceType
        constexpr std::int64_t kGpu = 1;
        if (event.name != "[memory]" || !event.allocated || !event.timed) return;
        if (event.device_type == kHost) of_host_.add({event.begin, *event.allocated});
        if (event.device_type != kGpu) return;
        if (memory_device_.value_or(event.memory_device) != event.memory_device) return;
        memory_device_ = event.memory_device;
        of_device_.add({event.begin, *event.allocated});
        profile_.peak_allocated = std::max(profile_.peak_allocated.value_or(0), *event.allocated);
    }

    static std::int32_t narrow(std::int64_t number) {
        return static_cast<std::int32_t>(number ^ (number >> 32));
    }

    void keep(const KinetoEvent& event) {
        const std::int64_t end = event.begin + event.length;
        switch (event.category) {
            case KinetoCategory::Kernel:
            case KinetoCategory::Copy: {
                DeviceSpan span;
                span.begin = event.begin;
                span.end = end;
                span.name = profile_.names.number_of(event.name);
                span.device = narrow(event.device.value_or(event.process));
                span.stream = narrow(event.stream.value_or(event.thread));
                span.note = note_of(event.note);
                if (event.category == KinetoCategory::Copy) span.kernel_class = KernelClass::Copy;
                profile_.kernels.push_back(span);
                correlations_.push_back(event.correlation.value_or(kNoCorrelation));
                return;
            }
            case KinetoCategory::Launch:
                if (event.correlation) launches_.emplace_back(*event.correlation, event.begin);
                return;
            case KinetoCategory::Range:
                profile_.ranges.push_back(
                    {event.begin, end, profile_.names.number_of(event.name), narrow(event.thread)});
                return;
            case KinetoCategory::Operator:
                profile_.ops.push_back(
                    {event.begin, end, profile_.names.number_of(event.name), narrow(event.thread)});
                return;
            case KinetoCategory::DeviceRange:
            case KinetoCategory::Instant:
            case KinetoCategory::Other: return;
        }
    }

    std::uint32_t note_of(const CollectiveNote& note) {
        if (note == CollectiveNote{}) return 0;
        if (note == profile_.notes.back())
            return static_cast<std::uint32_t>(profile_.notes.size() - 1);
        const auto key =
            std::tuple(note.collective, note.group, note.in_elements, note.out_elements,
                       note.group_size, note.type, note.peer.value_or(-1));
        const auto [found, is_new] =
            note_numbers_.try_emplace(key, static_cast<std::uint32_t>(profile_.notes.size()));
        if (is_new) profile_.notes.push_back(note);
        return found->second;
    }

    void join_launches() {
        std::ranges::sort(launches_);
        for (std::size_t i = 0; i < profile_.kernels.size(); ++i) {
            if (correlations_[i] == kNoCorrelation) continue;
            const auto launch = std::ranges::lower_bound(
                launches_, correlations_[i], {}, &std::pair<std::int64_t, std::int64_t>::first);
            if (launch != launches_.end() && launch->first == correlations_[i])
                profile_.kernels[i].launched = launch->second;
        }
        launches_ = decltype(launches_)();  // {} would keep their memory
        correlations_ = decltype(correlations_)();
    }

    void shift(std::int64_t by) {
        const auto move = [&](std::int64_t& at) {
            if (at != kNoLaunch) at += by;
        };
        for (DeviceSpan& kernel : profile_.kernels) {
            move(kernel.begin);
            move(kernel.end);
            move(kernel.launched);
        }
        for (std::vector<HostSpan>* spans : {&profile_.ranges, &profile_.ops})
            for (HostSpan& span : *spans) {
                move(span.begin);
                move(span.end);
            }
        for (MemoryPoint& point : profile_.memory) move(point.at);
    }

    JsonStream stream_;
    KinetoEvents events_;
    bool keep_operators_ = false;
    bool left_out_ = false;
    bool no_kernels_ = false;
    std::int64_t base_ = 0;
    RankProfile profile_;
    MemoryCurve of_device_;
    MemoryCurve of_host_;
    std::optional<std::int64_t> memory_device_;  ///< the first of a process's devices
    std::vector<std::int64_t> correlations_;     ///< of the kernels
    std::vector<std::pair<std::int64_t, std::int64_t>> launches_;  ///< correlation, begin
    std::map<std::tuple<std::optional<std::string>, std::string, std::int64_t, std::int64_t, int,
                        std::string, int>,
             std::uint32_t>
        note_numbers_;
};

template <class MakeSource>
RankProfile read(const MakeSource& make_source) {
    {
        ByteSource source = make_source();
        KinetoReader reader(source, false);
        RankProfile profile = reader.read();
        if (!reader.left_operators_out()) return profile;
    }
    ByteSource source = make_source();
    return KinetoReader(source, true).read();
}

}  // namespace

RankProfile read_kineto(const std::string& file) {
    return read([&] { return ByteSource(file); });
}

RankProfile read_kineto_text(std::string_view text, const std::string& name) {
    return read([&] { return ByteSource(name, text); });
}

}  // namespace debubble::profile
