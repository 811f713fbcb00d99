"""Which paths are ignored."""

from ralph.workspace.scan import NOISE, Noise


def test_what_is_always_passed_over_is_so_beside_ones_own() -> None:
    noise = Noise(["*.log"])
    assert all(noise(glob.replace("*", "x")) for glob in NOISE)
    assert noise("a.log")
    assert not noise("a.py")


def test_a_path_is_passed_over_by_its_very_name() -> None:
    noise = Noise(paths=["logs/night [1]*.log"])
    assert noise("logs/night [1]*.log")
    assert not noise("logs/night 1.log")
    assert not noise("old/logs/night [1]*.log")
