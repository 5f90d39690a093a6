"""A registry of npm's packages, of files alone, and what npm installs from it."""

import base64
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path

from slownet.lab.host import owner
from slownet.services.nginx import Nginx
from slownet.tools.timed import timed

COUNT, VERSION = 20, "1.0.0"
NAMES = [f"sample{number:02}" for number in range(1, COUNT + 1)]
TREE = f"tree{COUNT}"
OPTIONS = ("--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--loglevel=error")


def tarball(about):
    """Return a package: package.json alone, as `npm pack` writes it."""
    content = json.dumps(about).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("package/package.json")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


class Registry(Nginx):
    """nginx with what a registry answers: a file for each package that names its versions, and the packages."""

    operation = "installation"

    def __init__(self, net, directory):
        super().__init__(net["server"], directory, root="")

    def prepare(self):
        """Make the packages: some that need nothing, and one that needs 19 of them."""
        self.root = self.state / "files"
        (self.root / "-").mkdir(parents=True)
        for folder in (self.root, self.root / "-"):
            folder.chmod(0o755)
        for name in NAMES:
            self.publish(name, {})
        self.publish(TREE, dict.fromkeys(NAMES[: COUNT - 1], VERSION))
        super().prepare()

    def publish(self, name, dependencies):
        """Write a package and what is said of it."""
        about = {"name": name, "version": VERSION, "dependencies": dependencies}
        content = tarball(about)
        (self.root / "-" / f"{name}.tgz").write_bytes(content)
        digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
        dist = {"tarball": f"{self.url}-/{name}.tgz", "integrity": f"sha512-{digest}"}
        versions = {VERSION: {**about, "dist": dist}}
        said = {"name": name, "dist-tags": {"latest": VERSION}, "versions": versions}
        (self.root / name).write_text(json.dumps(said))

    def install(self, client, way, packages):
        """Install so many packages with an empty cache: "flat", as a "tree", or "ci", flat with a lock file."""
        with owner.temporary("npm") as temporary:
            folder = Path(temporary)
            npm = ["npm", "--registry", self.url, "--prefix", temporary, "--cache", f"{folder}/cache", *OPTIONS]
            names = [TREE] if way == "tree" else NAMES[:packages]
            env = {"HOME": temporary, "npm_config_globalconfig": "/dev/null"}
            (folder / "package.json").write_text(json.dumps({"dependencies": dict.fromkeys(names, VERSION)}))
            if way == "ci":
                timed(client, [*npm, "install"], env=env)
                for each in ("node_modules", "cache"):
                    shutil.rmtree(folder / each)
            return timed(client, [*npm, "ci" if way == "ci" else "install"], env=env)
