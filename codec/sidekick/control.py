"""Maps a `control` of A, B and C (a panel of buttons and text inputs) to its form in D: a column that contains them.

A control's id is unique only inside its panel, so as a component it is called `panel/control`, with `~` and `/` escaped
in both parts. A button or textbox of D that is shown to an old UI gets a panel of its own with the same name. Its id
there is `/` and that name, so it is recognised when it is clicked.
"""

SEPARATOR = "/"


def escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def component_id(panel: str, control: str) -> str:
    """The component id of a control in a panel."""
    if control == SEPARATOR + panel:
        return panel
    return escaped(panel) + SEPARATOR + escaped(control)


def panel_and_control(component: str) -> tuple[str, str]:
    """The panel in which an old UI shows this button or textbox, and its id there."""
    panel, _, control = component.partition(SEPARATOR)
    named = unescaped(panel), unescaped(control)
    if panel and control and component_id(*named) == component:
        return named
    return component, SEPARATOR + component


def is_control(component: str) -> bool:
    """Whether this is the id of something in a control panel."""
    return panel_and_control(component)[0] != component
