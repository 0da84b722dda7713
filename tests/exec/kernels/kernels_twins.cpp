#include "tests/exec/kernels/kernels_twins.h"

#include <stdexcept>

#include "exec/cpu/fp32_operands.h"

namespace debubble::exec {

namespace {

/// The same values in fp64.
Tensor widened(const Tensor& from) {
    const Tensor single(from.shape(), DataType::Fp32);
    Tensor wide(from.shape(), DataType::Fp64);
    convert(from.view(), single.view());
    std::ranges::copy(single.as<float>(), wide.as<double>().begin());
    return wide;
}

constexpr Bytes kMirrored{std::int64_t{64} << 20};

}  // namespace

Mirror::Mirror(Device& device, Kernels& kernels)
    : device_(device), kernels_(kernels), memory_(device.reserve(kMirrored)) {}

TensorView Mirror::of(const TensorView& host) {
    if (const auto found = copies_.find(host.data); found != copies_.end())
        return found->second.second;
    const TensorView there{memory_ + used_, host.shape, host.type};
    used_ += (host.bytes() + 255) / 256 * 256;
    if (used_ > kMirrored.count) throw std::logic_error("a test has more than its mirror");
    kernels_.upload(host, there);
    copies_.insert({host.data, {host, there}});
    return there;
}

void Mirror::bring_back() {
    for (const auto& [address, copy] : copies_) kernels_.download(copy.second, copy.first);
    copies_.clear();
    used_ = 0;
}

KernelsTest::KernelsTest() {
    const BackEnd& which = std::get<BackEnd>(GetParam());
    if (which.make) {
        tested_ = which.make();
        return;
    }
    if (!which.why_not.empty()) return;
    device_ = which.make_device();
    tested_ = device_->make_kernels();
    mirror_ = std::make_unique<Mirror>(*device_, *tested_);
}

Twins KernelsTest::random(const Shape& shape, DataType stored) {
    const Tensor drawn = random_tensor<float>(shape, ++seed_);
    Tensor tested(shape, stored);
    convert(drawn.view(), tested.view());
    Tensor expected = widened(tested);
    return {std::move(tested), std::move(expected)};
}

Twins KernelsTest::integers(std::vector<std::int32_t> values) {
    const Tensor tensor({static_cast<std::int64_t>(values.size())}, DataType::Int32);
    std::ranges::copy(values, tensor.as<std::int32_t>().begin());
    return {tensor.clone(), tensor.clone()};
}

Twins KernelsTest::totals() {
    return {Tensor({1}, DataType::Fp64), Tensor({1}, DataType::Fp64)};
}

void KernelsTest::expect_alike(const Twins& twins, const std::string& what, double slack) const {
    const DataType stored = twins.tested.type();
    if (stored == DataType::Fp64) {
        const double expected = twins.expected.as<double>()[0];
        EXPECT_NEAR(twins.tested.as<double>()[0], expected,
                    (wide() ? 1e-5 : 1e-2) * slack * std::abs(expected))
            << what;
        return;
    }
    const Tensor tested = widened(twins.tested);
    const double bound = wide() ? 1e-5 : type() == DataType::Bf16 ? 1e-2 : 2e-3;
    const double error =
        relative_difference<double>(tested.as<double>(), twins.expected.as<double>());
    EXPECT_LT(error, bound * slack) << what;
    EXPECT_GT(largest_magnitude<double>(tested.as<double>()), 0) << what << " is all zero";
}

std::string name_of(const testing::TestParamInfo<std::tuple<BackEnd, DataType>>& test) {
    const auto& [back_end, type] = test.param;
    const char* stored = type == DataType::Fp32 ? "fp32" : type == DataType::Bf16 ? "bf16" : "fp16";
    return back_end.name + "_" + stored;
}

}  // namespace debubble::exec
