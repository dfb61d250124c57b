// What the pages of one result have in common: those of `graphkit diff` and `graphkit attribute`.
function section(title, ...parts) {
  const made = element("section", "drawing");
  made.append(element("h2", "", title), ...parts);
  return made;
}

function toggleTheme() {
  const root = document.documentElement;
  setTheme(root.dataset.theme === "dark" ? "light" : "dark");
}

// Unpacks the data and calls show(data), which fills the page's main part.
function startPage(name, show) {
  const start = async () => {
    document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    byId("theme").addEventListener("click", toggleTheme);
    document.addEventListener("keydown", (event) => { if (event.key === "t") toggleTheme(); });
    const bytes = await inflate(byId("data").textContent.trim());
    byId("data").remove();
    await show(JSON.parse(new TextDecoder().decode(bytes)));
    document.body.dataset.ready = "yes";
  };
  start().catch((error) => byId(name).append(element("p", "notice", `This page can't be shown: ${error.message}. graphkit ${name} prints the same as text.`)));
}
