"""Ground truth from a site: a real server on this machine, and never anybody else."""

import gzip
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

import anyio
import pytest

from ralph.errors import UsageError
from ralph_grounding.errors import NoGroundTruthError
from ralph_grounding.ground_truth import GroundTruth, ReadingLimits
from ralph_grounding.ground_truth.fetching import page_key, resolved, site_of
from ralph_grounding.ground_truth.reading import read_ground_truth
from ralph_grounding.ground_truth.site import SitemapError, read_sitemap


class Sent(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    kind: str = "text/html; charset=utf-8"


class Server:
    """Answers with pages by their paths, and remembers what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, Sent | Callable[[int], Sent]] = {}
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.times: list[float] = []
        self.hang = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.times.append(monotonic())
                outer.agents.add(self.headers["User-Agent"])
                page = outer.pages.get(self.path, Sent(b"not here", 404))
                sent = page(outer.asked.count(self.path)) if callable(page) else page
                if sent.status == 0:
                    outer.hang.wait(20)
                    return
                self.send_response(sent.status)
                for name, value in {"Content-Type": sent.kind, **sent.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(sent.body)))
                self.end_headers()
                self.wfile.write(sent.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - it is called by this name
                """Nothing is printed."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def page(self, path: str, words: str, *links: str, **more: Any) -> None:
        anchors = "".join(f'<a href="{link}">more</a> ' for link in links)
        body = f"<title>{words}</title><main><h1>{words}</h1><p>{words} has 3 parts.</p>{anchors}</main>"
        self.pages[path] = Sent(body.encode(), **more)

    def text(self, path: str, text: str, kind: str = "text/plain") -> None:
        self.pages[path] = Sent(text.encode(), kind=kind)

    def close(self) -> None:
        self.hang.set()
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    yield server
    server.close()


async def read(*places: str, **limits: Any) -> GroundTruth:
    return await read_ground_truth(places, limits=ReadingLimits(**{"request_seconds": 5, **limits}))


def paths(ground: GroundTruth, server: Server) -> list[str]:
    return [page.url.removeprefix(server.url) for page in ground.pages]


async def test_the_pages_of_a_sitemap_are_read_with_their_priorities(server: Server) -> None:
    entries = [("/a", "0.2"), ("/b", "0.9"), ("/c", "loud")]
    urls = "".join(f"<url><loc>{server.url}{path}</loc><priority>{each}</priority></url>" for path, each in entries)
    server.text("/sitemap.xml", f"<urlset>{urls}<url><loc>http://elsewhere.test/x</loc></url></urlset>")
    for path, _ in entries:
        server.page(path, f"Page {path}", "/unlisted")
    server.page("/", "Start")
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/", "/b", "/c", "/a"]
    assert [page.metadata.get("priority") for page in ground.pages] == [None, 0.9, 0.5, 0.2]
    assert ground.domain == "127.0.0.1"
    assert ground.problems == (f"{server.url}/: its sitemap lists 1 pages of other hosts, which were left out.",)
    assert server.agents == {"ralph-grounding/0.1 (reads pages as ground truth; obeys robots.txt)"}


async def test_an_index_of_packed_sitemaps_named_by_robots_is_read(server: Server) -> None:
    server.text("/robots.txt", f"Sitemap: {server.url}/index.xml")
    server.text("/index.xml", f"<sitemapindex><sitemap><loc>{server.url}/one.xml.gz</loc></sitemap></sitemapindex>")
    packed = gzip.compress(f"<urlset><url><loc>{server.url}/a</loc></url></urlset>".encode())
    server.pages["/one.xml.gz"] = Sent(packed, kind="application/gzip")
    server.page("/a", "Alpha")
    server.page("/", "Start")
    assert paths(await read(server.url), server) == ["/", "/a"]


async def test_without_a_sitemap_links_are_followed_below_the_start(server: Server) -> None:
    server.page("/docs/", "Docs", "a", "/docs/b#part", "/docs/b", "/blog/", "http://elsewhere.test/", "mailto:a@b.test")
    server.page("/docs/a", "Alpha", "/docs/c", "/docs/", "/docs/picture.png")
    server.page("/docs/b", "Beta")
    server.page("/docs/c", "Gamma")
    server.page("/blog/", "Blog")
    ground = await read(f"{server.url}/docs/")
    assert paths(ground, server) == ["/docs/", "/docs/a", "/docs/b", "/docs/c"]
    assert ground.problems == (f"{server.url}/docs/: no sitemap lists the pages below it, so its links were followed.",)
    assert server.asked.count("/docs/b") == 1
    assert "/blog/" not in server.asked


async def test_links_are_below_what_the_page_says_that_they_are_below(server: Server) -> None:
    body = b'<base href="/docs/v2/"><p>The docs have 3 parts.</p><a href="one">1</a><a href="http://[broken">2</a>'
    server.pages["/docs/"] = Sent(body)
    server.page("/docs/v2/one", "One")
    assert paths(await read(f"{server.url}/docs/"), server) == ["/docs/", "/docs/v2/one"]


async def test_an_address_without_a_slash_is_one_page(server: Server) -> None:
    server.page("/docs", "Docs", "/docs/a")
    ground = await read(f"{server.url}/docs")
    assert paths(ground, server) == ["/docs"]
    assert server.asked == ["/robots.txt", "/docs"]
    assert ground.problems == ()


async def test_a_file_of_addresses_is_a_list_of_pages(server: Server, tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text(f"# what counts\n{server.url}/b\n\n{server.url}/a/\n{server.url}/gone\n")
    server.page("/a/", "Alpha", "/c")
    server.page("/b", "Beta")
    ground = await read(str(tmp_path / "pages.txt"))
    assert paths(ground, server) == ["/b", "/a/"]
    assert ground.problems == (f"{server.url}/gone: the site answers 404.",)


async def test_what_robots_forbids_is_not_asked_for(server: Server) -> None:
    server.text("/robots.txt", "User-agent: *\nDisallow: /private/\n\nUser-agent: other\nDisallow: /")
    server.page("/", "Start", "/private/a", "/open")
    server.page("/private/a", "Secret")
    server.pages["/open"] = Sent(status=302, headers={"Location": "/private/a"})
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/"]
    assert "/private/a" not in server.asked
    assert f"{server.url}/private/a: its robots.txt does not allow reading it." in ground.problems
    assert f"{server.url}/open: its robots.txt does not allow reading it." in ground.problems


async def test_no_more_requests_are_under_way_than_are_allowed(server: Server) -> None:
    both, lock, under_way = threading.Barrier(2), threading.Lock(), [0, 0]

    def together(_time: int) -> Sent:
        with lock:
            under_way[0] += 1
            under_way[1] = max(under_way)
        both.wait(5)
        with lock:
            under_way[0] -= 1
        return Sent(b"<p>The kiln has 2 doors.</p>")

    server.page("/", "Start", "/a", "/b", "/c", "/d")
    server.pages.update(dict.fromkeys(("/a", "/b", "/c", "/d"), together))
    ground = await read(f"{server.url}/", concurrency=2)
    assert len(ground.pages) == 5
    assert under_way == [0, 2]


async def test_the_pace_that_robots_asks_for_is_kept(server: Server) -> None:
    server.text("/robots.txt", "User-agent: ralph-grounding\nCrawl-delay: 0.2")
    server.page("/", "Start", "/a", "/b", "/c")
    for path in ("/a", "/b", "/c"):
        server.page(path, f"Page {path}")
    await read(f"{server.url}/")
    assert server.times[-1] - server.times[1] > 0.7


async def test_a_site_whose_rules_cannot_be_had_is_left_alone(server: Server) -> None:
    server.pages["/robots.txt"] = Sent(status=500)
    server.page("/", "Start")
    with pytest.raises(NoGroundTruthError, match=r"robots\.txt cannot be read \(the site answers 500\)"):
        await read(f"{server.url}/")
    assert server.asked == ["/robots.txt"]


async def test_a_redirect_is_followed_within_the_host_alone(server: Server) -> None:
    other = Server()
    try:
        other.page("/", "Elsewhere")
        server.page("/", "Start", "/moved", "/away", "/round")
        server.page("/here", "Here")
        server.pages["/moved"] = Sent(status=301, headers={"Location": "/here"})
        server.pages["/away"] = Sent(status=302, headers={"Location": other.url})
        server.pages["/round"] = Sent(status=302, headers={"Location": "/round"})
        ground = await read(f"{server.url}/")
        assert paths(ground, server) == ["/", "/here"]
        assert other.asked == []
        told = "\n".join(ground.problems)
        assert f"{server.url}/away: it leads to another host, which was not named: {other.url}." in told
        assert f"{server.url}/round: it is redirected more than 5 times." in told
    finally:
        other.close()


async def test_pages_that_are_gone_or_broken_or_no_pages_are_problems(server: Server) -> None:
    server.page("/", "Start", "/gone", "/broken", "/picture", "/packed", "/brotli")
    server.pages["/broken"] = Sent(status=500)
    server.pages["/picture"] = Sent(b"\x89PNG", kind="image/png")
    server.pages["/packed"] = Sent(b"not packed", headers={"Content-Encoding": "gzip"})
    server.pages["/brotli"] = Sent(b"x", headers={"Content-Encoding": "br"})
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/"]
    assert {problem.removeprefix(server.url) for problem in ground.problems[1:]} == {
        "/gone: the site answers 404.",
        "/broken: the site answers 500.",
        "/picture: it is image/png, which is not supported.",
        "/packed: the site's compressed page cannot be decompressed.",
        "/brotli: the site uses an unrequested compression (br).",
    }


async def test_a_packed_page_is_unpacked_as_far_as_is_allowed(server: Server) -> None:
    body = b"<p>The bomb has 1 fuse.</p>" + b"a" * 200_000_000
    server.pages["/bomb"] = Sent(gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})
    ground = await read(f"{server.url}/bomb", file_bytes=10_000)
    assert len(ground.pages[0].text) < 10_000
    assert ground.problems == (f"{server.url}/bomb: was read only up to 10000 bytes.",)


async def test_a_busy_site_is_asked_again_when_it_says_so(server: Server) -> None:
    def busy(time: int) -> Sent:
        return Sent(status=429, headers={"Retry-After": "0"}) if time < 3 else Sent(b"<p>The kiln has 2 doors.</p>")

    server.pages["/busy"] = busy
    server.pages["/always"] = Sent(status=503, headers={"Retry-After": "0"})
    server.pages["/later"] = Sent(status=429, headers={"Retry-After": "86400"})
    server.page("/", "Start", "/busy", "/always", "/later")
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/", "/busy"]
    assert f"{server.url}/always: the site is too busy (503)." in ground.problems
    assert f"{server.url}/later: the site is too busy (429)." in ground.problems
    assert [server.asked.count(path) for path in ("/busy", "/always", "/later")] == [3, 3, 1]


async def test_a_page_that_never_comes_is_given_up(server: Server) -> None:
    server.page("/", "Start", "/never")
    server.pages["/never"] = Sent(status=0)
    with anyio.fail_after(10):
        ground = await read(f"{server.url}/", request_seconds=0.3)
    assert f"{server.url}/never: the site does not answer within 0.3 s." in ground.problems


async def test_what_was_read_until_the_time_was_over_is_kept(server: Server) -> None:
    server.page("/", "Start", "/never")
    server.pages["/never"] = Sent(status=0)
    with anyio.fail_after(10):
        ground = await read(f"{server.url}/", site_seconds=2)
    assert paths(ground, server) == ["/"]
    assert ground.problems[-1] == f"{server.url}/: the time limit of 2 s was reached; 1 pages were read."


async def test_a_site_without_end_is_read_up_to_the_limit(server: Server) -> None:
    class Endless(dict[str, object]):
        def get(self, path: str, other: object = None) -> object:
            if path in {"/robots.txt", "/sitemap.xml"}:
                return other
            return Sent(
                f'<p>Page {len(path)} is one of many.</p><a href="{path}x/">a</a><a href="{path}y">b</a>'.encode()
            )

    server.pages = Endless()  # type: ignore[assignment]
    ground = await read(f"{server.url}/", pages=7)
    assert len(ground.pages) == 7
    assert ground.problems[-1].endswith("were left out: at most 7 are read.")


async def test_a_server_that_is_not_there_is_told_of(server: Server) -> None:
    server.close()
    with pytest.raises(NoGroundTruthError, match="the site cannot be reached"):
        await read(f"{server.url}/")


async def test_a_sitemap_that_is_nowhere_or_elsewhere_is_passed_over(server: Server) -> None:
    server.text(
        "/robots.txt", "Sitemap: http://[\nSitemap: http://elsewhere.test/s.xml\nCrawl-delay: nan\nSitemap: a b"
    )
    server.page("/", "Start")
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/"]
    assert "its links were followed" in ground.problems[-1]


@pytest.mark.parametrize("address", ["http://user:secret@site.test/", "http://", "https://[::1/"])
async def test_an_address_that_cannot_be_asked_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(UsageError) as raised:
        await read(address)
    assert "secret" not in str(raised.value)


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<urlset><url><loc>&b;</loc></url></urlset>"""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (BOMB.encode(), "declares a document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset/>', "declares a document type"),
        (b"<urlset><url>", "is not XML"),
        (b"<html><body/></html>", "is not a sitemap"),
        (b"<a>" * 100_000, "nested too deeply"),
        (b"<?xml version='1.0' encoding='nonsense'?><urlset/>", "is"),
        (b"\0" * 1000, "is not XML"),
    ],
)
def test_a_sitemap_that_is_none_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(SitemapError, match=problem):
        read_sitemap(content)


async def test_a_sitemap_with_entities_is_told_of_and_links_are_followed(server: Server) -> None:
    server.text("/sitemap.xml", BOMB)
    server.page("/", "Start", "/a")
    server.page("/a", "Alpha")
    ground = await read(f"{server.url}/")
    assert paths(ground, server) == ["/", "/a"]
    assert "declares a document type" in ground.problems[0]


def test_addresses_have_one_spelling() -> None:
    assert page_key("https://www.Site.test/a/#x") == page_key("http://site.test/a")
    assert page_key("https://site.test/a?x=1") != page_key("https://site.test/a")
    assert resolved("https://site.test/docs/a", "../b?x#y") == "https://site.test/b?x"
    assert resolved("https://site.test/", "javascript:alert(1)") is None
    assert resolved("https://site.test/", "http://[") is None
    assert resolved("https://site.test/", "photo.JPG") is None
    site = site_of("https://site.test/")
    assert site.has("http://www.site.test/x")
    for other in ("https://site.test:8443/", "https://evil.test/", "https://site.test.evil.test/", "ftp://site.test/"):
        assert not site.has(other)
