"""Names of the package itself, where a docstring of one of its modules uses them alone."""


def resolve(app, env, node, contnode):
    """Look a name up in `dpmlite` that its own module does not document."""
    if node.get("refdomain") != "py":
        return None
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, "obj", f"dpmlite.{node['reftarget']}", node, contnode
    )


def setup(app):
    """Run where Sphinx has found no target."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
