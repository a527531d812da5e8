"""The most memory that a process has held, for tests that start one."""

import inspect


def peak():
    """In bytes. `getrusage` begins with what the process held that started this one."""
    import resource
    import sys
    from pathlib import Path

    if sys.platform == "linux":
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


#: For the process that is started.
PEAK = inspect.getsource(peak)
