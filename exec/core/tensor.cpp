#include "exec/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace debubble::exec {

namespace {

constexpr std::align_val_t kTensorAlignment{64};

}  // namespace

std::string Shape::text() const {
    std::string text = "[";
    for (int axis = 0; axis < rank_; ++axis) {
        text += (axis > 0 ? ", " : "") + std::to_string(sizes_[axis]);
    }
    return text + "]";
}

void Tensor::Free::operator()(std::byte* memory) const {
    ::operator delete(memory, kTensorAlignment);
}

Tensor::Tensor(const Shape& shape, DataType type) : shape_(shape), type_(type) {
    const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(this->bytes(), 1));
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, kTensorAlignment)));
    zero();
}

Tensor Tensor::clone() const {
    if (!memory_) return {};
    Tensor copy(shape_, type_);
    std::memcpy(copy.memory_.get(), memory_.get(), bytes());
    return copy;
}

void Tensor::zero() {
    if (memory_) std::memset(memory_.get(), 0, bytes());
}

}  // namespace debubble::exec
