"""Word boundaries: in scripts without spaces by jieba and BudouX, in others between words."""

import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from budoux.parser import MODEL_DIR, Parser
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text import segmentation
from internal_linker.text.segmentation import boundaries, unspaced_boundaries


def divided(text: str, language: str) -> list[str]:
    """Return the pieces of a text between its boundaries."""
    places = np.flatnonzero(boundaries(text, language)).tolist()
    return [text[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize(
    ("language", "text", "pieces"),
    [
        ("zh", "单文件组件的使用方法", "单 文件 组件 的 使用 方法"),
        ("zh", "瀏覽器與伺服器端渲染", "瀏覽器 與 伺服器 端 渲染"),
        ("", "组件基础", "组件 基础"),
        ("ja", "コンポーネントを純粋に保つ方法", "コンポーネント を 純粋 に 保つ 方法"),
        ("en", "コーヒーの淹れ方", "コーヒー の 淹れ方"),
        ("ja", "状態の更新方法", "状態 の 更新 方法"),
        ("th", "ชื่อผู้เขียนและข้อมูล", "ชื่อ ผู้ เขียน และ ข้อมูล"),
        ("th", "เครื่องบดกาแฟไฟฟ้า", "เครื่อง บด กาแฟ ไฟฟ้า"),
        ("lo", "ພາສາລາວ", "ພາສາ ລາວ"),
        ("zh", "使用Vue3组件", "使用 Vue3 组件"),
        ("ko", "녹차를", "녹 차 를"),
    ],
)
def test_words_are_found_in_each_script(language: str, text: str, pieces: str) -> None:
    assert divided(text, language) == pieces.split()


def test_thai_needs_no_icu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "_icu", lambda: None)
    assert divided("ชื่อผู้เขียนและข้อมูล", "th") == ["ชื่อ", "ผู้", "เขียน", "และ", "ข้อมูล"]
    assert divided("ພາສາ", "lo") == [*"ພາສາ"]


def test_words_with_spaces_are_whole() -> None:
    assert divided("Green teas, 92 °C", "en") == ["Green", " ", "teas", ",", " ", "92", " ", "°", "C"]
    assert divided("برگ‌های چای", "fa") == ["برگ‌های", " ", "چای"]


@pytest.mark.parametrize(
    ("model", "language", "text"),
    [
        ("ja_word", "ja", "条件付きレンダーを読んでから、ハイドレーションが動作する仕組みを学びましょう。"),
        ("zh-hant", "zh", "臺灣的資料庫設計原則與軟體工程師的應用程式開發指南"),
    ],
)
def test_models_say_what_budoux_says(model: str, language: str, text: str) -> None:
    parser = Parser(json.loads(Path(MODEL_DIR, f"{model}.json").read_text(encoding="utf-8")))
    for run in text.replace("。", "、").split("、"):
        assert divided(run, language) == parser.parse(run)


@given(st.text(max_size=60), st.sampled_from(["en", "ja", "zh", "th", "ko", ""]))
def test_any_text_has_boundaries_at_its_ends(text: str, language: str) -> None:
    found = boundaries(text, language)
    assert len(found) == len(text) + 1 and found[-1]
    assert not (found & ~unspaced_boundaries(text, language)).any()


@pytest.mark.long
def test_long_texts_are_divided_quickly() -> None:
    began = time.process_time()
    for text, language in (
        ("组件基础" * 25_000, "zh"),
        ("状態管理" * 25_000, "ja"),
        ("เอกสาร" * 16_000, "th"),
    ):
        assert unspaced_boundaries(text, language).any()
    assert time.process_time() - began < 10
