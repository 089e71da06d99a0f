/** The choice of theme and the rail's width; public/theme.js applies what is stored before the first paint. */

type Theme = "system" | "light" | "dark";

function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
}

function currentTheme(): Theme {
  return (document.documentElement.dataset.theme as Theme | undefined) ?? "system";
}

function markChoice(): void {
  for (const item of document.querySelectorAll<HTMLElement>("[data-theme-choice]"))
    item.setAttribute("aria-checked", String(item.dataset.themeChoice === currentTheme()));
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  store("muster.theme", theme === "system" ? null : theme);
  markChoice();
  document.dispatchEvent(new CustomEvent("mu:theme"));
}

export function toggleRail(): void {
  const root = document.documentElement;
  const narrow = root.dataset.rail !== "icons";
  if (narrow) root.dataset.rail = "icons";
  else delete root.dataset.rail;
  store("muster.rail", narrow ? "icons" : null);
}

export function watchTheme(): void {
  markChoice();
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const choice = target.closest<HTMLElement>("[data-theme-choice]");
    if (choice) chooseTheme(choice.dataset.themeChoice as Theme);
    if (target.closest("[data-rail-toggle]")) toggleRail();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    document.dispatchEvent(new CustomEvent("mu:theme")),
  );
}
