"""The parts of the site beside its pages: the version, every page of a folder where the navigation says "folder/*", and
results of the search that name their page."""

import json
import pathlib
import re

from mkdocs.exceptions import PluginError


def on_config(config):
    docs = pathlib.Path(config["docs_dir"])
    version = re.search(r"project\(graphkit VERSION ([\d.]+)", (docs.parent / "CMakeLists.txt").read_text())
    config["extra"]["version"] = version[1]

    def expanded(entry):
        if isinstance(entry, dict):
            return {title: expanded(inner) for title, inner in entry.items()}
        if isinstance(entry, list):
            return [page for inner in entry for page in (expanded(inner) if str(inner).endswith("/*") else [expanded(inner)])]
        if entry.endswith("/*"):
            found = [str(page.relative_to(docs)) for page in docs.glob(entry + ".md")]
            return sorted(found, key=lambda page: (not page.endswith("/index.md"), page))
        return entry

    config["nav"] = [expanded(entry) for entry in config["nav"]]
    return config


def on_post_page(output, page, config):
    """A reader's browser asks no other host for anything."""
    foreign = re.search(r'(?:src|<link[^>]* href)="(https?://[^"]*)', output)
    if foreign:
        raise PluginError(f"{page.file.src_path} loads {foreign[1]}")
    return output


def on_post_build(config):
    """Many pages have the same headings: "When it is wrong" says nothing alone."""
    file = pathlib.Path(config["site_dir"]) / "search" / "search_index.json"
    index = json.loads(file.read_text())
    pages = {doc["location"]: doc["title"] for doc in index["docs"]}
    for doc in index["docs"]:
        page = pages.get(doc["location"].partition("#")[0])
        if "#" in doc["location"] and page != doc["title"]:
            doc["title"] = f"{page}: {doc['title']}"
    file.write_text(json.dumps(index))
