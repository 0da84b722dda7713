#include "exec/io/checkpoint/hf/hugging_face.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "exec/io/checkpoint/hf/layout.h"
#include "exec/io/mapped_file.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "text/document_readers.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr const char* kConfigName = "config.json";
constexpr const char* kModelName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";

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
    Importer(const fs::path& folder, const HuggingFaceLayout& layout,
             const models::Architecture& architecture)
        : folder_(folder), layout_(layout) {
        source.name = folder.string();
        for (models::Parameter& parameter : models::whole_parameters(architecture)) {
            StoredParameter stored = stored_parameter(layout, architecture, parameter);
            if (stored.is(parameter, canonical_name(layout, stored.tensor))) continue;
            Composed& tensor = composed_[stored.tensor];
            tensor.shape = stored.shape;
            tensor.parts.emplace_back(std::move(parameter), std::move(stored));
        }
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
            add(entry, file, path);
        }
        source.files.push_back(file.file);
    }

    bool has(std::string_view stored) const { return found_.contains(full_name(layout_, stored)); }

    PieceSource source;

private:
    /// A stored tensor of which parameters are made.
    struct Composed {
        Dimensions shape;
        std::vector<std::pair<models::Parameter, StoredParameter>> parts;
    };

    void add(const SafetensorsEntry& entry, const SafetensorsFile& file, const fs::path& path) {
        const std::string full = full_name(layout_, entry.name);
        const std::string canonical = canonical_name(layout_, full);
        const StoredPiece piece{whole(entry.shape), entry.type,   file.data(entry), {},
                                entry.name,         path.string()};
        const auto [earlier, fresh] = found_.try_emplace(full, piece.entry, piece.file);
        if (!fresh)
            throw bad_file(path,
                           fmt::format("'{}' is a second '{}', which was '{}' in {}", entry.name,
                                       canonical, earlier->second.first, earlier->second.second));
        const auto composed = composed_.find(full);
        if (composed == composed_.end()) {
            source.tensors[{kinds::kParameter, canonical}] = {entry.shape, {piece}};
            return;
        }
        if (composed->second.shape != entry.shape)
            throw bad_file(path, fmt::format("'{}' has the shape {}, not {} as {} says", entry.name,
                                             text(entry.shape), text(composed->second.shape),
                                             (folder_ / kConfigName).string()));
        for (const auto& [parameter, stored] : composed->second.parts) {
            StoredTensor& tensor = source.tensors[{kinds::kParameter, parameter.name}];
            tensor.shape = parameter.shape;
            for (const Slice& place : stored.places) {
                tensor.pieces.push_back(piece);
                tensor.pieces.back().box = place.box;
                tensor.pieces.back().place = place;
                if (stored.minus != 0) tensor.pieces.back().plus = stored.minus;
            }
        }
    }

    fs::path folder_;
    const HuggingFaceLayout& layout_;
    std::map<std::string, Composed> composed_;  ///< by full name of the tensor
    /// By full name: the name in the file, and the file.
    std::map<std::string, std::pair<std::string, std::string>> found_;
};

PieceSource weights_of(const fs::path& folder, const HuggingFaceLayout& layout,
                       const models::Architecture& architecture) {
    Importer importer(folder, layout, architecture);
    if (there(folder / kIndexName) && !there(folder / kModelName)) {
        const WeightMap listed = read_index(folder / kIndexName);
        std::set<std::string> files;
        for (const auto& [tensor, file] : listed) files.insert(file);
        for (const std::string& file : files) importer.add(file, &listed);
        for (const auto& [tensor, file] : listed)
            if (!importer.has(tensor))
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

HuggingFaceModel open_hugging_face(const fs::path& folder) {
    const text::NodePtr config = text::read_json(folder / kConfigName);
    text::Mistakes mistakes;
    HuggingFaceModel model;
    model.architecture = models::read_hf_config(config, mistakes);
    mistakes.throw_if_any();
    const text::NodePtr type = config->get("model_type");
    model.weights =
        weights_of(folder, hugging_face_layout(type ? type->scalar : ""), model.architecture);
    return model;
}

}  // namespace debubble::exec
