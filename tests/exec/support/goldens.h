#pragma once

#include <map>
#include <string>

#include "exec/core/pieces/pieces.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

Shape shape_of(const Dimensions& shape);

/// The tensors of tests/exec/goldens/NAME.safetensors, which make_goldens.py wrote.
class Goldens {
public:
    explicit Goldens(const std::string& name);

    const Tensor& operator[](const std::string& name) const;
    bool has(const std::string& name) const { return tensors_.contains(name); }
    const std::map<std::string, Tensor>& all() const { return tensors_; }

private:
    std::map<std::string, Tensor> tensors_;
};

}  // namespace debubble::exec
