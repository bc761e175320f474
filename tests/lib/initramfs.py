"""An initramfs of this machine's own programs: a cpio archive (format newc, as
the kernel's documentation on early user space has it), written without tools."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

# Folders that are links where /usr is merged, and files where it is not.
TOP_LINKS = ["bin", "sbin", "lib", "lib64"]


class Initramfs:
    """What goes in, by name; written by write()."""

    def __init__(self):
        self._nodes = {}
        self._programs = set()
        for name in TOP_LINKS:
            if os.path.islink("/" + name):
                self.link("/" + name, os.readlink("/" + name))

    def _put(self, name, mode, data, mtime=0, rdev=(0, 0)):
        parent = os.path.dirname(name)
        if parent != "/" and parent not in self._nodes:
            self.folder(parent)
        self._nodes[name] = (mode, data, mtime, rdev)

    def folder(self, name, mode=0o755):
        self._put(name, stat.S_IFDIR | mode, b"")

    def link(self, name, target):
        self._put(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor):
        self._put(name, stat.S_IFCHR | 0o600, b"", 0, (major, minor))

    def chmod(self, name, mode):
        old, *rest = self._nodes[name]
        self._nodes[name] = (stat.S_IFMT(old) | mode, *rest)

    def text(self, name, text, mode=0o644):
        self._put(name, stat.S_IFREG | mode, text.encode())

    def file(self, source, name=None, strip=False):
        """A file or link of this machine with what links lead to; by its own name
        where no other is given."""
        source = str(source)
        name = name or os.path.join(os.path.realpath(os.path.dirname(source)),
                                    os.path.basename(source))
        if name in self._nodes:
            return
        if os.path.islink(source):
            self.link(name, os.readlink(source))
            self.file(os.path.join(os.path.dirname(source), os.readlink(source)))
            return
        st = os.stat(source)
        # Sources and builds may be closed to other users here; in there they are not.
        mode = stat.S_IMODE(st.st_mode) & 0o755 | 0o444
        mode |= 0o111 if mode & 0o100 else 0
        self._put(name, stat.S_IFREG | mode, stripped(source) if strip
                  else pathlib.Path(source).read_bytes(), int(st.st_mtime))

    def program(self, source, name=None, strip=False):
        """A program with the libraries that it loads; scripts and missing ones as
        they are."""
        self.file(source, name, strip)
        real = os.path.realpath(source)
        if real in self._programs:
            return
        self._programs.add(real)
        out = subprocess.run(["ldd", real], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, text=True, check=False).stdout
        for library in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", out, re.M):
            self.file(library)

    def tree(self, source, name=None, leave_out=()):
        """A folder with all that is in it but what is named."""
        name = name or os.path.realpath(source)
        for folder, folders, files in os.walk(source):
            folders[:] = [f for f in folders if f not in leave_out]
            inside = os.path.normpath(os.path.join(name, os.path.relpath(folder, source)))
            self.folder(inside)
            for file in files:
                path = os.path.join(folder, file)
                if file not in leave_out and (os.path.islink(path) or os.path.isfile(path)):
                    self._tree_file(path, os.path.join(inside, file))

    def _tree_file(self, path, name):
        if os.path.islink(path):
            self.link(name, os.readlink(path))
        elif path.endswith(".so"):
            self.program(path, name)
        else:
            self.file(path, name)

    def write(self, path):
        """Parents before what they hold: the kernel makes them in this order."""
        with open(path, "wb") as out:
            for ino, name in enumerate(sorted(self._nodes), 1):
                mode, data, mtime, rdev = self._nodes[name]
                out.write(record(name[1:], ino, mode, data, mtime, rdev))
            out.write(record("TRAILER!!!", 0, 0, b"", 0, (0, 0)))


def record(name, ino, mode, data, mtime, rdev):
    """One entry: a header of 13 numbers in 8 hex digits, name and data, each padded
    to 4 bytes."""
    text = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    numbers = [ino, mode, 0, 0, links, mtime, len(data), 0, 0, *rdev, len(text), 0]
    head = b"070701" + b"".join(b"%08x" % n for n in numbers) + text
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def stripped(path):
    """A program without what only a debugger reads."""
    if not shutil.which("strip"):
        return pathlib.Path(path).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        subprocess.run(["strip", "-o", copy, path], check=True, stdin=subprocess.DEVNULL)
        return pathlib.Path(copy).read_bytes()
