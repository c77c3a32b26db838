"""What XLA says on standard error about a compilation. It can be read back only where the harness keeps
standard error in a file."""

import os
import stat

PHRASES = {
    "Disabling Shardy and falling back to using GSPMD": "Shardy was disabled: compiled with GSPMD",
    "Shardy was then disabled": "Shardy was disabled: compiled with GSPMD",
    "Involuntary full rematerialization": "involuntary full rematerialization",
}


class Reader:
    def __init__(self, descriptor=2):
        self.file, self.at = None, 0
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                self.file = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            pass

    def skip(self):
        if self.file is not None:
            self.at = os.fstat(self.file).st_size

    def notes(self):
        """Notes for what was said since skip()."""
        if self.file is None:
            return []
        size = os.fstat(self.file).st_size
        said = ""
        if size > self.at:
            said = os.pread(self.file, min(size - self.at, 1 << 20), self.at).decode("utf-8", "replace")
        return sorted({note for phrase, note in PHRASES.items() if phrase in said})
