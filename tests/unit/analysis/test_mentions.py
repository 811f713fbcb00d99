from ralph.analysis.mentions import mentions


def test_nothing_is_mentioned() -> None:
    assert mentions("the weather was fine, and nobody was at home.") is None


def test_each_kind_has_its_places() -> None:
    found = mentions("fixed a bug in one file; updated 文件, and wrote down the changes")

    assert found is not None
    assert found.labels == [19, 33, 56]
    assert (found.changed, found.mended, found.chinese) == ([0, 25, 41], [0], [33])


def test_of_a_long_text_the_end_is_looked_at() -> None:
    found = mentions("fixed. " + "word " * 5_000 + "a file")

    assert found is not None
    assert (found.everywhere, found.mended) == (False, [])
    assert found.tail[found.labels[0] :] == "file"
    beyond = mentions("fixed. " + "word " * 5_000)
    assert beyond is not None
    assert not beyond.everywhere
