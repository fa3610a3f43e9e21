"""The image and its container, as far as they can be judged without an engine."""

import asyncio
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "deploy" / "Dockerfile").read_text()
WANTED = (ROOT / ".dockerignore").read_text().split("\n")


def copied():
    """Return what the recipe copies out of the checkout."""
    lines = re.findall(r"^COPY (.+) \S+$", RECIPE, flags=re.MULTILINE)
    return [name for line in lines for name in line.split()]


def test_what_the_image_copies_is_there_and_let_through():
    for name in copied():
        assert list(ROOT.glob(name)), name
        assert f"!{name}" in WANTED


def test_no_answer_and_no_test_gets_into_the_image():
    assert WANTED[1] == "*"  # all that is not named stays out
    assert not [name for name in copied() if name.startswith(("solutions", "tests"))]


def test_the_image_installs_the_pins_and_fetches_weights_as_an_ordinary_user():
    *_, as_user = RECIPE.split("USER student")
    assert "tools/install.py --extra hub" in as_user
    assert "make weights" in as_user
    assert "USER" not in as_user


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Return the configuration as the hub reads it, for Docker and an ordinary account."""
    pytest.importorskip("dockerspawner", reason="needs dockerspawner: make test-hub")
    from traitlets.config import PyFileConfigLoader

    monkeypatch.setenv("COURSE_CLASS", str(tmp_path))
    monkeypatch.delenv("COURSE_SPAWNER", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return PyFileConfigLoader(
        str(ROOT / "deploy" / "jupyterhub_config.py")
    ).load_config()


def test_every_setting_is_one_that_its_class_knows(config):
    import dockerspawner
    import nativeauthenticator
    from jupyterhub import app, auth, proxy, spawner

    places = (app, auth, proxy, spawner, dockerspawner, nativeauthenticator)
    for name, settings in config.items():
        owner = next(getattr(place, name) for place in places if hasattr(place, name))
        assert settings.keys() <= owner.class_traits(config=True).keys(), name


def test_a_container_sees_one_home_and_has_limits(config, tmp_path, monkeypatch):
    import docker
    from dockerspawner import DockerSpawner

    asked = {}

    async def engine(method, **request):
        asked.update(request)

    ada = SimpleNamespace(name="ada", escaped_name="ada")
    container = DockerSpawner(config=config, user=ada)
    container.get_env = dict
    container.docker = engine
    # with its version given, the client asks no engine
    monkeypatch.setattr(DockerSpawner, "client", docker.APIClient(version="1.43"))
    config.Spawner.pre_spawn_hook(container)
    asyncio.run(container.create_object())
    host = asked["host_config"]
    assert host["Binds"] == [f"{tmp_path}/homes/ada:/home/student:rw"]
    assert host["Memory"] == 4 * 2**30
    assert host["CpuQuota"] == 2 * host["CpuPeriod"]
    assert host["CapDrop"] == ["ALL"]
    assert host["PidsLimit"] > 0
    assert asked["user"] == f"{os.getuid()}:{os.getgid()}"
    assert asked["command"][0] == "/srv/course/deploy/start-server"
    assert "solutions" not in str(asked)
