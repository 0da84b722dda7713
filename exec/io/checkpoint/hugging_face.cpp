#include "exec/io/checkpoint/hugging_face.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "exec/io/bad_file.h"
#include "models/hf_config_reader.h"
#include "text/json_document_reader.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

using models::Family;

constexpr const char* kConfigName = "config.json";
constexpr const char* kModelName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";

std::string_view base_prefix(Family family) {
    switch (family) {
        case Family::Gpt2: return "transformer.";
        case Family::Llama:
        case Family::Deepseek: return "model.";
        case Family::Vit: return "vit.";
    }
    return {};
}

bool there(const fs::path& path) {
    std::error_code unreadable;  // opening it gives the sentence
    return fs::exists(path, unreadable);
}

/// The file of each tensor; all files are in the folder itself.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_index(const fs::path& path) {
    const text::NodePtr root = text::read_json(path);
    const text::NodePtr map = root->get("weight_map");
    if (!map || !map->is(text::Node::Kind::Map))
        throw bad_file(path, "not an index of weights: it has no map 'weight_map'");
    text::Mistakes mistakes;
    WeightMap files;
    for (const text::Node::Entry& entry : map->entries) {
        const std::string& file = entry.value->scalar;
        if (file.empty() || file.find('/') != std::string::npos)
            mistakes.add(entry.place,
                         fmt::format("'{}' must be in a file of this folder, not in {}", entry.key,
                                     describe(*entry.value)));
        files[entry.key] = file;
    }
    mistakes.throw_if_any();
    return files;
}

class Importer {
public:
    Importer(const fs::path& folder, Family family) : folder_(folder), family_(family) {
        source.name = folder.string();
    }

    /// Adds the tensors of a file, or only those of `listed`, if there is such a list.
    void add(const std::string& name, const WeightMap* listed = nullptr) {
        const fs::path path = folder_ / name;
        const SafetensorsFile file = open_safetensors(path);
        for (const SafetensorsEntry& entry : file.header.entries) {
            if (listed) {
                const auto found = listed->find(entry.name);
                if (found == listed->end() || found->second != name) continue;
            }
            const std::string canonical = canonical_name(family_, entry.name);
            StoredTensor& tensor = source.tensors[{kinds::kParameter, canonical}];
            if (!tensor.pieces.empty())
                throw bad_file(
                    path, fmt::format("'{}' is a second '{}', which was '{}' in {}", entry.name,
                                      canonical, tensor.pieces[0].entry, tensor.pieces[0].file));
            tensor.shape = entry.shape;
            tensor.pieces.push_back(
                {whole(entry.shape), entry.type, file.data(entry), {}, entry.name, path.string()});
        }
        source.files.push_back(file.file);
    }

    PieceSource source;

private:
    fs::path folder_;
    Family family_;
};

PieceSource weights_of(const fs::path& folder, Family family) {
    Importer importer(folder, family);
    if (there(folder / kIndexName) && !there(folder / kModelName)) {
        const WeightMap listed = read_index(folder / kIndexName);
        std::set<std::string> files;
        for (const auto& [tensor, file] : listed) files.insert(file);
        for (const std::string& file : files) importer.add(file, &listed);
        for (const auto& [tensor, file] : listed)
            if (!importer.source.tensors.contains(
                    {kinds::kParameter, canonical_name(family, tensor)}))
                throw bad_file(folder / file, fmt::format("has no tensor '{}', though the index "
                                                          "says so",
                                                          tensor));
        return std::move(importer.source);
    }
    if (!there(folder / kModelName) && there(folder / "pytorch_model.bin"))
        throw bad_file(folder / "pytorch_model.bin",
                       "weights as a Python pickle are not read; transformers' save_pretrained "
                       "writes model.safetensors");
    importer.add(kModelName);
    return std::move(importer.source);
}

}  // namespace

bool is_head(std::string_view name) {
    return name.starts_with("lm_head.") || name.starts_with("classifier.");
}

std::string canonical_name(Family family, std::string_view stored) {
    const std::string_view prefix = base_prefix(family);
    const bool has_prefix = stored.starts_with(prefix);
    if (family == Family::Gpt2)  // its canonical names are those of the base model
        return std::string(has_prefix ? stored.substr(prefix.size()) : stored);
    if (has_prefix || is_head(stored)) return std::string(stored);
    return fmt::format("{}{}", prefix, stored);
}

std::string hugging_face_name(Family family, std::string_view canonical) {
    if (family != Family::Gpt2 || is_head(canonical)) return std::string(canonical);
    return fmt::format("{}{}", base_prefix(family), canonical);
}

HuggingFaceModel open_hugging_face(const fs::path& folder) {
    const text::NodePtr config = text::read_json(folder / kConfigName);
    text::Mistakes mistakes;
    HuggingFaceModel model;
    model.architecture = models::read_hf_config(config, mistakes);
    mistakes.throw_if_any();
    model.weights = weights_of(folder, model.architecture.family);
    return model;
}

}  // namespace debubble::exec
