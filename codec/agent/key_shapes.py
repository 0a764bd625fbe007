"""Keys that are known by their shape, whatever they are called: those of model servers, hosts of code, clouds, chats.

There are too many kinds to look for the beginning of each in every text. Nearly all of them hold a run of at least RUN
letters of a key, which ordinary words seldom are. So a text is first turned into what is such a letter and what is
none, in which runs are found in no time. Only if one begins as a key does, the text is looked at by its shapes.

Keys are written in ASCII, so nothing else counts as a letter of one.
"""

import re

from codec.redaction import BLANK

RUN = 15
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_IS_LETTER = bytes(ord("a") if each in _LETTERS else ord(" ") for each in range(256))
_RUN = b"a" * RUN
_PEM = r"LS0tLS1CRUdJTi(?:BQUklW|BQR1Ag|BSU0EgUFJJ|BFQyBQUklW|BFTkNS|BPUEVO|BEU0EgUFJJ)"
"""How "-----BEGIN PRIVATE KEY" and its kin begin in base64; not a certificate."""
_SHAPES = re.compile(
    rf"""(?ax) (?<![\w-])(?:
        sk-(?:[A-Za-z]{{1,12}}-){{0,3}}[\w-]{{16,}}        # of model servers
      | gh[pousr]_\w{{20,}} | github_pat_\w{{20,}} | gl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\w-]{{16,}}
      | xox[abeoprs]-[\w-]{{10,}} | xapp-[\w-]{{10,}}
      | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}
      | AIza[\w-]{{30,}} | ya29\.[\w-]{{20,}} | GOCSPX-[\w-]{{20,}}
      | [rs]k_(?:live|test)_\w{{10,}} | whsec_\w{{16,}}
      | npm_\w{{30,}} | pypi-\w[\w-]{{30,}} | rubygems_[0-9a-f]{{40,}} | dckr_(?:pat|oat)_[\w-]{{20,}}
      | hf_\w{{20,}} | gsk_\w{{40,}} | pplx-\w{{40,}} | r8_\w{{30,}} | xai-\w{{40,}}
      | nvapi-[\w-]{{40,}} | tvly-[\w-]{{20,}} | lsv2_(?:pt|sk)_\w{{30,}}
      | do[opr]_v1_\w{{30,}} | dapi[0-9a-f]{{32}} | hv[sbr]\.[\w-]{{20,}} | dp\.(?:pt|st|ct|sa|scim)\.[\w-]{{30,}}
      | [\w]{{14}}\.atlasv1\.[\w-]{{40,}} | AGE-SECRET-KEY-1[A-Z0-9]{{40,}} | tskey-[a-z]{{2,12}}-[\w-]{{16,}}
      | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{{32}} | sq0(?:csp|atp|idp)-[\w-]{{20,}} | key-[0-9a-f]{{32}} | SK[0-9a-f]{{32}}
      | SG\.[\w-]{{16,}}\.[\w-]{{16,}} | xkeysib-[\w-]{{40,}}
      | lin_api_\w{{30,}} | gl(?:sa|c)_[\w+/=]{{30,}} | ATATT3[\w=-]{{40,}} | ATCTT3[\w=-]{{40,}} | ntn_\w{{40,}}
      | figd_[\w-]{{30,}} | pscale_(?:tkn|pw|oauth)_[\w.=-]{{30,}} | sbp_[0-9a-f]{{40}} | NRAK-[A-Z0-9]{{20,}}
      | pul-[0-9a-f]{{40}} | PMAK-[0-9a-f]{{20,}}-[0-9a-f]{{30,}} | sntry[su]_[\w+/=-]{{40,}} | ops_eyJ[\w=-]{{40,}}
      | eyJ[\w-]{{8,}}\.eyJ[\w-]{{8,}}(?:\.[\w-]*)?     # a JSON Web Token
      | eyJ[\w-]{{8,}}\.[\w-]{{16,}}                  # half of one
      | {_PEM}(?:[A-Za-z0-9+/=]|\\[nr]|\r?\n[ \t]*(?=[A-Za-z0-9+/]{{40}}))*
      | \d{{8,10}}:AA[\w-]{{32,}}
      | (?<=/services/)T\w{{6,}}/B\w{{6,}}/\w{{20,}} | (?<=/webhooks/)\d{{15,}}/[\w-]{{40,}}
      | (?<=[?&]sig=)[\w%+/-]{{20,}}
    ) | (?<=/bot)\d{{8,10}}:AA[\w-]{{32,}}"""
)
_BEGINS = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glrt-", "gldt-", "glcbt-", "glptt-"),
    *("glft-", "glimt-", "glagent-", "glsoat-", "gloas-", "glffct-", "xox", "xapp-", "AKIA", "ASIA", "ABIA", "ACCA"),
    *("AIza", "GOCSPX-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "npm_", "pypi-", "rubygems_"),
    *("dckr_", "hf_", "gsk_", "pplx-", "r8_", "xai-", "nvapi-", "tvly-", "lsv2_", "doo_v1_", "dop_v1_", "dor_v1_"),
    *("dapi", "AGE-SECRET-KEY-1", "tskey-", "shpat_", "shpca_", "shppa_", "shpss_", "sq0", "key-", "SK", "xkeysib-"),
    *("lin_api_", "glsa_", "glc_", "ATATT3", "ATCTT3", "ntn_", "figd_", "pscale_", "sbp_", "NRAK-", "pul-", "PMAK-"),
    *("sntrys_", "sntryu_", "ops_eyJ", "LS0tLS1CRUdJTi", "AA"),
)
"""How a run begins that is a key..."""
_HEADS = frozenset(each[:2] for each in _BEGINS)
_BEHIND = (
    *("SG.", "ya29.", "hvs.", "hvb.", "hvr.", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", ".atlasv1."),
)
"""...and what stands before one."""
_ENDS = frozenset(each[-1] for each in _BEHIND)
_IN_ADDRESSES = ("hooks.slack.com/services/", "/api/webhooks/", "?sig=", "&sig=")
"""Addresses that are as good as a key, and have no run of letters for sure."""


def without_keys(text: str) -> str:
    return _SHAPES.sub(_blank, text) if _may_hold_keys(text) else text


def holds_key(name: str) -> bool:
    """Whether the name of a file or folder is a key itself, or has one in it."""
    return len(name) >= RUN and without_keys(name) != name


def _may_hold_keys(text: str) -> bool:
    letters = text.encode("ascii", "replace").translate(_IS_LETTER)
    at = letters.find(_RUN)
    while at >= 0:
        if text[at : at + 2] in _HEADS and text.startswith(_BEGINS, at):
            return True
        if at and text[at - 1] in _ENDS and text.endswith(_BEHIND, 0, at):
            return True
        end = letters.find(b" ", at)
        at = letters.find(_RUN, end) if end > 0 else -1
    return "eyJ" in text or any(each in text for each in _IN_ADDRESSES)


def _blank(found: re.Match[str]) -> str:
    return BLANK + "\n" * found[0].count("\n")
