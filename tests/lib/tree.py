"""tree.py FOLDER: one line for each entry below it: type, mode, owner, size,
link target or SHA-256 of the contents. No times and no inode numbers, so that
two trees made in the same way give the same lines. Hard links are told by the
first name that an inode had."""
import hashlib
import os
import stat
import sys

KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link", stat.S_IFIFO: "fifo",
         stat.S_IFSOCK: "sock", stat.S_IFCHR: "char", stat.S_IFBLK: "block"}


def shown(name):
    return name.decode("utf-8", "backslashreplace").replace("\n", "\\n")


def contents(path, mode):
    if stat.S_ISLNK(mode):
        return "-> " + shown(os.readlink(path))
    if not stat.S_ISREG(mode):
        return ""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as f:
            for block in iter(lambda: f.read(1 << 20), b""):
                digest.update(block)
    except PermissionError:
        return "unreadable"
    return digest.hexdigest()


def lines(top):
    first_name = {}
    for folder, folders, files in os.walk(top):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            st = os.lstat(path)
            rel = os.path.relpath(path, top)
            size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
            note = contents(path, st.st_mode)
            if not stat.S_ISDIR(st.st_mode) and st.st_nlink > 1:
                note += " = " + shown(first_name.setdefault((st.st_dev, st.st_ino), rel))
            yield (f"{shown(rel)}\t{KINDS.get(stat.S_IFMT(st.st_mode), '?')}"
                   f"\t{stat.S_IMODE(st.st_mode):o}\t{st.st_uid}:{st.st_gid}\t{size}\t{note}")


def main():
    print("\n".join(sorted(lines(os.fsencode(sys.argv[1])))))


if __name__ == "__main__":
    main()
