"""The memory that is free for a process, as Linux and the control groups of containers tell it."""

from __future__ import annotations

from npu_formats.free_memory import free_bytes

MEMINFO = "MemTotal:       16000000 kB\nMemFree:          200000 kB\nMemAvailable:    8000000 kB\n"
GB = 10**9


def free(**files: str | int) -> int | None:
    """Free bytes of a machine with these files, whose names have two underscores for a stroke."""
    texts = {f"/{name.replace('__', '/')}": f"{text}\n" for name, text in files.items()}
    return free_bytes(lambda path: texts.get(path.replace("memory.", "memory_"), ""))


def test_the_system_says_what_is_available():
    assert free(proc__meminfo=MEMINFO) == 8_000_000 * 1024


def test_nothing_is_known_where_the_system_says_nothing():
    assert free() is None


def test_a_limit_of_a_group_around_the_process_counts_with_what_can_be_given_up():
    found = free(
        proc__meminfo=MEMINFO, proc__self__cgroup="0::/user/job", sys__fs__cgroup__user__memory_max=4 * GB,
        sys__fs__cgroup__user__memory_current=3 * GB, sys__fs__cgroup__user__memory_stat=f"anon 5\ninactive_file {GB}\nfile 7",
        sys__fs__cgroup__user__job__memory_max="max", sys__fs__cgroup__user__job__memory_current=GB,
    )  # fmt: skip
    assert found == 2 * GB


def test_a_limit_of_the_first_version_is_seen_from_within_a_container_where_its_folder_is_the_root():
    found = free(
        proc__meminfo=MEMINFO, proc__self__cgroup="4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n0::/",
        sys__fs__cgroup__memory__memory_limit_in_bytes=3 * GB, sys__fs__cgroup__memory__memory_usage_in_bytes=GB,
    )  # fmt: skip
    assert found == 2 * GB


def test_a_group_that_uses_more_than_its_limit_has_nothing_left():
    found = free(
        proc__self__cgroup="0::/", sys__fs__cgroup__memory_max=GB, sys__fs__cgroup__memory_current=GB + 5
    )  # fmt: skip
    assert found == 0


def test_a_machine_says_a_number_of_its_own():
    found = free_bytes()
    assert found is None or found > 0
