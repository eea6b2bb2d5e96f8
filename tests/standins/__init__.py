"""Real HTTP servers on loopback that behave like Serper, SerpApi, OpenAI, Google and WordPress, for tests."""

from tests.standins.base import Answer, Call, RateLimit, Request, StandIn
from tests.standins.faults import CutOff, Drip, Fault, Reply, Reset, Stall, Twist
from tests.standins.google import GoogleStandIn
from tests.standins.google_analytics import GoogleAnalyticsStandIn
from tests.standins.google_token import make_service_account
from tests.standins.openai import OpenAIStandIn
from tests.standins.search_console import SearchConsoleStandIn
from tests.standins.serpapi import SerpApiStandIn
from tests.standins.serper import SerperStandIn, answers_from_jsonl
from tests.standins.wordpress import WordPressStandIn

__all__ = [
    "Answer",
    "Call",
    "CutOff",
    "Drip",
    "Fault",
    "GoogleAnalyticsStandIn",
    "GoogleStandIn",
    "OpenAIStandIn",
    "RateLimit",
    "Reply",
    "Request",
    "Reset",
    "SearchConsoleStandIn",
    "SerpApiStandIn",
    "SerperStandIn",
    "Stall",
    "StandIn",
    "Twist",
    "WordPressStandIn",
    "answers_from_jsonl",
    "make_service_account",
]
