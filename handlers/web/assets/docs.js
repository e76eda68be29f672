"use strict";
(() => {
  const box = document.getElementById("swagger");
  SwaggerUIBundle({
    url: box.dataset.url, domNode: box, deepLinking: true, validatorUrl: null, docExpansion: "list", filter: true, tryItOutEnabled: true,
    defaultModelsExpandDepth: -1, displayRequestDuration: true, syntaxHighlight: false, displayOperationId: true, requestSnippetsEnabled: true,
  });
  // What the library leaves without a name or out of reach of the keyboard.
  const mend = () => {
    for (const e of box.querySelectorAll("select:not([aria-label]), textarea:not([aria-label]), input:not([aria-label])"))
      e.setAttribute("aria-label", e.closest("tr")?.dataset.paramName || e.placeholder || "Value");
    for (const e of box.querySelectorAll("pre:not([tabindex])")) e.tabIndex = 0;
    for (const e of box.querySelectorAll("button a[href]")) e.removeAttribute("href");
    for (const e of box.querySelectorAll("main")) e.setAttribute("role", "group");
  };
  new MutationObserver(mend).observe(box, { childList: true, subtree: true });
})();
