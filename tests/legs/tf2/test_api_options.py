"""The options of a device: which there are, what they take, and what the device is handed."""

from __future__ import annotations

import pytest

from npu_formats.session_options import table
from tests.legs.tf2.api_programs import run


@pytest.fixture
def options(monkeypatch):
    from npu_device import _log
    from npu_device._options import option_tree

    monkeypatch.setattr(_log, "_told", set())
    return option_tree.make("NpuConfig")


def flat(options, **environment: str) -> dict[str, str]:
    from npu_device._options import device_options

    handed = device_options.flat(options, environment)
    assert handed.pop("hcom_parallel") == options.hcom_parallel.value  # the one that always is
    return handed


def said_when_opened(options, capsys, **environment: str) -> str:
    from npu_device._options import device_options

    capsys.readouterr()
    device_options.say_what_has_no_effect(options, environment)
    return capsys.readouterr().err


def test_nothing_is_handed_to_the_device_that_nobody_has_set(options, capsys):
    assert flat(options) == {}
    assert said_when_opened(options, capsys) == ""


def test_values_are_handed_as_text_by_the_names_of_the_session_options(options):
    options.precision_mode = "allow_mix_precision"
    options.hcom_parallel = False
    options.enable_exception_dump = 1
    options.experimental.graph_memory_optimize_config.recompute = "auto"
    options.experimental.logical_device_deploy_config.logical_device_id = "[0:0]"
    assert flat(options) == {
        "precision_mode": "allow_mix_precision", "enable_exception_dump": "1", "recompute": "auto",
        "experimental_logical_device_cluster_deploy_mode": "LB", "experimental_logical_device_id": "[0:0]",
    }  # fmt: skip
    assert flat(options).keys() <= table().keys()


def test_a_session_gets_values_of_the_types_that_it_reads(options):
    from npu_device._options import device_options

    options.dump_config.enable_dump_debug = True
    options.graph_run_mode = 0
    options.overflow_flag = 0
    handed = device_options.of_session(options, {})
    assert handed["hcom_parallel"] is True and handed["enable_dump"] is False and handed["enable_dump_debug"] is True
    assert handed["graph_run_mode"] == 0 and handed["dump_mode"] == "output" and handed["overflow_flag"] == "0"


def test_a_group_comes_with_its_other_defaults(options):
    options.profiling_config.enable_profiling = True
    options.dump_config.enable_dump = True
    options.dump_config.dump_path = "/tmp"
    handed = flat(options)
    assert handed["profiling_mode"] == "1" and '"training_trace":"on"' in handed["profiling_options"]
    assert handed["dump_mode"] == "output" and handed["enable_dump_debug"] == "0" and "dump_step" not in handed


def test_the_device_gets_no_option_that_its_session_would_not_know():
    from npu_device._options.option_table import GROUP, rows

    known = [row for of_config in rows().values() for row in of_config if row.status != GROUP]
    assert len(known) == 76
    assert [row.session_option for row in known if row.session_option and row.session_option not in table()] == []
    done = {row.name for row in known if row.here == "done"}
    assert done == {row.name for row in known if row.session_option and table()[row.session_option].here.startswith("honoured")}


def test_every_value_that_a_list_names_is_taken_and_handed_on(options):
    from npu_device._options.option_table import GROUP, rows
    from npu_device._options.option_tree import make

    for config, of_config in rows().items():
        for row in of_config:
            if row.status != GROUP:
                for value in row.allowed or ["some text"]:
                    tree = make(config)
                    setattr(tree, row.name, value)
                    text = None if value is None else {True: "1", False: "0"}.get(value, str(value))
                    assert getattr(tree, row.name).value == text, row.name


def test_an_unknown_option_is_refused_with_all_there_are(options):
    with pytest.raises(
        ValueError, match=r"^NpuConfig has no option precison_mode, all options \['graph_run_mode', .*'optimization_switch'\]$"
    ):
        options.precison_mode = "force_fp16"
    with pytest.raises(ValueError, match=r"^NpuDumpConfig has no option dump_file, all options \['enable_dump', 'dump_path'"):
        options.dump_config.dump_file = "x"
    with pytest.raises(AttributeError):
        options.precison_mode  # noqa: B018


def test_a_wrong_value_is_refused_by_type_or_by_the_list(options):
    with pytest.raises(TypeError, match=r"^Expected bool, got str$"):
        options.dump_config.enable_dump = "yes"
    with pytest.raises(ValueError, match=r"^'fp16' not in optional list \['force_fp32', 'allow_fp32_to_fp16',"):
        options.precision_mode = "fp16"
    with pytest.raises(ValueError, match=r"^'3' not in optional list \[0, 1\]$"):
        options.graph_run_mode = 3
    with pytest.raises(TypeError, match=r"^Expected NpuDumpConfig, got dict$"):
        options.dump_config = {"enable_dump": True}
    assert flat(options) == {}


def test_options_of_other_releases_are_taken_and_said_once(options, capsys):
    options.auto_tune_mode = "RL,GA"
    options.auto_tune_mode = "GA"
    options.op_debug_level = 0
    options.variable_format_optimize = True
    assert capsys.readouterr().err.splitlines() == [
        "npu_device: the option auto_tune_mode is of an older release, and a host of today refuses it: use aoe_config.aoe_mode",
        "npu_device: the option op_debug_level is deprecated, and later releases will not have it: use op_debug_config",
        "npu_device: the option variable_format_optimize is deprecated, and later releases will not have it: leave it out",
    ]
    assert flat(options)["auto_tune_mode"] == "GA"


def test_an_option_of_an_older_release_is_refused_where_all_is_that_a_host_refuses(options, monkeypatch):
    monkeypatch.setenv("TF2NPU_STRICT", "1")
    with pytest.raises(ValueError, match=r"^NpuConfig has no option auto_tune_mode, all options \['graph_run_mode',"):
        options.auto_tune_mode = "RL,GA"
    assert flat(options) == {}


def test_what_has_no_effect_is_said_when_the_device_is_opened(options, capsys):
    options.deterministic = 1
    options.memory_config.static_memory_policy = 2
    options.graph_run_mode = 1
    said = said_when_opened(options, capsys, NPU_DEBUG="true")
    assert (
        said
        == "npu_device: recorded, and without effect on the simulated device: NPU_DEBUG, deterministic, static_memory_policy\n"
    )


def test_values_that_do_not_go_together_are_said_when_the_device_is_opened(options, capsys):
    options.dump_config.enable_dump = True
    options.fusion_switch_file = "/nowhere/fusion.cfg"
    said = said_when_opened(options, capsys)
    assert "the option 'enable_dump' needs dump_path" in said
    assert "the option 'fusion_switch_file' is '/nowhere/fusion.cfg': there is no such file" in said


def test_the_environment_tunes_where_the_script_says_nothing(options):
    assert flat(options, AOE_MODE="2") == {"aoe_mode": "2"}
    options.aoe_config.aoe_mode = "1"
    assert flat(options, AOE_MODE="2")["aoe_mode"] == "1"


def test_options_are_read_by_open_once():
    done = run("""
        npu.global_options().precision_mode = "force_fp16"
        assert npu.global_options() is npu.global_options()
        device = npu.open()
        npu.global_options().precision_mode = "allow_mix_precision"
        device.as_default()
        print(handed)
    """)
    assert done.stdout == "[{'precision_mode': 'force_fp16', 'hcom_parallel': True}]\n"
    assert (
        "the option precision_mode was set after npu_device.open(), which reads the options once: it has no effect" in done.stderr
    )
