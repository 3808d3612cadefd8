"""scan, rules, report, run and doctor from outside."""

import json
import shutil
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.test_convert import report_of, tree
from tf2npu.ranks.launch_request import LaunchRequest
from tf2npu.rules import all_rules


class TestScan:
    def test_it_writes_the_report_and_nothing_else(self, tool, project, tmp_path, monkeypatch):
        before = tree(project)
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        done = tool("scan", project)
        assert done.code == 0
        assert tree(project) == before
        assert [p.name for p in (tmp_path / "here").iterdir()] == ["tf2npu-report"]
        assert report_of(tmp_path / "here" / "tf2npu-report")["summary"]["command"] == "scan"

    def test_it_finds_what_convert_finds(self, tool, project, tmp_path):
        tool("scan", project, "--report", tmp_path / "rep")
        tool("convert", project, tmp_path / "out")
        assert report_of(tmp_path / "rep")["files"] == report_of(tmp_path / "out" / "tf2npu-report")["files"]

    @pytest.mark.parametrize(
        ("distributed", "way"), [("none", "To convert it, run `tf2npu convert"), ("horovod", "It would be converted with")]
    )
    def test_it_does_not_say_that_something_was_converted(self, tool, tmp_path, distributed, way):
        source = tmp_path / "t.py"
        source.write_text("import horovod.tensorflow as hvd\nhvd.init()\n")
        done = tool("scan", source, "--report", tmp_path / "rep", "--distributed", distributed)
        first, *_ = done.out.splitlines()
        assert way in first
        assert "converted for" not in first.lower()
        assert "1 converted" not in done.out

    def test_its_own_report_inside_src_is_not_scanned(self, tool, project):
        for _ in range(2):
            tool("scan", project, "--report", project / "findings")
        paths = [file["path"] for file in report_of(project / "findings")["files"]]
        assert not [path for path in paths if path.startswith("findings")]

    def test_a_folder_with_somebody_elses_index_is_refused(self, tool, project, tmp_path):
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "index.html").write_text("mine")
        done = tool("scan", project, "--report", tmp_path / "site")
        assert done.code == 2
        assert "index.html" in done.err
        assert [p.name for p in (tmp_path / "site").iterdir()] == ["index.html"]

    def test_a_page_that_was_made_by_hand_since_is_kept(self, tool, project, tmp_path):
        site = tmp_path / "site"
        tool("scan", project, "--report", site, "--format", "json")
        (site / "index.html").write_text("mine")
        (tmp_path / "elsewhere").mkdir()
        (site / "report.json").rename(tmp_path / "elsewhere" / "report.json")
        (tmp_path / "elsewhere" / "index.html").write_text("mine")
        for command in (
            ("scan", project, "--report", site), ("report", tmp_path / "elsewhere" / "report.json", "--format", "html"),
        ):  # fmt: skip
            done = tool(*command)
            assert (done.code, done.err.count("\n")) == (2, 1)
            assert "index.html" in done.err
        assert {path.read_text() for path in tmp_path.glob("*/index.html")} == {"mine"}

    def test_a_report_that_came_from_elsewhere_is_rendered_where_it_lies(self, tool, project, tmp_path):
        tool("scan", project, "--report", tmp_path / "rep")
        shutil.copytree(tmp_path / "rep", tmp_path / "copy")
        (tmp_path / "copy" / "index.html").write_text("")
        assert tool("report", tmp_path / "copy" / "report.json", "--format", "html").code == 0
        shown = f"tf2npu convert {project} out"  # report.json holds no path of the user's: elsewhere it is not known
        of_the_scan = (tmp_path / "rep" / "index.html").read_text()
        assert shown in of_the_scan
        assert (tmp_path / "copy" / "index.html").read_text() == of_the_scan.replace(shown, "tf2npu convert SRC out")

    def test_stale_pages_go_when_a_report_is_written_again(self, tool, project, tmp_path):
        tool("scan", project, "--report", tmp_path / "rep")
        (project / "train.py").unlink()
        tool("scan", project, "--report", tmp_path / "rep")
        assert not list((tmp_path / "rep").rglob("train*.html"))


class TestRules:
    def test_the_list_names_every_rule(self, tool):
        listed = [line.split()[0] for line in tool("rules").out.strip().split("\n")]
        assert set(listed) >= {rule.id for rule in all_rules()}
        assert listed == sorted(listed)

    def test_one_is_explained_with_its_examples(self, tool):
        rule = next(rule for rule in all_rules() if rule.id == "NPU101")
        out = tool("rules", "NPU101").out
        assert rule.why in out
        assert rule.before in out and rule.after in out

    def test_json_and_markdown_hold_the_same(self, tool):
        document = json.loads(tool("rules", "--format", "json").out)
        markdown = tool("rules", "--format", "md").out
        assert all(f"## {entry['id']}" in markdown and entry["title"] in markdown for entry in document)

    def test_of_hundreds_of_names_a_person_is_shown_some_and_told_where_all_are(self, tool):
        rule = next(rule for rule in all_rules() if rule.id == "NPU968")
        shown = next(line for line in tool("rules", "NPU968").out.split("\n") if line.startswith("Matches: "))
        assert len(shown) < 6000 < len("".join(rule.matches))
        assert shown.endswith(f"and {len(rule.matches) - 60} more (`tf2npu rules NPU968 --format json` has all)")
        assert json.loads(tool("rules", "NPU968", "--format", "json").out)[0]["matches"] == list(rule.matches)


