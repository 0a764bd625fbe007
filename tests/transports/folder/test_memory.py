"""Which folders lie in memory."""

import os
from pathlib import Path

import pytest

from transports.folder.memory import lies_in_memory

MOUNTS = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
25 24 0:23 / /dev/shm rw,relatime shared:3 - tmpfs tmpfs rw,size=24684096k
26 24 8:1 / / rw,relatime - ext4 /dev/vda rw
27 24 0:40 / /srv\040tmpfs rw - nfs4 host:/tmpfs rw
28 24 0:41 /
"""


@pytest.mark.parametrize(
    ("device", "expected"),
    [((0, 23), True), ((8, 1), False), ((0, 40), False), ((0, 41), False), ((0, 21), False), ((9, 9), False)],
)
def test_only_what_the_kernel_mounts_as_memory_lies_there(
    tmp_path: Path, device: tuple[int, int], expected: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert lies_in_memory(os.makedev(*device), mounts) is expected


def test_where_nothing_is_known_of_the_mounts_the_answer_is_no(tmp_path: Path) -> None:
    assert not lies_in_memory(os.stat(tmp_path).st_dev, tmp_path / "none")
