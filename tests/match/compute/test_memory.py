"""Freed memory goes back to the system."""

import platform
from pathlib import Path

import pytest

from internal_linker.match.compute.local import return_free_memory

BLOCK, BLOCKS = 64_000, 2_000


def resident() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to return free memory")
def test_what_lies_between_blocks_in_use_goes_back() -> None:
    blocks = [bytearray(BLOCK) for _ in range(BLOCKS)]
    kept = blocks[::10]
    del blocks
    before = resident()
    return_free_memory()
    assert before - resident() > BLOCK * BLOCKS / 2
    assert all(len(one) == BLOCK for one in kept)
