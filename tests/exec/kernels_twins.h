#pragma once

#include <memory>
#include <string>

#include "exec/cpu/reference_kernels.h"
#include "tests/exec/tensors.h"

/// Lets one call run on two Kernels: those under test, in some type, and the reference in fp32.
namespace debubble::exec {

/// A tensor of each of the two, with the same values: those that the narrower type has.
struct Twins {
    Tensor tested;
    Tensor expected;

    /// For kernels.h's views, as the side that a call is made on sees them.
    struct Side {
        bool reference = false;
        TensorView operator()(const Twins& twins) const {
            return (reference ? twins.expected : twins.tested).view();
        }
    };
};

struct BackEnd {
    std::string name;
    std::unique_ptr<Kernels> (*make)();
    friend void PrintTo(const BackEnd& which, std::ostream* out) { *out << which.name; }
};

/// Those that this build has and this machine can run.
std::vector<BackEnd> back_ends();

class KernelsTest : public testing::TestWithParam<std::tuple<BackEnd, DataType>> {
protected:
    DataType type() const { return std::get<DataType>(GetParam()); }
    bool wide() const { return type() == DataType::Fp32; }

    /// Uniform in [-1, 1), in the compute type.
    Twins random(const Shape& shape) { return random(shape, type()); }
    Twins random(const Shape& shape, DataType stored);
    Twins fp32(const Shape& shape) { return random(shape, DataType::Fp32); }
    static Twins integers(std::vector<std::int32_t> values);
    static Twins totals();  ///< fp64 [1], zero

    /// Makes the call on both sides: call(kernels, side), where side(twins) is a view.
    template <class Call>
    void both(const Call& call) {
        call(*tested_, Twins::Side{false});
        tested_->finish();
        call(*reference_, Twins::Side{true});
    }

    /// The largest difference over the largest magnitude, within what the types promise.
    void expect_alike(const Twins& twins, const std::string& what, double slack = 1) const;

    std::unique_ptr<Kernels> tested_ = std::get<BackEnd>(GetParam()).make();
    std::unique_ptr<Kernels> reference_ = make_reference_kernels();

private:
    unsigned seed_ = 0;
};

std::string name_of(const testing::TestParamInfo<std::tuple<BackEnd, DataType>>& test);

}  // namespace debubble::exec
