// Runs before the first paint, so that the colours do not change afterwards.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* storage may be off: the system's choice holds */ }
