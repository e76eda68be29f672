"use strict";
// The list of operations. Swagger UI weighs ten times as much as the page, so it loads when the reader opens the first operation.
(() => {
  const rows = [...document.querySelectorAll(".op")];
  const find = document.getElementById("find"), found = document.getElementById("found"), nothing = document.getElementById("nothing");
  if (!find) return;
  const { library, sheet } = document.querySelector(".reference").dataset;

  const words = new Map(rows.map((row) => [row, row.querySelector("summary").textContent.toLowerCase()]));
  const filter = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const row of rows) {
      row.hidden = !wanted.every((w) => words.get(row).includes(w));
      if (!row.hidden) n++;
    }
    for (const section of document.querySelectorAll(".ops")) section.hidden = !section.querySelector(".op:not([hidden])");
    found.textContent = wanted.length ? `${n} found` : "";
    nothing.hidden = n > 0;
  };
  find.addEventListener("input", filter);
  find.addEventListener("keydown", (event) => {
    const first = rows.find((row) => !row.hidden);
    if (event.key !== "Enter" || !first) return;
    event.preventDefault(); // of what has the focus then
    first.open = true;
    first.querySelector("summary").focus();
  });

  let loaded;
  const load = () => loaded ??= new Promise((resolve, reject) => {
    const rules = document.createElement("link"), code = document.createElement("script");
    Object.assign(rules, { rel: "stylesheet", href: sheet });
    Object.assign(code, { src: library, onload: resolve, onerror: () => reject(new Error("the library could not be loaded")) });
    document.head.prepend(rules);
    document.head.append(code);
  });

  // Elements that the library leaves without a name or out of the keyboard's reach.
  const mend = (box) => {
    for (const e of box.querySelectorAll("select:not([aria-label]), textarea:not([aria-label]), input:not([aria-label])"))
      e.setAttribute("aria-label", e.closest("tr")?.dataset.paramName || e.placeholder || "Value");
    for (const e of box.querySelectorAll("pre:not([tabindex])")) e.tabIndex = 0;
    for (const e of box.querySelectorAll("button a[href]")) e.removeAttribute("href");
    for (const e of box.querySelectorAll("main")) e.setAttribute("role", "group");
  };

  const show = async (row) => {
    if (row.dataset.shown) return;
    row.dataset.shown = "1";
    const box = row.querySelector(".show");
    try {
      const [response] = await Promise.all([fetch(row.dataset.document), load()]);
      if (!response.ok) throw new Error(response.statusText);
      new MutationObserver(() => mend(box)).observe(box, { childList: true, subtree: true });
      SwaggerUIBundle({
        spec: await response.json(), domNode: box, validatorUrl: null, docExpansion: "full", tryItOutEnabled: true, defaultModelsExpandDepth: -1,
        displayRequestDuration: true, syntaxHighlight: false, requestSnippetsEnabled: true, persistAuthorization: true,
      });
    } catch (e) {
      delete row.dataset.shown;
      box.textContent = e.message;
    }
  };
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.(".op") || !event.target.open) return;
    history.replaceState(null, "", "#" + event.target.id);
    show(event.target);
  }, true);

  const follow = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!row?.matches(".op")) return;
    row.open = true;
    row.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();
})();
