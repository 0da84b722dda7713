#include "models/hf/hf_config.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "models/hf/config.h"
#include "models/network/architecture_limits.h"
#include "text/mapping_reader.h"

/// The whole of a config.json: which reader its map is given to, and what is left of it after that.
namespace debubble::models {
namespace {

/// Maps of a network that also sees or hears in which its text model stands.
constexpr std::string_view kTextModels[] = {"text_config", "llm_config", "language_config"};

text::NodePtr map_inside(const text::NodePtr& map, std::string_view key) {
    const text::NodePtr inner = map->get(key);
    return inner && inner->is(text::Node::Kind::Map) ? inner : nullptr;
}

std::string word_of(const text::NodePtr& map, std::string_view key) {
    const text::NodePtr value = map->get(key);
    return value && value->is(text::Node::Kind::Scalar) ? value->scalar : std::string();
}

/// A file as it is read: its whole map, that of its text model, and the reader of that.
struct HfFile {
    text::NodePtr map;
    text::NodePtr text_model;
    const HfType* type = nullptr;
};

/// The text model's own word decides, and the file's where it has none that is known.
HfFile opened(const text::NodePtr& map) {
    HfFile file{map, map};
    for (const std::string_view key : kTextModels)
        if (const text::NodePtr inner = map_inside(map, key); inner && file.text_model == map)
            file.text_model = inner;
    file.type = hf_type(word_of(file.text_model, "model_type"));
    if (file.type == nullptr) file.type = hf_type(word_of(map, "model_type"));
    return file;
}

/// Whether the head is the embedding: networks with a nested map give it outside that map.
void read_ties(text::MappingReader& outer, const text::MappingReader& in, Config& config) {
    if (outer.mapping() != in.mapping())
        outer.flag("tie_word_embeddings", config.network.tied_embedding);
}

/// Two readers have asked the map of a network that is a text model alone.
std::vector<std::string_view> unasked_of(const text::MappingReader& outer,
                                         const text::MappingReader& in, bool of_outer) {
    const bool one_map = outer.mapping() == in.mapping();
    if (of_outer) return one_map ? std::vector<std::string_view>() : outer.unasked();
    std::vector<std::string_view> keys = in.unasked();
    if (!one_map) return keys;
    const std::vector<std::string_view> others = outer.unasked();
    std::erase_if(
        keys, [&](std::string_view key) { return std::ranges::find(others, key) == others.end(); });
    return keys;
}

/// Keys that no reader has asked for: a mistake where they may say of other layers, else a note.
void judge_unread(text::MappingReader& outer, text::MappingReader& in, const HfFile& file,
                  Architecture& network) {
    const std::vector<std::string_view> inside = unasked_of(outer, in, false);
    const std::vector<std::string_view> outside = unasked_of(outer, in, true);
    // Keys outside the text model's map do not describe its layers.
    refuse_unread(in, inside, file.type->name);
    std::vector<std::string_view> keys = inside;
    keys.insert(keys.end(), outside.begin(), outside.end());
    const std::string note = unread_keys(keys, *in.mapping(), network.dropout);
    if (!note.empty()) network.source += ", " + note;
}

Architecture read_file_as(const HfFile& file, text::MappingReader& outer) {
    Config config;
    Architecture& a = config.network;
    a.name = "config";
    outer.text("_name_or_path", a.name);
    if (a.name.empty()) a.name = "config";
    a.source = file.map->place.source ? file.map->place.source->file : "config.json";
    for (const std::string_view key : kTextModels) outer.value(key);
    text::MappingReader in(file.text_model, "config", outer.mistakes());
    refuse_beyond(in, file.type->name);
    file.type->read(in, config);
    read_ties(outer, in, config);
    note_prediction(in, config);
    SeenTower seen = tower_of(outer, a.hidden);
    if (file.text_model != file.map && !seen.tower)
        config.notes.insert(config.notes.begin(), "only its text model");
    note_beyond(in, config);
    if (seen.tower) outer.value("vision_config");
    if (file.text_model != file.map) note_beyond(outer, config, seen.tower.has_value());
    a.tower = std::move(seen.tower);
    a.tower_parameters = seen.parameters;
    Architecture network = network_of(std::move(config));
    if (outer.good() && in.good()) override_config(outer, network);
    judge_unread(outer, in, file, network);
    if (outer.good() && in.good()) check_architecture(network, in);
    return network;
}

/// True if all of the file's keys are understood when it is read as such a network.
bool fits(HfFile file, const HfType& type) {
    file.type = &type;
    text::Mistakes mistakes;
    text::MappingReader outer(file.map, "config", mistakes);
    read_file_as(file, outer);
    return outer.good();
}

/// A name is suggested only where the whole file may be read by it.
void complain_of_type(text::MappingReader& outer, const HfFile& file) {
    const bool inside = file.text_model->get("model_type") != nullptr;
    const std::string word = word_of(inside ? file.text_model : file.map, "model_type");
    if (word.empty()) return outer.complain("model_type", "unknown model_type");
    std::vector<std::string> fitting;
    std::vector<std::string_view> known;
    for (const HfType& type : hf_types()) {
        known.push_back(type.name);
        if (fits(file, type)) fitting.emplace_back(type.name);
    }
    std::string sentence = fmt::format("unknown model_type '{}'", word.substr(0, 60));
    if (const auto near = did_you_mean(word, fitting))
        sentence += fmt::format("; did you mean '{}'?", *near);
    else
        sentence += fmt::format("; known: {}", fmt::join(known, ", "));
    outer.complain("model_type", std::move(sentence), Diagnostic::Kind::UnknownName);
}

}  // namespace

bool is_hf_config(const text::Node& map) {
    return map.find("model_type") != nullptr && map.find("family") == nullptr;
}

Architecture read_hf_config(const text::NodePtr& map, text::Mistakes& mistakes) {
    text::MappingReader outer(map, "config", mistakes);
    if (!outer.good()) return {};
    const HfFile file = opened(map);
    outer.value("model_type");
    if (file.type != nullptr) return read_file_as(file, outer);
    complain_of_type(outer, file);
    return {};
}

}  // namespace debubble::models
