#include <algorithm>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/megatron.h"
#include "scenarios/jobs/megatron_left_words.h"
#include "scenarios/jobs/megatron_silent.h"
#include "scenarios/jobs/megatron_silent_words.h"
#include "text/mapping_reader.h"

/// Settings that no key says: those that change no plan, those that do and are named, those that
/// cannot be planned, and those that nobody knows.
namespace debubble::jobs {
namespace {

bool fits(std::string_view name, std::string_view pattern) {
    if (pattern.starts_with('*') && pattern.ends_with('*') && pattern.size() > 2)
        return name.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
    if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return name == pattern;
    return name.starts_with(pattern.substr(0, star)) && name.ends_with(pattern.substr(star + 1));
}

bool is_absent(const Setting& setting) {
    if (!setting.value->is(text::Node::Kind::Scalar)) return false;
    const std::string& value = setting.value->scalar;
    return value == "false" || value == "False" || value == "None" || value == "null";
}

void name_unknown(Reading& job, const Setting& setting, std::string_view tool) {
    const std::vector<std::string> known(std::begin(kReadSettings), std::end(kReadSettings));
    std::string guess = text::unknown_word("setting", setting.name, known);
    const std::size_t mean = guess.find("; did you mean");
    job.note(fmt::format("{} is not known here as a setting of {}; it is left out{}",
                         origin_of(setting), tool,
                         mean == std::string::npos ? "" : guess.substr(mean)));
}

/// Settings of which only the beginning or the end of the name is known, which a misspelt one has
/// too: each is named.
void name_by_pattern(Reading& job, const std::vector<const Setting*>& settings) {
    if (settings.empty()) return;
    std::string names;
    for (const Setting* const setting : settings)
        names += (names.empty() ? "" : ", ") + origin_of(*setting);
    job.note(fmt::format(
        "{} {} by a part of the name alone as changing no plan; a misspelt one "
        "would be too: {}",
        settings.size(), settings.size() == 1 ? "setting is taken" : "settings are taken", names));
}

}  // namespace

void sort_left_settings(Reading& job, std::string_view tool) {
    for (const SettingSentence& one : kRefusedSettings)
        if (const Setting* const setting = job.in.find(one.name);
            setting != nullptr && !is_absent(*setting))
            job.refuse(*setting, fmt::format("{}: {}", setting->written, one.sentence));
    for (const SettingSentence& one : kNotedSettings)
        if (const Setting* const setting = job.in.find(one.name);
            setting != nullptr && !is_absent(*setting))
            job.note(*setting, std::string(one.sentence));
    std::vector<const Setting*> by_pattern;
    for (const Setting* const setting : job.in.left()) {
        const std::string_view name = setting->name;
        const bool silent = is_silent_by_name(name) ||
                            std::ranges::any_of(kSilentSettings, [&](std::string_view pattern) {
                                return fits(name, pattern);
                            });
        if (!silent && !is_absent(*setting)) {
            name_unknown(job, *setting, tool);
            continue;
        }
        job.count_silent();
        const bool whole = std::ranges::find(kSilentSettings, name) != std::end(kSilentSettings);
        if (!whole && !is_absent(*setting) && !is_silent_by_name(name) && !name.starts_with('$'))
            by_pattern.push_back(setting);
    }
    name_by_pattern(job, by_pattern);
}

}  // namespace debubble::jobs
