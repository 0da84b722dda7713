#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "exec/io/checkpoint/manifest.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

/// The description of an entry in the metadata.
struct Description {
    std::string kind;
    std::string tensor;
    Dimensions shape;
    Dimensions begin;
    std::string sha256;
};

std::optional<Description> parse_description(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || json.size() != 5) return std::nullopt;
    const auto word = [&](const char* key, std::string& out) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_string()) return false;
        out = found->get<std::string>();
        return true;
    };
    const auto numbers = [&](const char* key, Dimensions& out) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_array()) return false;
        for (const auto& value : *found) {
            if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1ull << 62)
                return false;
            out.push_back(value.get<std::int64_t>());
        }
        return true;
    };
    Description said;
    const bool whole = word("kind", said.kind) && word("tensor", said.tensor) &&
                       word("sha256", said.sha256) && numbers("shape", said.shape) &&
                       numbers("begin", said.begin) && said.sha256.size() == 64;
    return whole ? std::optional(std::move(said)) : std::nullopt;
}

bool lies_inside(const Box& box, const Dimensions& shape) {
    if (box.begin.size() != shape.size() || box.extent.size() != shape.size()) return false;
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (box.begin[d] > shape[d] || box.extent[d] > shape[d] - box.begin[d]) return false;
    return true;
}

}  // namespace

void add_rank_file(const std::filesystem::path& folder, const RankFile& rank_file,
                   PieceSource& source) {
    if (rank_file.name.find('/') != std::string::npos)
        throw bad_file(folder / "manifest.json",
                       fmt::format("'{}' is not a file of its folder", rank_file.name));
    const std::filesystem::path path = folder / rank_file.name;
    const SafetensorsFile file = open_safetensors(path);
    const std::string_view bytes = file.file->bytes();
    if (bytes.size() != static_cast<std::uint64_t>(rank_file.bytes))
        throw bad_file(path, fmt::format("has {} bytes, but the manifest says {}", bytes.size(),
                                         rank_file.bytes));
    const std::string digest = file.file->whole(
        [&](std::string_view whole) { return sha256(whole.substr(0, file.header.bytes)); });
    if (digest != rank_file.header_sha256)
        throw bad_file(
            path, "the header is damaged: it does not have the SHA-256 that the manifest states");
    for (const SafetensorsEntry& entry : file.header.entries) {
        const auto text = file.header.metadata.find(entry.name);
        const std::optional<Description> said =
            text == file.header.metadata.end() ? std::nullopt : parse_description(text->second);
        if (!said)
            throw bad_file(path, fmt::format("does not say what '{}' is a part of", entry.name));
        const Box box{said->begin, entry.shape};
        if (!lies_inside(box, said->shape))
            throw bad_file(path, fmt::format("'{}' does not lie inside {}", entry.name,
                                             debubble::exec::text(said->shape)));
        StoredTensor& tensor = source.tensors[{said->kind, said->tensor}];
        if (tensor.pieces.empty()) tensor.shape = said->shape;
        if (tensor.shape != said->shape)
            throw bad_file(path, fmt::format("'{}' is a part of {}, but other files say {}",
                                             entry.name, debubble::exec::text(said->shape),
                                             debubble::exec::text(tensor.shape)));
        tensor.pieces.push_back(
            {box, entry.type, file.data(entry), said->sha256, entry.name, path.string()});
    }
    source.files.push_back(file.file);
}

}  // namespace debubble::exec
