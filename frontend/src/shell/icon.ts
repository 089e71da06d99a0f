/** An icon of the sprite, for what is built in script. */
const SVG = "http://www.w3.org/2000/svg";

export function iconUrl(name: string): string {
  return `${document.body.dataset.icons ?? "icons.svg"}#${name}`;
}

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", iconUrl(name));
  svg.append(use);
  return svg;
}
