#include "exec/cpu/workers.h"

#include <algorithm>
#include <thread>

namespace debubble::exec {

void on_workers(int workers, const std::function<void(int)>& body) {
    if (workers == 1) return body(0);
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (int worker = 0; worker < workers; ++worker) body(worker);
}

double cores_per_thread(int threads) {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    return std::min(1.0, cores / static_cast<double>(std::max(1, threads)));
}

}  // namespace debubble::exec
