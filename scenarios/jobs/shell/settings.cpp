#include "scenarios/jobs/shell/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

namespace debubble::jobs {

using text::Node;
using text::NodePtr;

std::string origin_of(const Setting& setting) {
    const SourceLocation where = location_of(setting.place);
    return fmt::format("{}:{} {}", std::filesystem::path(where.file).filename().string(),
                       where.line, setting.written);
}

std::optional<double> number_of(std::string text) {
    std::erase(text, '_');
    if (text.starts_with('+')) text.erase(0, 1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return {};
    return value;
}

void Settings::add(Setting setting) {
    const auto before = last_.find(setting.name);
    if (before != last_.end() && notes_twice) {
        const Setting& first = settings_[before->second];
        const auto written = [](const Setting& one) {
            return one.value->is(Node::Kind::Scalar) ? one.value->scalar : describe(*one.value);
        };
        const bool same_text = first.place.source == setting.place.source;
        if (same_text && !first.is_default && first.known && setting.known &&
            written(first) != written(setting))
            twice.emplace_back(
                setting, fmt::format("it is given twice; {} counts, and {} in line {} does not",
                                     written(setting), written(first), first.place.line));
    }
    last_[setting.name] = settings_.size();
    settings_.push_back(std::move(setting));
}

void Settings::transform(const std::function<bool(Setting&)>& change) {
    std::vector<Setting> before = std::move(settings_);
    settings_.clear();
    last_.clear();
    for (Setting& setting : before)
        if (change(setting)) add(std::move(setting));
}

const Setting* Settings::find(std::string_view name) {
    asked_.emplace(name);
    if (const auto answer = answers_.find(name); answer != answers_.end()) return &answer->second;
    const auto found = last_.find(name);
    if (found == last_.end()) return nullptr;
    const Setting& setting = settings_[found->second];
    if (setting.value->is(Node::Kind::Scalar) && !setting.value->quoted &&
        setting.value->scalar == "None")
        return nullptr;
    return &setting;
}

/// The setting if it has one value. A list of one is that one.
const Setting* Settings::scalar(std::string_view name, std::string_view wanted) {
    const Setting* const setting = find(name);
    if (setting == nullptr) return nullptr;
    if (!setting->known) {
        if (std::ranges::find(unknown, setting->name, &Setting::name) == unknown.end())
            unknown.push_back(*setting);
        return nullptr;
    }
    if (setting->value->is(Node::Kind::Scalar)) return setting;
    mistakes.add(setting->place, fmt::format("{} takes {}, not {}", setting->written, wanted,
                                             describe(*setting->value)));
    return nullptr;
}

std::optional<std::int64_t> Settings::whole(std::string_view name, std::int64_t least,
                                            std::int64_t most) {
    const Setting* const setting = scalar(name, "a whole number");
    if (setting == nullptr) return {};
    const std::optional<double> value = number_of(setting->value->scalar);
    if (!value || *value != std::floor(*value)) {
        mistakes.add(setting->place, fmt::format("{} takes a whole number, not '{}'",
                                                 setting->written, setting->value->scalar));
        return {};
    }
    if (*value < static_cast<double>(least) || *value > static_cast<double>(most)) {
        mistakes.add(setting->place,
                     fmt::format("{} is {}; it must be from {} to {}", setting->written,
                                 setting->value->scalar, least, most));
        return {};
    }
    return static_cast<std::int64_t>(*value);
}

std::optional<double> Settings::real(std::string_view name) {
    const Setting* const setting = scalar(name, "a number");
    if (setting == nullptr) return {};
    const std::optional<double> value = number_of(setting->value->scalar);
    if (!value)
        mistakes.add(setting->place, fmt::format("{} takes a number, not '{}'", setting->written,
                                                 setting->value->scalar));
    return value;
}

std::optional<bool> Settings::flag(std::string_view name) {
    const Setting* setting = find(name);
    if (setting == nullptr) return {};
    if (setting->value->is(Node::Kind::Null)) return true;
    // "--bf16 $MORE": what follows a flag without a value is another argument.
    if (!setting->known && setting->written.starts_with("--")) return true;
    setting = scalar(name, "true or false");
    if (setting == nullptr) return {};
    const std::string& value = setting->value->scalar;
    for (const char* yes : {"true", "True", "TRUE", "1", "yes", "on"})
        if (value == yes) return true;
    for (const char* no : {"false", "False", "FALSE", "0", "no", "off"})
        if (value == no) return false;
    mistakes.add(setting->place,
                 fmt::format("{} takes true or false, not '{}'", setting->written, value));
    return {};
}

std::optional<std::string> Settings::word(std::string_view name) {
    const Setting* const setting = scalar(name, "a word");
    if (setting == nullptr) return {};
    return setting->value->scalar;
}

std::vector<std::string> Settings::words(std::string_view name) {
    const Setting* const setting = find(name);
    std::vector<std::string> words;
    if (setting == nullptr || setting->value->is(Node::Kind::Null)) return words;
    if (setting->value->is(Node::Kind::List)) {
        for (const NodePtr& item : setting->value->items)
            if (item->is(Node::Kind::Scalar))
                words.push_back(item->scalar);
            else
                mistakes.add(item->place, fmt::format("{} takes words, not {}", setting->written,
                                                      describe(*item)));
        return words;
    }
    if (const Setting* const one = scalar(name, "words")) words.push_back(one->value->scalar);
    return words;
}

std::vector<const Setting*> Settings::left() const {
    std::vector<const Setting*> left;
    for (const Setting& setting : settings_)
        if (!asked_.contains(setting.name) && !setting.is_default) left.push_back(&setting);
    return left;
}

void add_keys(const Node& map, bool dotted, Settings& settings, const std::string& above) {
    for (const Node::Entry& entry : map.entries) {
        const std::string path = above.empty() ? entry.key : above + "." + entry.key;
        if (entry.value->is(Node::Kind::Null)) continue;
        if (entry.value->is(Node::Kind::Map) && !entry.value->get("_target_")) {
            add_keys(*entry.value, dotted, settings, path);
            continue;
        }
        settings.add({dotted ? path : entry.key, path, entry.value, entry.place, true});
    }
}

}  // namespace debubble::jobs
