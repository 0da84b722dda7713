"""The tool that holds kernels against their budgets reads what NVIDIA's disassembler prints."""

import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import sass_budget  # noqa: E402

KEYS = ("_ZN8debubble4exec4cuda54_GLOBAL__N__45eea08d_21_attention_backward_cu_6f43d53f"
        "11keys_kernelILi64ELi64EEEvNS1_14AttentionShapeE")
USAGE = f"""
Fatbin elf code:
================
arch = sm_80
 Function {KEYS}:
  REG:99 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:856
Fatbin elf code:
arch = sm_90a
 Function {KEYS}:
  REG:80 STACK:16 SHARED:1024 LOCAL:0 CONSTANT[0]:856 TEXTURE:0 SURFACE:0 SAMPLER:0
"""
SASS = f"""
arch = sm_80
\t\tFunction : {KEYS}
        /*0010*/                   HMMA.16816.F32 R4, R8, R10, R4 ;
arch = sm_90a
\t\tFunction : {KEYS}
        /*0000*/                   LDC R1, c[0x0][0x28] ;              /* 0x00000a00ff017b82 */
        /*0010*/               @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0020*/                   LDG.E.64 R4, desc[UR4][R2.64] ;
        /*0030*/                   LDSM.16.M88.4 R8, [R10] ;
        /*0040*/                   LDSM.16.M88.2 R8, [R10] ;
        /*0050*/                   LDGSTS.E.BYPASS.128 [R7], desc[UR6][R2.64] ;
        /*0060*/                   HMMA.16816.F32.BF16 R4, R8, R10, R4 ;
        /*0070*/               @P1 STL [R1+0x4], R5 ;
        /*0080*/                   LDL.LU R5, [R1+0x4] ;
        /*0090*/                   LDGDEPBAR ;
"""
NAME = "attention_backward:keys_kernel<64,64>"


@unittest.skipUnless(shutil.which("c++filt"), "there is no c++filt")
class SassBudget(unittest.TestCase):
    def test_counts_are_those_of_one_architecture(self):
        self.assertEqual(sass_budget.usage_of(USAGE, "sm_90a"), {KEYS: (80, 16)})
        self.assertEqual(sass_budget.usage_of(USAGE, "sm_80"), {KEYS: (99, 0)})
        counts = sass_budget.instructions_of(SASS, "sm_90a")[KEYS]
        self.assertEqual((counts["tensor"], counts["wide"], counts["spills"]), (1, 3, 2))

    def test_names_are_those_of_the_sources(self):
        self.assertEqual(sass_budget.short_names([KEYS]), {KEYS: NAME})

    def test_the_table_is_read_as_it_is_written(self):
        table = {NAME: sass_budget.Kernel(80, 16, 2, 1, 3)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table.txt"
            path.write_text(sass_budget.table_of(table, "13.0", "sm_90a"))
            self.assertEqual(sass_budget.read_table(path), (("13.0", "sm_90a"), table))

    def test_only_what_is_worse_is_beyond_a_budget(self):
        budget = {NAME: sass_budget.Kernel(80, 16, 2, 1, 3)}
        better = {NAME: sass_budget.Kernel(79, 0, 0, 2, 4)}
        self.assertEqual(sass_budget.differences(budget, budget), [])
        self.assertEqual(sass_budget.differences(better, budget), [])
        worse = {NAME: sass_budget.Kernel(81, 24, 3, 0, 2)}
        self.assertEqual(sass_budget.differences(worse, budget),
                         [f"{NAME}: registers 81, and the budget is 80",
                          f"{NAME}: stack 24, and the budget is 16",
                          f"{NAME}: spills 3, and the budget is 2",
                          f"{NAME}: tensor 0, and the budget is 1",
                          f"{NAME}: wide 2, and the budget is 3"])

    def test_a_new_kernel_needs_a_budget_and_one_that_is_gone_has_none(self):
        kernel = sass_budget.Kernel(80, 0, 0, 0, 0)
        self.assertEqual(sass_budget.differences({"a": kernel}, {"b": kernel}),
                         ["a has no budget", "b has a budget and is not there"])

    def test_no_kernel_of_the_committed_table_is_without_a_line(self):
        (nvcc, arch), table = sass_budget.read_table(
            pathlib.Path(__file__).with_name("sass_budget_sm90a.txt"))
        self.assertEqual((nvcc, arch), ("13.0", "sm_90a"))
        self.assertGreater(len(table), 100)
        tensor = [kernel for name, kernel in table.items() if "tensor_" in name]
        self.assertTrue(tensor and all(kernel.tensor > 0 and kernel.wide > 0 for kernel in tensor))


if __name__ == "__main__":
    unittest.main()