class TestReport:
    @pytest.fixture
    def report(self, tool, project, tmp_path) -> Path:
        tool("convert", project, tmp_path / "out")
        return tmp_path / "out" / "tf2npu-report" / "report.json"

    def test_json_and_sarif_again_are_the_same_bytes(self, tool, report):
        assert tool("report", report, "--format", "json").out == report.read_text()
        assert tool("report", report, "--format", "sarif").out == report.with_name("report.sarif").read_text()

    def test_text_by_default(self, tool, report):
        out = tool("report", report).out
        assert "train.py:3:" in out
        assert "fixed NPU101" in out

    def test_pages_again_are_the_same_and_the_other_formats_stay(self, tool, report, tmp_path):
        before = {p: p.read_bytes() for p in report.parent.rglob("*") if p.is_file()}
        assert tool("report", report, "--format", "html").code == 0
        assert {p: p.read_bytes() for p in report.parent.rglob("*") if p.is_file()} == before
        tool("report", report, "--format", "html,text", "--report", tmp_path / "elsewhere")
        assert (tmp_path / "elsewhere" / "index.html").read_bytes() == before[report.with_name("index.html")]

    @pytest.mark.parametrize("text", ["", "{}", "\xff", '{"schema_version": "9.1"}'])
    def test_what_is_no_report_is_exit_2(self, tool, tmp_path, text):
        (tmp_path / "r.json").write_bytes(text.encode("latin-1"))
        done = tool("report", tmp_path / "r.json")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "r.json" in done.err


class TestRun:
    @pytest.fixture
    def asked(self, monkeypatch) -> list:
        """The requests of `run` to the launcher."""
        calls = []

        def run_script(argv, **options):
            calls.append((argv, options))
            return 7

        monkeypatch.setitem(sys.modules, "tf2npu.launch.run_script", types.SimpleNamespace(run_script=run_script))
        monkeypatch.setattr("tf2npu.launch.doctor.why_not_run", lambda: "")
        return calls

    def test_all_after_the_script_is_the_scripts(self, tool, asked):
        words = [
            "--devices",
            "2",
            "--soc",
            "Ascend910B",
            "--option",
            "track_nan=log",
            "--option",
            "dump_graph=x=y",
            "--strict",
            "--report",
            "r",
        ]
        done = tool("run", *words, "train.py", "--devices", "9", "-m", "--help", "--", "--strict")
        assert done.code == 7  # the script's own
        assert asked == [
            (["--devices", "9", "-m", "--help", "--", "--strict"],
             {"module": None, "script": "train.py", "ranks": LaunchRequest(devices=2), "soc": "Ascend910B",
              "options": {"track_nan": "log", "dump_graph": "x=y"},
              "all_sessions": False, "strict": True, "frontend": "auto", "report": Path("r")})
        ]  # fmt: skip

    def test_ranks_may_be_anywhere(self, tool, asked):
        tool(
            "run", "--hosts", "a, b", "--devices", "2", "--engine", "mpi", "--launcher-exec", "rsh -x", "train.py", "--hosts", "c"
        )
        tool("run", "--rank-table", "2p.json", "train.py")
        assert [options["ranks"] for _, options in asked] == [
            LaunchRequest(devices=2, hosts=("a", "b"), engine="mpi", launcher_exec="rsh -x"), LaunchRequest(rank_table="2p.json"),
        ]  # fmt: skip

    @pytest.mark.parametrize("spelling", [["-m", "pkg.train"], ["-mpkg.train"]])
    def test_all_after_a_module_is_the_modules(self, tool, asked, spelling):
        tool("run", "--all-sessions", *spelling, "--devices", "4", "pos", "--", "-m", "x")
        ((argv, options),) = asked
        assert argv == ["--devices", "4", "pos", "--", "-m", "x"]
        assert (options["module"], options["script"], options["ranks"], options["all_sessions"]) == (
            "pkg.train",
            None,
            LaunchRequest(),
            True,
        )

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["--devices", "0", "t.py"],
            ["--option", "novalue", "t.py"],
            ["--frob", "t.py"],
            ["-m"],
            ["--devices"],
            ["--hosts", "a,", "t.py"],
            ["--hosts", "-oProxyCommand=x,b", "t.py"],
            ["--hosts", "a,a", "t.py"],
            ["--engine", "fast", "t.py"],
        ],
    )
    def test_wrong_use_is_exit_2(self, tool, asked, words):
        assert tool("run", *words).code == 2
        assert asked == []

    @pytest.mark.parametrize(("name", "meant"), [("precison_mode", "precision_mode"), ("overflw", "overflow"), ("foo", "")])
    def test_an_option_that_does_not_exist_is_refused(self, tool, asked, name, meant):
        done = tool("run", "--option", f"{name}=x", "train.py")
        assert (done.code, done.err.count("\n"), asked) == (2, 1, [])
        assert f"there is no session option '{name}'" in done.err and (f"did you mean '{meant}'?" in done.err) == bool(meant)

    @pytest.mark.parametrize(
        ("pair", "why"),
        [
            ("use_off_line=no", "use true or false"),
            ("graph_run_mode=two", "use a whole number"),
            ("graph_run_mode=2", "use 0 or 1"),
        ],
    )
    def test_a_value_that_an_option_does_not_take_is_refused(self, tool, asked, pair, why):
        done = tool("run", "--option", pair, "train.py")
        assert (done.code, done.err.count("\n"), asked) == (2, 1, [])
        assert f"--option {pair}: {why}" in done.err

    def test_values_have_the_types_of_their_options(self, tool, asked):
        tool("run", "--option", "use_off_line=False", "--option", "graph_run_mode=0", "--option", "aicore_num=2|4", "train.py")
        assert asked[0][1]["options"] == {"use_off_line": False, "graph_run_mode": 0, "aicore_num": "2|4"}

    def test_a_python_without_tensorflow_is_told_what_it_needs(self, tool, monkeypatch):
        monkeypatch.setattr("sys.version_info", (3, 13, 0, "final", 0))
        done = tool("run", "train.py")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "needs Python 3.10 or 3.11" in done.err

    def test_a_python_with_no_tensorflow_installed_too(self, tool, monkeypatch):
        monkeypatch.setattr("sys.version_info", (3, 11, 0, "final", 0))
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        done = tool("run", "train.py")
        assert done.code == 2
        assert "TensorFlow is not installed" in done.err


