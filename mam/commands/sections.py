"""Help in sections: options with a panel of their own stand under its name."""

from typing import Any

from typer.core import TyperCommand

_OTHERS = "Options"


class SectionedCommand(TyperCommand):
    """A command whose help lists options by `rich_help_panel`, in plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then section after section; options without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else _OTHERS
                panel = getattr(parameter, "rich_help_panel", None) or usual
                sections.setdefault(panel, []).append(record)
        others = sections.pop(_OTHERS, [])
        for name, records in {**sections, _OTHERS: others}.items():
            with formatter.section(name):
                formatter.write_dl(records)
