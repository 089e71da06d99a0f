// Runs before the first paint: a stored choice of theme must not flash the other one.
(() => {
  try {
    const theme = localStorage.getItem("muster.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    if (localStorage.getItem("muster.rail") === "icons") document.documentElement.dataset.rail = "icons";
  } catch {
    // Storage may be forbidden; the system's preference then decides.
  }
})();
