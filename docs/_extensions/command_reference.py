"""The directive ``command-line``: every command with its arguments and options, asked of the program itself."""

import re

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def setup(app):
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class CommandLine(SphinxDirective):
    """A section a command."""

    def run(self):
        from typer.main import get_command

        from stepnet.cli import app

        self.env.note_dependency(app.__file__)
        return [self._section(name, command) for name, command in _leaves("stepnet", get_command(app.app))]

    def _section(self, name, command):
        section = nodes.section(ids=[nodes.make_id(name)])
        self.state.document.note_explicit_target(section)
        section += nodes.title(text=name)
        section += nodes.paragraph("", "", _meaning(command.help or ""))
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        usage = " ".join([name, *(_shown(one) for one in arguments), "[OPTIONS]"])
        section += nodes.literal_block(usage, usage, language="text")
        records = [_record(one) for one in command.params if not one.hidden]
        if records:
            section += _table(("", "default", "meaning"), records)
        return section


def _leaves(name, command):
    """The commands that do something, with their full names."""
    if not hasattr(command, "commands"):
        return [] if command.hidden else [(name, command)]
    return [leaf for part, one in command.commands.items() for leaf in _leaves(f"{name} {part}", one)]


def _shown(argument):
    name = (argument.metavar or argument.name).strip("[]").upper()
    return name if argument.required else f"[{name}]"


def _record(parameter):
    is_argument = parameter.param_type_name == "argument"
    name = _shown(parameter) if is_argument else ", ".join([*parameter.opts, *parameter.secondary_opts])
    return nodes.literal(text=name), _default(parameter), _meaning(parameter.help or "")


def _meaning(text):
    """Options that a text speaks of look like options."""
    meaning = nodes.inline()
    for part in re.split(r"(--[a-z][\w-]*)", text):
        meaning += nodes.literal(text=part) if part.startswith("--") else nodes.Text(part)
    return meaning


def _default(parameter):
    if parameter.required:
        return nodes.inline(text="required")
    is_redundant = parameter.show_default and not getattr(parameter, "is_flag", False)
    return (
        nodes.literal(text=str(parameter.default))
        if is_redundant and parameter.default not in (None, "")
        else nodes.inline()
    )


def _table(titles, records):
    group = nodes.tgroup(cols=len(titles))
    group += [nodes.colspec(colwidth=width) for width in (24, 16, 60)]
    head, body = nodes.thead(), nodes.tbody()
    head += _row([nodes.inline(text=title) for title in titles])
    body += [_row(record) for record in records]
    group += [head, body]
    table = nodes.table(classes=["options"])
    table += group
    return table


def _row(cells):
    row = nodes.row()
    for cell in cells:
        entry, paragraph = nodes.entry(), nodes.paragraph()
        paragraph += cell
        entry += paragraph
        row += entry
    return row
