"""One wheel of three folders: lib/slownet, topologies and experiments. Everything else is in pyproject.toml."""

from setuptools import find_packages, setup

ROOMS = {"slownet": "lib/slownet", "slownet.topologies": "topologies", "slownet.experiments": "experiments"}

packages = [
    name if inside == "." else f"{name}.{inside}" for name, folder in ROOMS.items() for inside in [".", *find_packages(folder)]
]

setup(
    packages=packages,
    package_dir=ROOMS,
    package_data={
        "slownet.lab": [
            "*.c",
            "*.txt",
            "provision",
            "install-layer",
            "setup-host",
            "setup-native",
            "linux/*.config",
            "linux/*/*.patch",
            "wordpress/*",
            "wordpress/theme/*",
        ],
        "slownet.commands": ["starter/*"],
        "slownet.compose": ["*.json"],
        "slownet.report": ["*.css", "*.js", "*.j2"],
        "slownet.programs": ["*.php"],
        "slownet": ["data/*.toml", "py.typed"],
        "slownet.experiments": ["exercises/*"],
    },
)
