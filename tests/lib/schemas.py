"""The public schemas of the exports and what validates by them, from the npm registry that this machine is
set up with: nothing of them is part of wary."""
import json
import os
import pathlib
import subprocess
import tarfile

from wary_test import HOME, SRC, TMP

MODULES = TMP / "modules"
# Only what a package has in itself is wanted of these: they are unpacked, without what they need.
SCHEMAS = {"@cyclonedx/cyclonedx-library": "@cyclonedx/cyclonedx-library@10.3.0",
           # protobuf's messages of opentelemetry-proto, as JavaScript
           "@opentelemetry/otlp-transformer": "@opentelemetry/otlp-transformer@0.213.0",
           "@opentelemetry/semantic-conventions": "@opentelemetry/semantic-conventions@1.30.0",
           # ECS 8.17 is not there: what holds before and after it holds.
           "ecs-before": "@elastic/ecs@8.11.5", "ecs-after": "@elastic/ecs@9.0.0"}
VALIDATORS = ["ajv@8.20.0", "ajv-formats@3.0.1", "ajv-formats-draft2019@1.6.1", "packageurl-js@2.0.1", "protobufjs@7.5.4"]


def npm_setup():
    """npm's configuration of this test's home: the registry, and nothing asked or told."""
    registry = os.environ.get("NPM_REGISTRY", "https://registry.npmjs.org/")
    (HOME / ".npmrc").write_text(f"registry={registry}\naudit=false\nfund=false\nupdate-notifier=false\n")
    MODULES.mkdir()
    (MODULES / "package.json").write_text('{"name": "validators", "version": "1.0.0", "private": true}\n')


def fetch_start():
    """Starts to fetch the schemas' packages."""
    return subprocess.Popen(["npm", "pack", "--json", *SCHEMAS.values()], cwd=TMP, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fetch_end(child):
    """Unpacks them into MODULES. Returns what went wrong, or nothing."""
    out, told = child.communicate()
    if child.returncode:
        return out + told
    files = {f"{one['name']}@{one['version']}": one["filename"] for one in json.loads(out)}
    for name, wanted in SCHEMAS.items():
        unpack(TMP / files[wanted].replace("@", "").replace("/", "-"), MODULES / "node_modules" / name)
    return ""


def unpack(file, folder):
    with tarfile.open(file) as tar:
        for member in tar:
            path = pathlib.PurePosixPath(member.name)
            # The first part of a name is "package"; maps of sources are half of all.
            if member.isfile() and ".." not in path.parts and path.suffix != ".map":
                target = folder.joinpath(*path.parts[1:])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(tar.extractfile(member).read())


def validate(**files):
    """validate(format=[path…]): what each file has that does not fit, by format and path."""
    words = [f"{form.replace('_', '-')}:{path}" for form, paths in files.items() for path in paths]
    done = subprocess.run(["node", SRC / "tests/lib/validate.js", MODULES, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    return {(form, path): found[f"{form.replace('_', '-')}:{path}"] for form, paths in files.items() for path in paths}
