#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "scenarios/jobs/read/reading.h"

/// Messages about a job: notes by harm, and networks that are refused unless the command line
/// allows them.
namespace debubble::jobs {
namespace {

/// "--moe-layer-freq", "model.moe_layer_freq" and "moe_layer_freq" are one name.
std::string field_of(std::string_view name) {
    if (!name.ends_with(".py")) name = name.substr(name.rfind('.') + 1);
    while (name.starts_with('-')) name.remove_prefix(1);
    std::string field(name.substr(0, name.find(' ')));
    std::ranges::transform(field, field.begin(), [](unsigned char c) {
        return c == '-' ? '_' : static_cast<char>(std::tolower(c));
    });
    return field;
}

}  // namespace

void Reading::note(std::string sentence, Harm harm) {
    sentence = printable(sentence);
    const auto same = [&](const Note& one) { return one.sentence == sentence; };
    if (std::ranges::none_of(notes_, same)) notes_.push_back({harm, std::move(sentence)});
}

void Reading::note(const Setting& setting, const std::string& sentence, Harm harm) {
    note(fmt::format("{}: {}", origin_of(setting), sentence), harm);
}

void Reading::allow(const std::vector<std::string>& names) {
    for (const std::string& name : names) allowed_.emplace(field_of(name), false);
}

bool Reading::allows(const Setting& setting) {
    bool allows = false;
    for (const std::string& name : {field_of(setting.name), field_of(setting.written)})
        if (const auto found = allowed_.find(name); found != allowed_.end())
            allows = found->second = true;
    return allows;
}

void Reading::refuse_network(const Setting& setting, const std::string& sentence) {
    if (allows(setting))
        return note(setting, fmt::format("allowed: {}; it is ignored", sentence), Harm::Network);
    refuse(setting, fmt::format("{}: {}; give the model by --set model=NAME or FILE, or ignore the "
                                "setting by --allow {}",
                                setting.written, sentence, field_of(setting.written)));
}

void Reading::note_unmet_allowances() {
    for (const auto& [name, met] : allowed_)
        if (!met)
            note(fmt::format("--allow {}: no setting of that name is refused in this job", name),
                 Harm::Harmless);
}

std::vector<std::string> Reading::notes_by_harm() const {
    std::vector<Note> sorted = notes_;
    std::ranges::stable_sort(sorted, {}, &Note::harm);
    std::vector<std::string> sentences;
    for (Note& note : sorted) sentences.push_back(std::move(note.sentence));
    return sentences;
}

}  // namespace debubble::jobs
