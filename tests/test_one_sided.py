"""Settings that choose kernels for one side of a comparison: left out by default, named always."""

from benchmarks.one_sided import without_one_sided


def test_a_setting_of_one_library_is_left_out_and_named() -> None:
    environment = {"OPENBLAS_CORETYPE": "Haswell", "PATH": "/bin"}
    said = without_one_sided(environment, is_kept=False)
    assert environment == {"PATH": "/bin"}
    assert said.startswith("OPENBLAS_CORETYPE=Haswell (numpy's BLAS): set in the environment and left out")


def test_settings_that_are_kept_are_named_too() -> None:
    environment = {"ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}
    said = without_one_sided(environment, is_kept=True)
    assert environment == {"ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}
    assert "ONEDNN_MAX_CPU_ISA=AVX2 (TensorFlow's oneDNN): as set in the environment" in said


def test_an_environment_without_them_stays_and_nothing_is_said() -> None:
    environment = {"OPENBLAS_NUM_THREADS": "2"}
    assert without_one_sided(environment, is_kept=False) == ""
    assert environment == {"OPENBLAS_NUM_THREADS": "2"}
