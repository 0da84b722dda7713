#include "models/network/layers.h"

#include <algorithm>

#include "base/check.h"

namespace debubble::models {

void Layers::append(const Layer& layer, int count) {
    const auto known = std::find(kinds_.begin(), kinds_.end(), layer);
    const auto kind = static_cast<std::uint16_t>(known - kinds_.begin());
    if (known == kinds_.end()) kinds_.push_back(layer);
    kind_of_.insert(kind_of_.end(), count, kind);
    find_ahead();
}

void Layers::find_ahead() {
    ahead_ = {};
    if (kind_of_.empty()) return;
    const auto last = [&](auto has) -> const Layer* {
        const auto found = std::find_if(kind_of_.rbegin(), kind_of_.rend(),
                                        [&](std::uint16_t kind) { return has(kinds_[kind]); });
        return found == kind_of_.rend() ? nullptr : &kinds_[*found];
    };
    ahead_ = kinds_[kind_of_.back()];
    const Layer* mixer = last([](const Layer& l) { return l.as<Attention>() != nullptr; });
    const Layer* mlp = last([](const Layer& l) { return l.has_mlp(); });
    if (!ahead_.mixes() && mixer != nullptr) ahead_.mixer = mixer->mixer;
    if (!ahead_.has_mlp() && mlp != nullptr) ahead_.mlp = mlp->mlp;
}

void Layers::cut_short(int count) {
    DEBUBBLE_CHECK(count >= 0 && count <= this->count(), "'layers' can only remove layers");
    kind_of_.resize(count);
    const auto used = std::max_element(kind_of_.begin(), kind_of_.end());
    kinds_.resize(used == kind_of_.end() ? 0 : *used + std::size_t{1});
    find_ahead();
}

int Layers::count_of(std::size_t kind) const {
    return static_cast<int>(std::count(kind_of_.begin(), kind_of_.end(), kind));
}

std::vector<LayerRun> runs_of(const Layers& layers, int first, int count) {
    std::vector<LayerRun> runs;
    for (int layer = first; layer < first + count; ++layer) {
        if (runs.empty() || layers.kind_of(layer) != layers.kind_of(layer - 1))
            runs.push_back({layer, 0});
        ++runs.back().count;
    }
    return runs;
}

}  // namespace debubble::models
