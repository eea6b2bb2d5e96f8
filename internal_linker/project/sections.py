"""The sections that options and settings name: which pages get links, where links may lead, which pages count."""

from collections.abc import Collection, Sequence

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.sections import (
    NamedSections,
    Scope,
    SectionFilter,
    Sections,
    chosen,
    verify,
)
from internal_linker.project.options.links import RunOptions
from internal_linker.project.settings.settings import Settings

SECTION = "--section"


def chosen_sections(flags: Sequence[str], keys: Collection[str]) -> SectionFilter:
    """Return the sections of `--section`: only some ("/blog"), or all but some ("/blog=off").

    Raises:
        ConfigurationError: a section has no page.
    """
    sections = chosen(flags)
    verify(_named(sections, SECTION), keys)
    if sections and not any(map(sections.hold, keys)):
        raise ConfigurationError(f"{SECTION}: no page is in {sections}.")
    return sections


def renewed_sections(settings: Settings, flags: Sequence[str] = ()) -> SectionFilter:
    """Return the pages that get new links, by the setting sections_off and the flags of a run.

    Raises:
        ConfigurationError: a flag switches on what the setting does not switch off.
    """
    on = [flag.removesuffix("=on") for flag in flags if flag.endswith("=on")]
    off = Sections(settings.sections_off).patterns
    for path in Sections(on).patterns:
        if path not in off:
            raise ConfigurationError(f"{SECTION} {path}=on: {path} is not in sections_off.")
    asked = chosen(flag for flag in flags if not flag.endswith("=on"))
    back = {*Sections(on).patterns, *asked.include.patterns}
    return SectionFilter(
        asked.include, Sections([*(one for one in off if one not in back), *asked.exclude.patterns])
    )


def scope_of(settings: Settings, options: RunOptions | None = None) -> Scope:
    """Return which pages get links, and where links may lead.

    A path in the search template is the section in which the program works, unless a setting names others. Of a run's
    options, `target_include` replaces the setting, and `target_exclude` adds to it.
    """
    path = settings.site.partition("/")[2]
    own = (path,) if path else ()
    targets = (options.target_include if options else ()) or settings.target_include or own
    barred = (*settings.target_exclude, *(options.target_exclude if options else ()))
    return Scope(
        SectionFilter(Sections(settings.source_include), Sections(settings.source_exclude)),
        SectionFilter(Sections(() if settings.source_include else own)),
        SectionFilter(Sections(targets), Sections(barred)),
    )


def named_sections(settings: Settings, options: RunOptions | None = None) -> list[NamedSections]:
    """Return all sections that the options and settings name, each with the name of its option or setting."""
    asked = (
        chosen(flag for flag in options.sections if not flag.endswith("=on")) if options else SectionFilter()
    )
    found = _named(asked, SECTION)
    if options:
        found.append(NamedSections("--target-include", Sections(options.target_include)))
        found.append(NamedSections("--target-exclude", Sections(options.target_exclude)))
    if not (options and options.target_include):
        found.append(NamedSections("target_include", Sections(settings.target_include), "one"))
        if (path := settings.site.partition("/")[2]) and not settings.target_include:
            found.append(NamedSections("search_query_template", Sections([path]), "one"))
    found.append(NamedSections("source_include", Sections(settings.source_include), "one"))
    for name in ("target_exclude", "source_exclude", "sections_off", "approval_sections"):
        found.append(NamedSections(name, Sections(getattr(settings, name)), "none"))
    return found


def _named(sections: SectionFilter, name: str) -> list[NamedSections]:
    return [NamedSections(name, sections.include), NamedSections(name, sections.exclude)]
