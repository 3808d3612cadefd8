"""Sources in another encoding without a coding line: the message names the first line with which Python reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.scanner.text.source import SourceError, decode

pytestmark = pytest.mark.each_python

TEXTS = {
    "gbk": ("训练数据的路径", "模型", "开始训练，请稍候", "读取图片并进行预处理，返回一个批次的数据"),
    "big5": ("訓練資料的路徑", "讀取圖片並進行預處理，返回一個批次的資料"),
    "shift_jis": ("学習データの読み込み", "これはテストです"),
    "euc_kr": ("학습 데이터의 경로를 지정하고 모델을 저장합니다",),
    "latin-1": ("Größe der Schicht", "données d'entraînement", "José"),
}
CASES = [(encoding, text) for encoding, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("encoding", "text"), CASES)
def test_the_first_line_that_helps_is_named(encoding: str, text: str, tmp_path: Path) -> None:
    """Python, which refuses the file as it is, runs it with that line; so does the conversion."""
    source = f"import tensorflow as tf\n# {text}\nprint({text!r}.encode('utf-8'))\n".encode(encoding)
    with pytest.raises(SourceError) as caught:
        decode(source)
    assert f"it reads as {encoding}: write # -*- coding: {encoding} -*- as the first line" in str(caught.value)
    (tmp_path / "m.py").write_bytes(source.replace(b"import tensorflow as tf\n", f"# -*- coding: {encoding} -*-\n".encode()))
    ran = subprocess.run([sys.executable, tmp_path / "m.py"], capture_output=True, check=True)
    assert ran.stdout.decode().strip() == repr(text.encode())
    assert decode((tmp_path / "m.py").read_bytes()).text.count(text) == 2


def test_a_wrong_coding_line_is_to_be_changed() -> None:
    source = "# coding: utf-8\nimport tensorflow as tf  # 训练数据\n".encode("gbk")
    (finding,) = [f for f in convert_source(source, "m.py").findings if f.rule == "NPU900"]
    assert "; it reads as gbk: write # -*- coding: gbk -*- in the coding comment" in finding.message


@pytest.mark.parametrize("data", [b"x = '\xff\xfe\x00'", bytes(range(128, 256)), b"# \x81\x8d\x8f", "# “x”".encode("cp1252")])
def test_nothing_is_guessed_of_what_is_no_text(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"is not valid utf-8$"):
        decode(data)
