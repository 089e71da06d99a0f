/** <mu-chart label="…" unit="GPU" data='{"at": […], "series": [{"name": "…", "values": […]}]}'> — a time series. */
import uPlot from "uplot";

interface Data {
  /** Seconds since 1970. */
  at: number[];
  series: { name: string; values: (number | null)[] }[];
}

const HEIGHT = 160;
const DAYS = 36 * 3600;
/** Beyond that many seconds an hour without its day says nothing. */
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric" });

function token(element: Element, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--color-${name})`;
  element.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** The axis of time, in days where there are several. */
function moments(plot: uPlot, at: number[]): string[] {
  const { min = 0, max = 0 } = plot.scales.x ?? {};
  return at.map((one) => ((max ?? 0) - (min ?? 0) > DAYS ? day : clock).format(one * 1000));
}

export class ChartElement extends HTMLElement {
  static readonly observedAttributes = ["data"];
  private plot: uPlot | null = null;
  private readonly observer = new ResizeObserver(() => this.plot?.setSize({ width: this.clientWidth, height: HEIGHT }));
  private readonly onTheme = () => this.draw();

  connectedCallback(): void {
    this.setAttribute("role", "img");
    this.setAttribute("aria-label", this.getAttribute("label") ?? "Chart");
    document.addEventListener("mu:theme", this.onTheme);
    this.draw();
    this.observer.observe(this);
  }

  /** A page that is brought up to date changes the attribute and leaves the drawing alone. */
  attributeChangedCallback(): void {
    if (this.plot) this.draw();
  }

  disconnectedCallback(): void {
    document.removeEventListener("mu:theme", this.onTheme);
    this.observer.disconnect();
    this.plot?.destroy();
  }

  private draw(): void {
    const data = JSON.parse(this.getAttribute("data") || '{"at": [], "series": []}') as Data;
    this.plot?.destroy();
    const axis = {
      stroke: token(this, "text-3"),
      grid: { stroke: token(this, "line"), width: 1 },
      ticks: { show: false },
      font: `11px ${getComputedStyle(this).fontFamily}`,
    };
    const unit = this.getAttribute("unit") ?? "";
    const series = data.series.map((one, i) => {
      const stroke = token(this, `cat-${i % 12}`);
      return {
        label: one.name,
        stroke,
        width: 1.5,
        fill: i === 0 ? stroke.replace(/\)$/, " / 0.12)") : undefined,
        points: { show: false },
        value: (_: uPlot, value: number | null) => (value === null ? "—" : `${value} ${unit}`),
      };
    });
    this.plot = new uPlot(
      {
        width: this.clientWidth || 300,
        height: HEIGHT,
        cursor: { y: false },
        legend: { show: data.series.length > 1 },
        axes: [
          { ...axis, values: moments },
          { ...axis, size: 44 },
        ],
        scales: { y: { range: (_: uPlot, _min: number, max: number) => [0, Math.max(max, 1) * 1.1] } },
        series: [{}, ...series],
      },
      [data.at, ...data.series.map((one) => one.values)] as uPlot.AlignedData,
      this,
    );
  }
}

customElements.define("mu-chart", ChartElement);
