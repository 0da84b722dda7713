#include "exec/cpu/workers.h"

namespace debubble::exec {

void on_workers(int workers, const std::function<void(int)>& body) {
    if (workers == 1) return body(0);
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (int worker = 0; worker < workers; ++worker) body(worker);
}

}  // namespace debubble::exec
