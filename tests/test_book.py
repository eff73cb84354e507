"""The built book, seen in a real browser: `make book` runs this after the build.

Every page is opened from the disk in headless Chromium, wide and narrow. It must
ask nothing of another host, report no error, render its mathematics, fit the
screen, describe its pictures, and lead only to places that exist. Each of these
checks is shown a planted bad page that it must reject.
"""
import json
import re
import shutil
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

HTML = Path(__file__).parents[1]/"_build"/"html"
PAGES = sorted(p.relative_to(HTML).as_posix() for p in HTML.rglob("*.html")
               if "_static" not in p.parts  # the page at the root only leads on
               and 'http-equiv="Refresh"' not in p.read_text(encoding="utf-8"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
OWN = ("file:", "data:", "blob:", "about:")

needs_browser = pytest.mark.skipif(
    not CHROMIUM, reason="no chromium found: install Debian's package `chromium`")

SETTLED = "() => window.MathJax?.startup?.promise?.then(() => true) ?? true"
UNRENDERED = """() => [...document.querySelectorAll('.math')]
    .filter(e => !e.querySelector('mjx-container')).map(e => e.textContent.trim())
    .concat([...document.querySelectorAll('mjx-merror')].map(e => e.textContent))"""
NO_ALT = """() => [...document.querySelectorAll('main img, article img')]
    .filter(e => !(e.getAttribute('alt') || '').trim()).map(e => e.src.slice(-60))"""
RAW = r"""() => [...document.querySelectorAll('main p, main li, main td, main h2, main h3')]
    .map(e => { e = e.cloneNode(true);
                for (const c of e.querySelectorAll('code, pre, .math')) c.remove();
                return e.textContent })
    .filter(t => /\{[a-z:]+\}|^\s*\|.*\|\s*$|:::/m.test(t)).map(t => t.trim().slice(0, 60))"""
CUT = """() => [...document.querySelectorAll('mjx-container:not([display="true"])')]
    .filter(e => { const box = e.closest('p, li, dd'), end = e.getBoundingClientRect().right;
                   return box && end && !box.closest('table')
                       && end > box.getBoundingClientRect().right + 5 })
    .map(e => e.parentElement.textContent.slice(0, 60))"""
WIDTHS = "() => [document.documentElement.scrollWidth, window.innerWidth]"
LINKS = "() => [...document.querySelectorAll('a[href]')].map(a => a.href)"
OPEN_ALL = """() => { for (const e of document.querySelectorAll(
    'main details > summary, main button.toggle-button')) e.click() }"""


@cache
def anchors(path):
    """Return every id and name of a page."""
    return set(re.findall(r'\b(?:id|name)="([^"]+)"', path.read_text(encoding="utf-8")))


def dead_links(links):
    """List links to files or fragments that do not exist."""
    dead = []
    for link in set(links):
        url = urlsplit(link)
        if url.scheme != "file": continue
        path, fragment = Path(unquote(url.path)), unquote(url.fragment)
        if not path.is_file(): dead.append(link)
        elif fragment and path.suffix == ".html" and fragment not in anchors(path):
            dead.append(link)
    return dead


def faults(browser, path):
    """Open one page and list all that is wrong with it."""
    found, page = [], browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.on("request", lambda r: r.url.startswith(OWN) or found.append(f"asks {r.url}"))
        page.on("console", lambda m: m.type == "error" and found.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: found.append(f"script: {e}"))
        page.goto(path.resolve().as_uri(), wait_until="load")
        page.evaluate(SETTLED)
        found += [f"mathematics left: {text}" for text in page.evaluate(UNRENDERED)]
        found += [f"no alternative text: {src}" for src in page.evaluate(NO_ALT)]
        found += [f"markup left: {text}" for text in page.evaluate(RAW)]
        found += [f"leads nowhere: {link}" for link in dead_links(page.evaluate(LINKS))]
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            needed, given = page.evaluate(WIDTHS)
            if needed > given: found.append(f"{needed} px wide on a screen of {given}")
        page.evaluate(OPEN_ALL)
        page.wait_for_timeout(50)
        found += [f"formula cut: {text}" for text in page.evaluate(CUT)]
    finally: page.close()
    return found


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.mark.book
def test_there_is_a_book():
    if not PAGES: pytest.skip(f"no built book in {HTML}: run `make book`")
    for name in ("nbs/index.html", "nbs/20_coupling.html", "nbs/api.html"):
        assert name in PAGES


FIGURE = re.compile(r'<figure[^>]*id="(fig-[^"]+)"(.*?)</figure>', re.S)
LABEL = re.compile(r"^#\| label: (fig-\S+)", re.M)


def missing_figures(notebooks, pages):
    """List figure labels of the notebooks that show no picture in the book."""
    shown = {name for html in pages for name, body in FIGURE.findall(html) if "<img" in body}
    return sorted({name for text in notebooks for name in LABEL.findall(text)} - shown)


@pytest.mark.book
def test_every_figure_is_shown():
    if not PAGES: pytest.skip(f"no built book in {HTML}: run `make book`")
    cells = [json.loads(path.read_text(encoding="utf-8"))["cells"]
             for path in (HTML.parents[1]/"nbs").glob("*.ipynb")
             if (HTML/"nbs"/path.with_suffix(".html").name).exists()]
    sources = ["".join(cell["source"]) for page in cells for cell in page]
    assert missing_figures(sources, [(HTML/name).read_text(encoding="utf-8")
                                     for name in PAGES]) == []
    page = '<figure class="a" id="fig-a"><img src="x"></figure><figure id="fig-b"></figure>'
    labels = ["#| label: fig-a\nx", "#| echo: false\n#| label: fig-b\ny"]
    assert missing_figures(labels, [page]) == ["fig-b"]


def test_formulas_break_before_relations(monkeypatch):
    monkeypatch.syspath_prepend(str(HTML.parents[1]/"_ext"))
    from nbdev_myst import pieces
    assert pieces(r"a=\sum_x f(x)\le 1-b") == ["a", r"{}=\sum_x f(x)", r"{}\le 1-b"]
    for whole in (r"f(a=b)", r"\{x: a=b\}", r"\left(a=b\right)", r"\sum_{i=1}^n x", "=a", "x"):
        assert pieces(whole) == [whole]


@pytest.mark.book
@needs_browser
@pytest.mark.parametrize("name", PAGES)
def test_page_is_whole(browser, name): assert faults(browser, HTML/name) == []


BAD = {
    "asks": '<img alt="x" src="http://127.0.0.1:9/x.png">',
    "console": '<script>console.error("planted")</script>',
    "script": '<script>throw new Error("planted")</script>',
    "mathematics left": r'<span class="math">\(x\)</span>',
    "no alternative text": '<main><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></main>',
    "markup left": "<main><p>see {doc}<code>there</code></p></main>",
    "leads nowhere": '<a href="#nowhere">there</a>',
    "formula cut": '<main><p style="width: 99px; overflow: hidden"><mjx-container style='
                   '"display: inline-block; width: 200px">x</mjx-container></p></main>',
    "px wide": '<div style="width: 1000px">wide</div>',
    "toggle": '<main><details><summary onclick="planted()">open</summary></details></main>',
}


@pytest.mark.book
@needs_browser
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_page_is_rejected(browser, tmp_path, fault):
    page, head = tmp_path/"page.html", '<!doctype html><meta charset="utf-8"><title>x</title>'
    page.write_text(f"{head}<body>fine</body>", encoding="utf-8")
    assert faults(browser, page) == []
    page.write_text(f"{head}<body>{BAD[fault]}</body>", encoding="utf-8")
    expected = "script" if fault == "toggle" else fault
    assert any(expected in found for found in faults(browser, page)), faults(browser, page)
