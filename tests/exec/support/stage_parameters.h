#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "exec/core/stage/stage_parameters.h"
#include "models/graph/graph.h"

namespace debubble::exec {

/// Parameters and buffers of a stage, filled from whole tensors by name.
class FlatParameters final : public StageParameters {
public:
    FlatParameters(const models::StageGraph& graph, const std::map<std::string, Tensor>& weights)
        : places_(graph.parameters.size()) {
        std::vector<int> order;
        for (const models::Operator& op : graph.operators)
            for (const bool matrix : {true, false})
                for (const int index : op.parameters)
                    if ((graph.parameters[index].shape.size() > 1) == matrix &&
                        std::find(order.begin(), order.end(), index) == order.end())
                        order.push_back(index);
        std::int64_t elements = 0;
        for (const int index : order) {
            places_[index] = {name_of(graph.parameters[index]), elements, {}};
            elements += graph.parameters[index].elements();
        }
        for (const models::Buffer& buffer : graph.buffers)
            buffers_.push_back(weights.at(buffer.name).clone());
        values_ = Tensor({elements});
        gradients_ = Tensor({elements});
        for (ParameterPlace& place : places_) {
            const Tensor& weight = weights.at(place.name);
            place.shape = weight.shape();
            std::memcpy(view(values_, place).data, weight.view().data,
                        static_cast<std::size_t>(weight.bytes()));
        }
    }

    TensorView value(int parameter) override { return view(values_, places_[parameter]); }
    TensorView gradient(int parameter) override { return view(gradients_, places_[parameter]); }
    TensorView buffer(int index) override { return buffers_[index].view(); }

    /// Adds the gradients to those of `sums`, by name.
    void add_gradients(std::map<std::string, Tensor>& sums) const {
        for (const ParameterPlace& place : places_) {
            auto [sum, fresh] = sums.try_emplace(place.name, place.shape);
            const View<float> from = view(gradients_, place).as<float>();
            for (std::int64_t i = 0; i < from.size(); ++i) sum->second.as<float>()[i] += from[i];
        }
    }

private:
    struct ParameterPlace {
        std::string name;
        std::int64_t first = 0;
        Shape shape;
    };

    static std::string name_of(const models::Parameter& parameter) {
        return parameter.tied_to.empty() ? parameter.name : parameter.tied_to;
    }
    static TensorView view(const Tensor& all, const ParameterPlace& place) {
        return {all.view().data + place.first * size_of(all.type()), place.shape, all.type()};
    }

    Tensor values_;
    Tensor gradients_;
    std::vector<Tensor> buffers_;
    std::vector<ParameterPlace> places_;
};

}  // namespace debubble::exec
