#include "scenarios/jobs/read/reading.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "text/document.h"
#include "text/document_readers.h"

namespace debubble::jobs {
namespace {

/// Short names of keys that jobs often lack.
constexpr std::pair<std::string_view, std::string_view> kShort[] = {
    {"vocab", "model.vocab"},
    {"micro_batch", "training.micro_batch"},
    {"micro_batches", "training.micro_batches"},
    {"global_batch", "training.global_batch"},
    {"seq_length", "training.seq_length"}};

std::string long_name(const std::string& key) {
    for (const auto& [name, full] : kShort)
        if (key == name) return std::string(full);
    return key;
}

bool lies_below(std::string_view key, std::string_view above) {
    return key.size() > above.size() && key.starts_with(above) && key[above.size()] == '.';
}

}  // namespace

std::string flow_text(const std::string& text) {
    text::Node node;
    node.kind = text::Node::Kind::Scalar;
    node.scalar = text;
    return to_flow(node);
}

Reading::Reading(std::string job, const std::vector<scenarios::Override>& given)
    : job_(std::move(job)) {
    for (const scenarios::Override& one : given)
        given_.emplace_back(long_name(one.first), one.second);
    // A model with other values of some keys is a map with a base.
    const bool changes = std::ranges::any_of(
        given_, [](const scenarios::Override& one) { return one.first.starts_with("model."); });
    for (scenarios::Override& one : given_)
        if (changes && one.first == "model" && !one.second.starts_with('{'))
            one.first = "model.base";
    take_answers();
}

void Reading::set(const std::string& key, std::string value, const Setting* from, std::string why) {
    for (const scenarios::Override& one : given_)
        if (one.first == key || lies_below(key, one.first)) return;
    std::string origin = from != nullptr ? origin_of(*from) : std::string();
    if (!why.empty()) origin += (origin.empty() ? "" : ", ") + why;
    std::erase_if(lines_, [&](const Line& line) { return line.key == key; });
    lines_.push_back({key, std::move(value), printable(origin)});
    if (from != nullptr) places_[lines_.back().origin] = from->place;
}

void Reading::set(const std::string& key, std::int64_t value, const Setting* from,
                  std::string why) {
    set(key, std::to_string(value), from, std::move(why));
}

void Reading::set(const std::string& key, bool value, const Setting* from, std::string why) {
    set(key, std::string(value ? "true" : "false"), from, std::move(why));
}

void Reading::set_real(const std::string& key, double value, const Setting* from, std::string why) {
    set(key, fmt::format("{}", value), from, std::move(why));
}

std::optional<std::int64_t> Reading::copy(const std::string& key, std::string_view name) {
    const std::optional<std::int64_t> value = in.whole(name, 1, kMost);
    if (value) set(key, *value, in.find(name));
    return value;
}

void Reading::refuse(const Setting& setting, std::string sentence) {
    mistakes().add(setting.place, std::move(sentence));
}

void Reading::ask(std::string question, std::vector<std::string> settings) {
    questions_.push_back({std::move(question), std::move(settings)});
}

void Reading::suspect(const text::SourcePosition& place, std::string sentence) {
    suspicions_.emplace_back(place, std::move(sentence));
}

std::optional<std::string> Reading::given(const std::string& key) const {
    std::optional<std::string> value;
    for (const scenarios::Override& one : given_)
        if (one.first == key) value = one.second;
    return value;
}

std::optional<std::int64_t> Reading::given_whole(const std::string& key) {
    const std::optional<std::string> text = given(key);
    if (!text) return {};
    const std::optional<double> value = number_of(*text);
    if (value && *value >= 1 && *value <= static_cast<double>(kMost) &&
        *value == static_cast<double>(static_cast<std::int64_t>(*value)))
        return static_cast<std::int64_t>(*value);
    mistakes().add(
        fmt::format("--set {}={}: a whole number from 1 to {} is required", key, *text, kMost));
    return {};
}

bool Reading::has_model() const {
    return given("model") || given("model.base");
}

void Reading::open_maps_above(const std::string& key) {
    const auto above = [&](const Line& line) { return lies_below(key, line.key); };
    for (auto at = lines_.begin(); (at = std::ranges::find_if(lines_, above)) != lines_.end();) {
        const Line map = *at;
        const std::size_t name = map.key.rfind('.') + 1;  // 0 for a key without dots
        const auto source = std::make_shared<const text::SourceText>(text::SourceText{
            printable(job_), fmt::format("{}: {}", map.key.substr(name), map.value)});
        const text::SourcePosition start{source, 1, 1};
        const text::NodePtr root = text::with_value(
            text::parse_yaml_value(fmt::format("{{{}: {}}}", map.key.substr(name), map.value),
                                   start),
            std::string_view(key).substr(name), text::make_scalar("~", start), start);
        const text::NodePtr value = root->get(map.key.substr(name));
        std::vector<Line> entries;
        for (const text::Node::Entry& entry : value->entries) {
            if (!text::is_plain_word(entry.key) || entry.key.find('.') != std::string::npos) return;
            entries.push_back({map.key + "." + entry.key, to_flow(*entry.value), map.origin});
        }
        at = lines_.erase(at);
        lines_.insert(at, entries.begin(), entries.end());
    }
}

Imported Reading::finish(const std::string& format, std::string_view tool) {
    for (const auto& [setting, sentence] : in.twice) note(setting, sentence);
    ask_for_unknown();
    for (const Question& question : questions_)
        mistakes().add(fmt::format("{}: {}", job_, question.text));
    if (!mistakes().empty())
        for (const auto& [place, sentence] : suspicions_) mistakes().add(place, sentence);
    mistakes().throw_if_any();
    for (const scenarios::Override& one : given_) {
        open_maps_above(one.first);
        std::erase_if(lines_, [&](const Line& line) {
            return line.key == one.first || lies_below(line.key, one.first) ||
                   lies_below(one.first, line.key);
        });
        lines_.push_back({one.first, one.second.empty() ? "~" : one.second, "--set"});
    }
    note_unmet_allowances();
    return {format, text(tool), notes_by_harm(), silent_};
}

std::string Reading::comment_of(const Line& line) {
    return line.origin.empty() ? std::string() : "  # " + line.origin;
}

void Reading::write_map(std::string& out, std::vector<const Line*> lines, std::size_t start,
                        std::size_t indent) {
    while (!lines.empty()) {
        const std::string& first = lines.front()->key;
        const std::string name = first.substr(start, first.find('.', start) - start);
        std::vector<const Line*> same;
        std::erase_if(lines, [&](const Line* line) {
            const std::string_view rest = std::string_view(line->key).substr(start);
            if (rest != name && !lies_below(rest, name)) return false;
            same.push_back(line);
            return true;
        });
        out += std::string(indent, ' ') + name + ":";
        if (same.size() > 1) {
            out += "\n";
            write_map(out, std::move(same), start + name.size() + 1, indent + 2);
            continue;
        }
        std::string rest = same.front()->key.substr(start);
        std::string value = same.front()->value;
        for (std::size_t dot; (dot = rest.rfind('.')) != std::string::npos; rest.erase(dot))
            value = fmt::format("{{{}: {}}}", rest.substr(dot + 1), value);
        out += fmt::format(" {}{}\n", value, comment_of(*same.front()));
    }
}

std::string Reading::text(std::string_view tool) const {
    constexpr std::array<std::string_view, 9> kOrder{"name",     "description", "model",
                                                     "cluster",  "nodes",       "gpus",
                                                     "parallel", "schedule",    "training"};
    std::vector<std::string> sections(kOrder.begin(), kOrder.end());
    for (const Line& line : lines_) {
        const std::string top = line.key.substr(0, line.key.find('.'));
        if (std::ranges::find(sections, top) == sections.end()) sections.push_back(top);
    }
    std::string out =
        fmt::format("# {}, a job of {}, as read by `debubble import`.\n", printable(job_), tool);
    for (const std::string& sentence : notes_by_harm()) out += fmt::format("# - {}\n", sentence);
    if (silent_ > 0)
        out += fmt::format("# {} of its settings {} no plan.\n", silent_,
                           silent_ == 1 ? "changes" : "change");
    for (const std::string& section : sections) {
        std::vector<const Line*> below;
        for (const Line& line : lines_)
            if (line.key == section)
                out += fmt::format("{}: {}{}\n", section, line.value, comment_of(line));
            else if (lies_below(line.key, section))
                below.push_back(&line);
        if (below.empty()) continue;
        out += section + ":\n";
        write_map(out, below, section.size() + 1, 2);
    }
    return out;
}

std::int64_t batch_of(std::int64_t micro, std::int64_t data, std::int64_t steps) {
    std::int64_t batch = 0;
    if (__builtin_mul_overflow(micro, data, &batch) || __builtin_mul_overflow(batch, steps, &batch))
        return std::numeric_limits<std::int64_t>::max();  // which no scenario takes
    return batch;
}

std::optional<std::int64_t> settle_world(Reading& job, const World& world) {
    std::optional<std::int64_t> gpus = job.given_whole("gpus");
    const bool given = gpus.has_value();
    if (given && world.of_job && *gpus != *world.of_job)
        job.note(fmt::format("the job has {}, but {} are {}; {} from the command line are used",
                             world.launcher, world.product, world.per_replica, *gpus));
    if (!given) gpus = world.of_job;
    if (!gpus) {
        job.ask(world.otherwise
                    ? *world.otherwise
                    : fmt::format("how many GPUs? {} are {}; give a multiple by --set gpus=N",
                                  world.product, world.per_replica),
                {"gpus"});
        return {};
    }
    constexpr std::int64_t kMostGpus = 4'000'000;  // of any scenario
    if (*gpus > kMostGpus) {
        job.ask(fmt::format("{} GPUs exceed the limit of {}", *gpus, kMostGpus));
        return {};
    }
    if (*gpus % world.per_replica != 0) {
        job.ask(
            fmt::format("{} are {} GPUs, which do not divide {}; give a multiple of them by "
                        "--set gpus=N",
                        world.product, world.per_replica, *gpus));
        return {};
    }
    job.set("gpus", *gpus, world.from, given ? "--set" : world.launcher);
    job.set("parallel.data", *gpus / world.per_replica, nullptr,
            fmt::format("{} GPUs / ({})", *gpus, world.product));
    return *gpus / world.per_replica;
}

std::optional<std::int64_t> settle_world(Reading& job, std::string product,
                                         std::int64_t per_replica) {
    World world;
    world.product = std::move(product);
    world.per_replica = per_replica;
    return settle_world(job, world);
}

void settle_cluster(Reading& job, const std::string& hint) {
    if (job.given("cluster") || job.given("cluster.base")) return;
    job.ask(
        fmt::format("which cluster? {}give one by --set cluster=NAME, of `debubble list "
                    "clusters`",
                    hint));
}

}  // namespace debubble::jobs
