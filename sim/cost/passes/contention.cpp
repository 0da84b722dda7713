#include "sim/cost/passes/contention.h"

#include <algorithm>

#include "models/execution/laws.h"

namespace debubble::sim {
namespace {

double multiprocessors_of(models::Dispatcher dispatcher) {
    switch (dispatcher) {
        case models::Dispatcher::DeepEp: return models::laws().deepep_sms;
        case models::Dispatcher::HybridEp: return models::laws().hybridep_sms;
        case models::Dispatcher::AllToAll:
        case models::Dispatcher::AllGather: break;
    }
    return models::laws().nccl_sms;
}

}  // namespace

Contention contention_of(const scenarios::Gpu& gpu, double multiprocessors) {
    if (gpu.threads || multiprocessors == 0) return {};
    const double left = 1 - multiprocessors / gpu.sms;
    const double slowed = std::clamp(1 - left / gpu.kept_clock(), 0.0, 0.99);
    return {slowed, models::laws().exchange_stretch};
}

/// Parameters that are gathered one by one use a single channel.
Contention contention_of_replicas(const scenarios::Scenario& scenario) {
    const scenarios::Framework& framework = scenario.framework;
    const bool one_channel = framework.gather == scenarios::Gather::Parameter;
    const Contention both =
        contention_of(scenario.cluster.gpu, one_channel ? 0 : framework.collective_sms);
    return both.slowed > 0 ? both : Contention{};
}

Contention contention_of_exchanges(const scenarios::Scenario& scenario) {
    return contention_of(scenario.cluster.gpu,
                         multiprocessors_of(scenario.framework.kernels.dispatcher));
}

double overlapped_seconds(double communication, double kernels, const Contention& contention) {
    const double stretched = contention.stretch * communication;
    const double slowed = kernels / (1 - contention.slowed);
    if (stretched <= slowed) return kernels + contention.slowed * stretched;
    return communication + slowed * (1 - 1 / contention.stretch);
}

double slowed_by(double communication, double kernels, const Contention& contention) {
    return contention.slowed * std::min(contention.stretch * communication, kernels);
}

}  // namespace debubble::sim
