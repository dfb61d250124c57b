"""Puts every page of a folder into the navigation where it says "folder/*"."""

import pathlib


def on_config(config):
    docs = pathlib.Path(config["docs_dir"])

    def expanded(entry):
        if isinstance(entry, dict):
            return {title: expanded(inner) for title, inner in entry.items()}
        if isinstance(entry, list):
            return [page for inner in entry for page in (expanded(inner) if str(inner).endswith("/*") else [expanded(inner)])]
        if entry.endswith("/*"):
            return sorted(str(page.relative_to(docs)) for page in docs.glob(entry + ".md"))
        return entry

    config["nav"] = [expanded(entry) for entry in config["nav"]]
    return config
