#pragma once

namespace debubble::exec {
class Device;
}

/// What the module exports: all else of it is found through these.
extern "C" {
/// GPUs of this machine, one at least. Throws WorldError with the reason if there is none.
int debubble_cuda_count();
/// Its PCI bus id, ended by a zero. Throws WorldError.
void debubble_cuda_bus_id(int device, char* text, int size);
/// A GPU as rank `part` of so many that share it has it; where `part` is negative none has
/// multiprocessors of its own. The caller's to delete, after everything that it made. The thread
/// that asks is the one that uses it.
debubble::exec::Device* debubble_cuda_device(int device, int part, int ranks_on_it);
}
