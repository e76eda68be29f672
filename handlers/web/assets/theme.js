// Runs before the page is painted, so that it does not change its colours afterwards.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* storage may be off: the system's choice holds */ }
