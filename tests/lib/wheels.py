"""wheels.py FOLDER: two wheels, of which one needs the other, laid out as an index
of packages (FOLDER/simple/NAME/)."""
import base64, hashlib, pathlib, sys, zipfile
served = pathlib.Path(sys.argv[1])


def wheel(name, needs=()):
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}/__init__.py": f"NAME = {name!r}\n",
        f"{name}/data/deep/x.txt": "data\n" * 100,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
                            + "".join(f"Requires-Dist: {n}\n" for n in needs),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                         "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-tool = {name}:print\n",
    }
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        record += f"{path},sha256={digest},{len(text)}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    folder = served / "simple" / name
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as z:
        for path, text in files.items():
            z.writestr(path, text)
    (folder / "index.html").write_text(
        f'<a href="{name}-1.0-py3-none-any.whl">{name}-1.0-py3-none-any.whl</a>\n')


wheel("first", ["second"])
wheel("second")