class TestDoctor:
    def test_it_says_whose_npu_bridge_wins_and_imports_nothing(self):
        code = (
            "import sys; from tf2npu import cli\n"
            "try: cli.main(['doctor'])\n"
            "except SystemExit as stop: pass\n"
            "assert not {'tensorflow', 'numpy', 'npu_bridge'} & set(sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "tf2npu's simulated one" in done.stdout
        assert "convert, scan, report, rules: can run here" in done.stdout

    def test_a_vendors_one_on_pythonpath_wins_and_is_named(self, tmp_path):
        (tmp_path / "npu_bridge").mkdir()
        (tmp_path / "npu_bridge" / "__init__.py").write_text("raise RuntimeError('imported')\n")
        code = "from tf2npu.cli import main; main(['doctor'])"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)}
        )
        assert f"npu_bridge: {tmp_path / 'npu_bridge'} (not tf2npu's" in done.stdout
        assert "PYTHONPATH names its folder" in done.stdout


def test_the_package_can_be_run_as_a_module(project, tmp_path):
    call = [sys.executable, "-m", "tf2npu", "convert", str(project), str(tmp_path / "out"), "--jobs", "2"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and "files: " in done.stdout and not done.stderr


@pytest.mark.parametrize("text", ["[", "[1]", "3", "[" * 100_000, '{"x": ' + "9" * 5000 + "}", "\x1b[31m"], ids=range(6))
def test_options_in_the_environment_that_are_none_are_one_line(tool, project, monkeypatch, text):
    monkeypatch.setenv("TF2NPU_OPTIONS", text)
    script = project / "train.py"
    on_device = (("devices",), ("run", "--soc", "Ascend910A", script), ("run", script)) if find_spec("tensorflow") else ()
    for words in (("doctor", "--script", script), *on_device):
        done = tool(*words)
        assert (done.code, done.err.count("\n"), done.out == "" or words[0] == "doctor") == (2, 1, True), done.err
        assert "TF2NPU_OPTIONS" in done.err and len(done.err) < 200


class TestAnotherPython:
    NEEDS = (
        "run t.py", "predict t.py", "tune t.py", "check t.py", "dump reference t.py --out ref", "dump graph g.txt g.json",
        "bank show", "bank merge b", "bank export b", "devices",
    )  # fmt: skip

    @pytest.mark.parametrize("words", NEEDS)
    def test_each_command_speaks_of_itself(self, tool, monkeypatch, tmp_path, words):
        monkeypatch.setattr("sys.version_info", (3, 12, 1, "final", 0))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "t.py").write_text("import tensorflow as tf\n")
        done = tool(*words.split())
        n_words = 2 if words.startswith(("dump", "bank")) else 1
        name = " ".join(words.split()[:n_words])
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"tf2npu {name} needs Python 3.10 or 3.11" in done.err
