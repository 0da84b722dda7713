#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/cpu/cpu_kernels.h"
#include "tests/exec/support/goldens.h"
#include "tests/exec/support/tensors.h"
#include "tests/oracle/oracle.h"

/// The kernels that are compared with stored results of other software: within 1e-5 of the largest
/// element, by the oracle and by the processor's back ends.
namespace debubble::exec {

struct Subject {
    std::string name;
    std::unique_ptr<Kernels> (*make)();
    DataType type = DataType::Fp32;  ///< in which it computes
    friend void PrintTo(const Subject& which, std::ostream* out) { *out << which.name; }
};

inline std::vector<Subject> subjects() {
    std::vector<Subject> all{
        {"oracle", [] { return std::unique_ptr<Kernels>(new Oracle); }, DataType::Fp64},
        {"fixed_order", [] { return make_cpu_kernels("fixed-order", 1); }}};
    if (has_onednn()) all.push_back({"onednn", [] { return make_cpu_kernels("onednn", 1); }});
    return all;
}

inline Tensor converted(const Tensor& from, DataType type) {
    if (from.type() == type) return from.clone();
    Tensor to(from.shape(), type);
    if (type == DataType::Fp64) {
        std::ranges::copy(from.as<float>(), to.as<double>().begin());
    } else {
        std::ranges::transform(from.as<double>(), to.as<float>().begin(),
                               [](double x) { return static_cast<float>(x); });
    }
    return to;
}

/// A test of each subject.
class AgainstGoldens : public testing::TestWithParam<Subject> {
protected:
    /// The tensors of one case in the subject's type, and fresh ones to compute them into.
    struct Golden {
        const Goldens& all;
        std::string name;
        DataType type;

        const Tensor& stored(const std::string& part) const { return all[name + "." + part]; }
        Tensor operator[](const std::string& part) const { return converted(stored(part), type); }
        ConstTensorView integers(const std::string& part) const { return stored(part).view(); }
        Tensor like(const std::string& part) const { return fresh(stored(part).shape()); }
        Tensor fresh(const Shape& shape) const { return Tensor(shape, type); }
        void expect(const std::string& part, const Tensor& computed) const {
            const double error =
                relative_difference(converted(computed, DataType::Fp32), stored(part));
            EXPECT_LT(error, 1e-5) << name << "." << part;
            record_error(name + "." + part, error);
        }
    };
    Golden golden(const Goldens& all, const std::string& name) const {
        return {all, name, GetParam().type};
    }

    const std::unique_ptr<Kernels> kernels_ = GetParam().make();
};

}  // namespace debubble::exec
