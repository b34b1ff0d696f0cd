"""Hosts that a service answers to: as they are written, or refused at the start."""

import pytest
from serving_cases import call

from skstruct import StructuredPerceptron
from skstruct.cli import main
from skstruct.serving import app, from_environment
from skstruct.serving.hosts import AllowedHosts, AllowedOrigins, Host, host_of

ALLOWED = {
    "MyHost": ["MyHost", "myhost", "MYHOST:8000", "myhost.", "myhost:"],
    "example.com:8000": ["example.com:8000", "EXAMPLE.com:8000"],
    "example.org:80": ["example.org", "example.org:80"],
    "Büro.example": ["xn--bro-hoa.example", "Büro.example", "bÜro.example:1"],
    "::1": ["[::1]", "[::1]:8000", "[0:0:0:0:0:0:0:1]"],
    "[::2]": ["[::2]", "[::2]:1"],
    "[2001:DB8:0::3]:90": ["[2001:db8::3]:90"],
    "127.0.0.1": ["127.0.0.1", "127.0.0.1:8000"],
    "my_service": ["my_service:8000"],
}
OTHERS = [
    "example.com", "example.com:9", "example.org:81", "localhost/evil", "evil.example", "myhost@evil",
    "[2001:db8::3]", "[::1", "::g", "[", ":", "[]", "a b", "myhost:8000:1", "[127.0.0.1]", "myhost..",
    "myhost:99999", "myhost:x", "\xff", "http://myhost", "myhost#", "*",
]  # fmt: skip


def as_header(text):
    """As WSGI gives the bytes of a header."""
    return text.encode().decode("latin-1")


def test_every_form_matches_as_written_and_no_other():
    model = StructuredPerceptron("word", max_iter=1).fit([["the"]], [["D"]])
    service = app(model, allowed_hosts=list(ALLOWED))
    for allowed, headers in ALLOWED.items():
        alone = AllowedHosts([allowed])
        for header in headers:
            status, *_ = call(service, path="/health", HTTP_HOST=as_header(header))
            assert status == 200 and alone.allows(as_header(header)), (allowed, header)
        for other, theirs in ALLOWED.items():
            if other != allowed:
                assert not any(alone.allows(as_header(header)) for header in theirs)
    for header in OTHERS:
        assert call(service, path="/health", HTTP_HOST=header)[0] == 400, header
    for given in None, ["*"], ["a", "*"]:
        assert AllowedHosts(given).allows("[")
    assert AllowedHosts(["a:443"]).allows("a", "https")
    assert not AllowedHosts(["a:443"]).allows("a")


BAD = [
    "", "http://a", "a/b", "a b", "a:", "a:0", "a:65536", "a:x", "[::1", "::g", "*.example.com", "a..b",
    "[a]", "a\n", "x" * 64, "[::1]x",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_host_is_refused_at_the_start(text, capsys, monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="is no host: expected a name or an address"):
        AllowedHosts(["a", text])
    monkeypatch.setattr("skstruct.cli.serve.loaded", None)  # before a model is loaded
    with pytest.raises(SystemExit) as end:
        main(["serve", str(tmp_path / "m"), "--allowed-host", text])
    assert end.value.code == 2 and "is no host" in capsys.readouterr().err
    if text.split() == [text]:
        monkeypatch.setenv("SKSTRUCT_MODELS", str(tmp_path / "m"))
        monkeypatch.setenv("SKSTRUCT_ALLOWED_HOSTS", text)
        with pytest.raises(ValueError, match="SKSTRUCT_ALLOWED_HOSTS: .* is no host"):
            from_environment()


def test_other_settings_of_the_environment(monkeypatch):
    monkeypatch.setenv("SKSTRUCT_MODELS", "none")
    for text in "0", "-1", "x", "1.5", "٣":
        monkeypatch.setenv("SKSTRUCT_MAX_BYTES", text)
        with pytest.raises(ValueError, match="SKSTRUCT_MAX_BYTES must be an int"):
            from_environment()


def test_one_string_is_no_list_of_names():
    with pytest.raises(TypeError, match="must be a list of names, got 'localhost'"):
        AllowedHosts("localhost")


def test_what_a_text_names():
    assert host_of("[::1]:80") == Host("::1", 80)
    assert host_of("FE80::1%eth0") == Host("fe80::1%eth0", None)


# -- sites whose pages may read answers ------------------------------------------------
SITE = "https://shop.example"
READS = "Access-Control-Allow-Origin"


def tagger():
    return StructuredPerceptron("word", max_iter=1).fit([["the"]], [["D"]])


@pytest.mark.parametrize(
    "allowed, origin, reads",
    [
        ((), SITE, False),
        ([SITE], SITE, True),
        ([SITE], "https://SHOP.example:443", True),
        ([SITE], "http://shop.example", False),
        ([SITE], "https://evil.example", False),
        ([SITE], "https://shop.example.evil", False),
        ([SITE], "https://shop.example:8443", False),
        ([SITE], "null", False),
        ([SITE], None, False),
        (["http://localhost:3000"], "http://localhost:3000", True),
        (["*"], "https://any.example", True),
    ],
)
def test_only_pages_of_allowed_sites_may_read(allowed, origin, reads):
    """Answers, refusals, and what a browser asks before."""
    service = app(tagger(), allowed_origins=allowed)
    given = {} if origin is None else {"HTTP_ORIGIN": origin}
    for method, path, body in (
        ("POST", "/predict", [["the"]]),
        ("POST", "/predict", 3),
        ("GET", "/none", b""),
        ("GET", "/health", b""),
        ("OPTIONS", "/predict", b""),
    ):
        status, headers, _ = call(service, method, path, body, **given)
        assert headers.get(READS) == (origin if reads else None), (method, path)
        assert headers.get("Vary") == ("Origin" if allowed else None)
    assert status == (200 if reads else 405)
    if reads:
        assert headers["Access-Control-Allow-Methods"] == "POST"
        assert headers["Access-Control-Allow-Headers"] == "Content-Type"


@pytest.mark.parametrize(
    "text",
    ["", "shop.example", "https://", "https://a/b", "https://u@a", "//a", "null"],
)
def test_what_is_no_origin_is_refused_at_the_start(text, capsys, monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="is no origin: expected a scheme, a host"):
        AllowedOrigins([SITE, text])
    monkeypatch.setattr("skstruct.cli.serve.loaded", None)
    with pytest.raises(SystemExit) as end:
        main(["serve", str(tmp_path / "m"), "--allowed-origin", text])
    assert end.value.code == 2 and "is no origin" in capsys.readouterr().err
    if text:
        monkeypatch.setenv("SKSTRUCT_MODELS", str(tmp_path / "m"))
        monkeypatch.setenv("SKSTRUCT_ALLOWED_ORIGINS", text)
        with pytest.raises(ValueError, match="SKSTRUCT_ALLOWED_ORIGINS: .* no origin"):
            from_environment()


def test_one_string_is_no_list_of_sites():
    with pytest.raises(TypeError, match="must be a list of sites"):
        AllowedOrigins(SITE)


def test_a_backend_of_label_studio_has_no_pages(tmp_path, capsys):
    path = tmp_path / "m"
    tagger().save(path)
    with pytest.raises(SystemExit):
        main(["serve", str(path), "--label-studio", "--allowed-origin", SITE])
    assert "--allowed-origin is for pages" in capsys.readouterr().err
