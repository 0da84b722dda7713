#include "sim/cost/kernels/kernel_cost.h"

#include <algorithm>

#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "sim/memory/static_level.h"

namespace debubble::sim {
namespace {

double fixed_seconds(const scenarios::Scenario& scenario) {
    return seconds(scenario.framework.optimizer_fixed);
}

Duration in_device_memory(const scenarios::Scenario& scenario, double elements) {
    if (scenarios::measures_operators(scenario.cluster.measured)) {
        const scenarios::Measured& measured = *scenario.cluster.measured;
        return from_seconds(elements * measured.optimizer_seconds_per_element);
    }
    // The profile's bytes are for Adam, which reads and writes two moments, and besides main
    // parameters reads and writes them in fp32, and reads gradients of fp32.
    const scenarios::Training& training = scenario.training;
    const scenarios::Precision& precision = training.precision;
    const auto width = [](models::DataType type) {
        return static_cast<double>(models::size_of(type));
    };
    const int moments = moments_of(training.run.optimizer);
    double spared = 2.0 * (2 - moments) * width(precision.moments);
    if (precision.main_params) {
        spared += 2.0 * moments * (width(models::DataType::Fp32) - width(precision.moments));
        if (!precision.converts_gradients())
            spared += width(models::DataType::Fp32) - width(precision.grads);
    }
    const double moved = elements * std::max(0.0, scenario.framework.bytes_per_step() - spared);
    return from_seconds(moved / effective_memory_bandwidth(scenario.cluster.gpu).value +
                        fixed_seconds(scenario));
}

double state_bytes(const scenarios::Scenario& scenario, double elements) {
    return elements * static_cast<double>(models::optimizer_state_width(
                          static_policy(scenario), scenario.training.precision.compute));
}

/// Copies of state for a possible rollback are read and written once more; state on the host
/// crosses the link in both directions.
Duration copies(const scenarios::Scenario& scenario, double elements) {
    if (!keeps_step_copies(scenario)) return {};
    const bool away = scenario.training.offload_optimizer && !scenario.cluster.gpu.threads;
    const double state = state_bytes(scenario, elements);
    const double here =
        elements * static_cast<double>(models::size_of(scenario.training.precision.compute)) +
        (away ? 0 : state);
    return from_seconds(2 * here / effective_memory_bandwidth(scenario.cluster.gpu).value +
                        (away ? state / scenario.cluster.gpu.host_link.value : 0));
}

/// The slower of the kernels and the link; the last slice's transfer overlaps nothing.
Duration through_device(const scenarios::Scenario& scenario, double elements) {
    const double state = state_bytes(scenario, elements);
    const double third = static_cast<double>(scenario.framework.offload_buffer.count) / 3;
    const double link = (state + std::min(state, third)) / scenario.cluster.gpu.host_link.value;
    return std::max(in_device_memory(scenario, elements),
                    from_seconds(link + fixed_seconds(scenario)));
}

/// Gradients are copied to the host, Adam runs on processors that the node's GPUs share, and
/// parameters are copied back.
Duration on_host(const scenarios::Scenario& scenario, double elements) {
    const scenarios::Precision& precision = scenario.training.precision;
    const auto width =
        static_cast<double>(models::size_of(precision.grads) + models::size_of(precision.compute));
    const int sharers = std::min(scenario.cluster.gpus_per_node, scenario.parallel.gpus());
    return from_seconds(elements * width / scenario.cluster.gpu.host_link.value +
                        elements * sharers / scenario.cluster.host_adam_parameters_per_s +
                        fixed_seconds(scenario));
}

}  // namespace

Duration weight_cast_time(const scenarios::Scenario& scenario, std::int64_t weights) {
    if (weights == 0) return {};
    const double bytes = models::weight_cast_bytes(scenarios::execution_of(scenario).low_precision);
    return from_seconds(bytes * static_cast<double>(weights) /
                        effective_memory_bandwidth(scenario.cluster.gpu).value);
}

Duration optimizer_time(const scenarios::Scenario& scenario, std::int64_t elements) {
    const auto count = static_cast<double>(elements);
    const Duration kept = copies(scenario, count);
    // On a processor, offloaded state is in its own memory anyway.
    if (!scenario.training.offload_optimizer || scenario.cluster.gpu.threads)
        return in_device_memory(scenario, count) + kept;
    return (scenario.framework.offload_buffer.count > 0 ? through_device(scenario, count)
                                                        : on_host(scenario, count)) +
           kept;
}

}  // namespace debubble::sim
