"""Keys of every known kind are found wherever they stand, however short they are, and ordinary names are none."""

from random import Random
from string import ascii_letters, ascii_uppercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codec.agent.key_shapes import holds_key, without_keys
from codec.agent.withheld import withheld

HEX, ANY, BIG = "0123456789abcdef", ascii_letters + digits, ascii_uppercase + digits
KINDS = [
    *(("sk-", ANY, 16), ("sk-proj-", ANY, 16), ("sk-ant-api03-", ANY, 16), ("ghp_", ANY, 20), ("gho_", ANY, 20)),
    *(("ghu_", ANY, 20), ("ghs_", ANY, 20), ("ghr_", ANY, 20), ("github_pat_", ANY, 20), ("glpat-", ANY, 16)),
    *((f"gl{each}-", ANY, 16) for each in ("rt", "dt", "cbt", "ptt", "ft", "imt", "agent", "soat", "oas", "ffct")),
    *((f"xox{each}-", ANY, 10) for each in "abeoprs"),
    *(("xapp-", ANY, 10), ("AKIA", BIG, 16), ("ASIA", BIG, 16), ("ABIA", BIG, 16), ("ACCA", BIG, 16)),
    *(("AIza", ANY, 30), ("ya29.", ANY, 20), ("GOCSPX-", ANY, 20), ("sk_live_", ANY, 10), ("rk_test_", ANY, 10)),
    *(("whsec_", ANY, 16), ("npm_", ANY, 30), ("pypi-", ANY, 31), ("rubygems_", HEX, 40), ("dckr_pat_", ANY, 20)),
    *(("hf_", ANY, 20), ("gsk_", ANY, 40), ("pplx-", ANY, 40), ("r8_", ANY, 30), ("xai-", ANY, 40)),
    *(("nvapi-", ANY, 40), ("tvly-", ANY, 20), ("lsv2_pt_", ANY, 30), ("dop_v1_", HEX, 30), ("doo_v1_", HEX, 30)),
    *(("dor_v1_", HEX, 30), ("dapi", HEX, 32), ("hvs.", ANY, 20), ("hvb.", ANY, 20), ("hvr.", ANY, 20)),
    *(("dp.pt.", ANY, 30), ("dp.scim.", ANY, 30), ("abcDEF123ghi45.atlasv1.", ANY, 40)),
    *(("AGE-SECRET-KEY-1", BIG, 40), ("tskey-auth-", ANY, 16), ("shpat_", HEX, 32), ("shpss_", HEX, 32)),
    *(("sq0csp-", ANY, 20), ("key-", HEX, 32), ("SK", HEX, 32), ("xkeysib-", HEX, 40), ("lin_api_", ANY, 30)),
    *(("glsa_", ANY, 30), ("glc_", ANY, 30), ("ATATT3", ANY, 40), ("ATCTT3", ANY, 40), ("ntn_", ANY, 40)),
    *(("figd_", ANY, 30), ("pscale_tkn_", ANY, 30), ("pscale_pw_", ANY, 30), ("sbp_", HEX, 40), ("NRAK-", BIG, 20)),
    *(("pul-", HEX, 40), ("PMAK-abcdef0123456789abcd-", HEX, 30), ("sntrys_", ANY, 40), ("sntryu_", ANY, 40)),
    *(("ops_eyJ", ANY, 40), ("1234567890:AA", ANY, 33), ("eyJhbGciOiJ.eyJ", ANY, 8)),
    *((f"LS0tLS1CRUdJTi{each}", ANY, 8) for each in ("BQUklW", "BQR1Ag", "BSU0EgUFJJ", "BFQyBQUklW", "BPUEVO")),
]
"""How each begins, its letters, and how many of them it has at least."""
CODE = [
    "test_something_that_is_long_and_says_so = global_navigation_menu_of_the_page",
    "key-value-store-of-the-session-with-a-lock, skip_if_nothing_is_there_to_do_now",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM",  # a certificate
    "SKIP_THESE_BECAUSE_THEY_ARE_SLOW, glossary-of-all-our-words-and-more",
]


def key(begin: str, letters: str, most: int, seed: int) -> tuple[str, str]:
    """A key, and its part that must not be told."""
    random = Random(f"{begin}/{seed}")
    secret = "".join(random.choice(letters) for _ in range(most))
    tail = f".{secret}" if begin.startswith("eyJ") else f".{secret}" if begin == "SG." else ""
    return f"{begin}{secret}{tail}", secret


@pytest.mark.parametrize(("begin", "letters", "least"), KINDS)
@pytest.mark.parametrize("more", [0, 20])
def test_a_key_of_every_kind_is_withheld_wherever_it_stands(begin: str, letters: str, least: int, more: int) -> None:
    whole, secret = key(begin, letters, least + more, more)
    for around in ("{}", "# see {} for it", "x('{}')", "?a={}&b=1", "“{}” é", "say({});", "a\n{}\nb", "{},{}"):
        text = around.replace("{}", whole)
        shown = withheld(text, "a.py")
        assert secret not in shown
        assert shown.count("\n") == text.count("\n")
        assert without_keys(f"{'word ' * 500}{text}{' é word' * 500}").count("word") == 1_000


@given(st.text(" \nab_-.é/:\"'", max_size=40), st.sampled_from(KINDS), st.integers(0, 9))
def test_nothing_in_front_of_a_key_but_a_letter_of_one_hides_it(
    before: str, kind: tuple[str, str, int], seed: int
) -> None:
    begin, letters, least = kind
    whole, secret = key(begin, letters, least, seed)
    bounded = not before or before[-1] not in "ab_-"
    assert not bounded or secret not in without_keys(f"{before}{whole}")


@pytest.mark.parametrize("address", [
    "https://hooks.slack.com/services/T0ABCDEF1/B0ABCDEF1/{}",
    "https://discord.com/api/webhooks/123456789012345678/{}",
    "https://a.blob.core.windows.net/c?sv=2020-08-04&sig=a%2B{}",
    "https://api.telegram.org/bot123456789:AA{}/getMe",
])  # fmt: skip
def test_an_address_that_is_as_good_as_a_key_is_withheld(address: str) -> None:
    _, secret = key("", ANY, 44, 1)
    assert secret[2:] not in withheld(f"see {address.format(secret)} now")


@pytest.mark.parametrize("text", CODE)
def test_ordinary_names_are_no_keys(text: str) -> None:
    assert without_keys(text) == text
    assert not any(map(holds_key, text.split()))


def test_a_key_in_base64_is_withheld_with_all_its_lines_and_they_keep_their_numbers() -> None:
    random = Random(1)
    lines = ["".join(random.choice(ANY) for _ in range(76)) for _ in range(9)]
    text = "tls.key: LS0tLS1CRUdJTiBSU0EgUFJJ" + lines[0] + "\n  " + "\n  ".join(lines[1:]) + "\nafter: it\n"
    shown = withheld(text)
    assert not any(line in shown for line in lines)
    assert shown.split("\n")[10:] == text.split("\n")[9:][1:] or shown.split("\n")[9] == "after: it"
    assert shown.count("\n") == text.count("\n")
