#pragma once

namespace debubble::exec {
class Device;
}

/// The functions that the module exports; everything else is found through these.
extern "C" {
/// The number of GPUs of this machine, at least one. Throws WorldError with the reason if there is
/// none.
int debubble_cuda_count();
/// Writes the PCI bus id of a GPU, ended by a zero. Throws WorldError.
void debubble_cuda_bus_id(int device, char* text, int size);
/// Makes the GPU as rank `part` of the ranks that share it has it; where `part` is negative, no
/// rank has multiprocessors of its own. The caller deletes it, after everything that it made. The
/// thread that asks is the one that uses it.
debubble::exec::Device* debubble_cuda_device(int device, int part, int ranks_on_it);
}
