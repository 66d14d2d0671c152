"""``dpmlite completion``: what a shell needs to complete the command's words."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Words that begin with a dash are options. Others are files, but for the choices of an option that
# stands before them.
SCRIPT = """\
_dpmlite() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
    if [[ $COMP_CWORD == 1 ]]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}} $before" in
{choices}
        esac
        if [[ $word == -* ]]; then
            case ${{COMP_WORDS[1]}} in
{options}
            esac
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _dpmlite dpmlite
"""


def script_of(parser: argparse.ArgumentParser) -> str:
    """The script that a shell runs, with all commands, options and choices of a parser."""
    commands = _commands_of(parser)
    choices = [
        f'            "{name} {option}") words="{" ".join(map(str, action.choices))}" ;;'
        for name, command in commands.items()
        for action in command._actions
        if action.choices
        for option in action.option_strings
    ]
    options = [
        f'                {name}) words="{" ".join(command._option_string_actions)}" ;;'
        for name, command in commands.items()
    ]
    top = [*commands, *parser._option_string_actions]
    return SCRIPT.format(
        commands=" ".join(top), choices="\n".join(choices), options="\n".join(options)
    )


def _commands_of(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    found = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(found.choices)
