#pragma once

#include <map>
#include <memory>
#include <string>

#include "exec/core/device.h"
#include "tests/exec/support/tensors.h"
#include "tests/oracle/oracle.h"

/// Lets one call run on two Kernels: those under test, in some type, and the oracle in fp64.
namespace debubble::exec {

/// Copies of host tensors on a device, for the length of a call.
class Mirror {
public:
    Mirror(Device& device, Kernels& kernels);
    ~Mirror() { device_.release(memory_); }
    Mirror(const Mirror&) = delete;
    Mirror& operator=(const Mirror&) = delete;

    TensorView of(const TensorView& host);
    void bring_back();  ///< everything, and forgets it

private:
    Device& device_;
    Kernels& kernels_;
    std::byte* memory_;
    std::int64_t used_ = 0;
    std::map<std::byte*, std::pair<TensorView, TensorView>> copies_;  ///< host, device
};

/// A tensor of each of the two, with the same values: those that the tested type has.
struct Twins {
    Tensor tested;
    Tensor expected;

    /// For kernels.h's views, as the side that a call is made on sees them.
    struct Side {
        bool oracle = false;
        Mirror* mirror = nullptr;
        TensorView operator()(const Twins& twins) const {
            if (oracle) return twins.expected.view();
            return mirror ? mirror->of(twins.tested.view()) : twins.tested.view();
        }
    };
};

struct BackEnd {
    std::string name;
    std::unique_ptr<Kernels> (*make)() = nullptr;
    std::unique_ptr<Device> (*make_device)() = nullptr;  ///< or the kernels of one
    std::string why_not = {};  ///< why they cannot be tested here; empty if they can
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
        call(*tested_, Twins::Side{false, mirror_.get()});
        tested_->finish();
        if (mirror_) mirror_->bring_back();
        call(oracle_, Twins::Side{true});
    }

    /// The largest difference over the largest magnitude, within what the types promise.
    void expect_alike(const Twins& twins, const std::string& what, double slack = 1) const;

    KernelsTest();
    void SetUp() override {
        if (const auto& why = std::get<BackEnd>(GetParam()).why_not; !why.empty())
            GTEST_SKIP() << why;
    }

    std::unique_ptr<Device> device_;
    std::unique_ptr<Kernels> tested_;
    std::unique_ptr<Mirror> mirror_;  ///< where the tested kernels are a device's
    Oracle oracle_;

private:
    unsigned seed_ = 0;
};

std::string name_of(const testing::TestParamInfo<std::tuple<BackEnd, DataType>>& test);

}  // namespace debubble::exec
