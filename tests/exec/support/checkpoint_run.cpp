#include "tests/exec/support/checkpoint_run.h"
#include "models/read/layer_keys.h"

#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "exec/io/checkpoint/checkpoint.h"

namespace debubble::exec {

using models::Architecture;
using models::Parameter;

namespace {

/// Tells every element of every tensor apart, and those of steps that follow each other.
float value_of(const WantedPiece& piece, std::int64_t element, std::int64_t step) {
    const auto name =
        static_cast<std::int64_t>(std::hash<std::string>{}(piece.kind + piece.tensor));
    constexpr std::int64_t kMostElements = 10'000;
    return static_cast<float>((step % 10 * 100 + (name & 63)) * kMostElements + element);
}

models::StageContent content(const Architecture& model, const Cut& cut, int rank) {
    const int stage = rank / (cut.tensor * cut.data);
    const int layers = model.layers.count() / cut.pipeline;
    return {stage * layers, layers, stage == 0, stage == cut.pipeline - 1};
}

/// Calls for every element of a piece with its global index and its memory.
void for_elements(const WantedPiece& piece, const auto& call) {
    const Dimensions global = row_major_strides(piece.shape);
    const Box& box = piece.slice.box;
    for (std::int64_t i = 0; i < box.elements(); ++i) {
        std::int64_t rest = i;
        std::int64_t index = 0;
        std::int64_t place = piece.slice.offset;
        for (std::size_t d = box.extent.size(); d-- > 0;) {
            const std::int64_t at = rest % box.extent[d];
            rest /= box.extent[d];
            index += (box.begin[d] + at) * global[d];
            place += at * piece.slice.strides[d];
        }
        call(index, reinterpret_cast<float*>(piece.data)[place]);
    }
}

}  // namespace

Architecture small_gpt() {
    Architecture a;
    a.name = "small";
    models::LayerKeys keys;
    keys.heads = keys.kv_heads = 4;
    keys.head_dim = 6;
    keys.ffn = 40;
    a.layers = {layer_of(keys), 2};
    a.hidden = 24;
    a.vocab = 29;
    a.max_positions = 7;
    return a;
}

RankMemory::RankMemory(const Architecture& model, const Cut& cut, int rank)
    : graph_(models::build_stage(model, cut.execution(), content(model, cut, rank))),
      tensor_rank_(rank % cut.tensor),
      data_rank_(rank / cut.tensor % cut.data),
      cut_(cut) {}

std::vector<WantedPiece> RankMemory::pieces() {
    std::vector<WantedPiece> all;
    for (const Parameter& parameter : graph_.parameters)
        for (const char* kind : {kinds::kParameter, kinds::kFirstMoment}) {
            const std::int64_t elements = elements_of(local_shape(parameter, graph_.execution));
            const std::int64_t first = elements * data_rank_ / cut_.data;
            const FlatRange range{first, elements * (data_rank_ + 1) / cut_.data - first};
            std::vector<float>& memory = memory_[{kind, parameter.name}];
            memory.resize(range.count, -1);
            for (WantedPiece& piece :
                 pieces_of(parameter, graph_.execution, tensor_rank_, kind, DataType::Fp32,
                           reinterpret_cast<std::byte*>(memory.data()), range))
                all.push_back(std::move(piece));
        }
    return all;
}

Manifest manifest_of(const Architecture& model, std::int64_t step) {
    Manifest manifest;
    manifest.architecture = model;
    manifest.training.step = step;
    return manifest;
}

void save(const std::filesystem::path& folder, const Architecture& model, const Cut& cut,
          std::int64_t step, int kept) {
    const CheckpointWriter writer(folder, step, cut.ranks());
    const auto save_rank = [&](int rank) {
        RankMemory memory(model, cut, rank);
        std::vector<Piece> pieces;
        for (const WantedPiece& piece : memory.pieces()) {
            for_elements(piece,
                         [&](std::int64_t i, float& value) { value = value_of(piece, i, step); });
            pieces.push_back(piece);
        }
        writer.write_rank(rank, pieces);
    };
    std::vector<std::thread> others;
    for (int rank = 1; rank < cut.ranks(); ++rank) others.emplace_back(save_rank, rank);
    save_rank(0);
    for (std::thread& rank : others) rank.join();
    writer.commit(manifest_of(model, step), kept);
}

void expect_loads(const Checkpoint& checkpoint, const Architecture& model, const Cut& cut) {
    const std::int64_t step = checkpoint.manifest.training.step;
    for (int rank = 0; rank < cut.ranks(); ++rank) {
        RankMemory memory(model, cut, rank);
        const std::vector<WantedPiece> pieces = memory.pieces();
        load(checkpoint.pieces, pieces);
        std::int64_t wrong = 0;
        for (const WantedPiece& piece : pieces)
            for_elements(piece, [&](std::int64_t index, float value) {
                wrong += value != value_of(piece, index, step);
            });
        EXPECT_EQ(wrong, 0) << "on rank " << rank;
    }
}

}  // namespace debubble::exec
