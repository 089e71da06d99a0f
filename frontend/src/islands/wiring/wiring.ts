/** <mu-wiring> — a node's wiring: NUMA halves, switches, GPUs and NICs, and the matrix of NVLinks; who sits where. Data: a JSON script inside it. */
import { LitElement, html, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import type { Names, WireGpu, WireNic, WireNode } from "../../data/nodes";
import { linkOf, numaOrder, switchesOf } from "../../draw/wiring";
import { liveClient } from "../../live/current";

export interface Wiring {
  node: WireNode;
  nics: WireNic[];
  /** Number of NVLinks between GPU i and j. shape (gpus, gpus). */
  links: number[][];
  names: Names;
}

const CATEGORIES = 12;

export class WiringElement extends LitElement {
  @property() topic = "";
  @state() private wiring: Wiring | null = null;
  private leave: (() => void) | null = null;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    const data = this.querySelector("script[type='application/json']")?.textContent;
    this.wiring = data ? (JSON.parse(data) as Wiring) : null;
    this.replaceChildren();
    super.connectedCallback();
    if (!this.topic) return;
    this.leave =
      liveClient()?.subscribe(this.topic, { changed: (change) => this.onPut(change.put as unknown as WireNode[]) }) ??
      null;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.leave?.();
  }

  private onPut(nodes: WireNode[]): void {
    const node = nodes.find((one) => one.id === this.wiring?.node.id);
    if (node && this.wiring) this.wiring = { ...this.wiring, node };
  }

  protected override render(): unknown {
    if (!this.wiring) return nothing;
    const { node, nics } = this.wiring;
    return html`<div class="wiring">
      <div class="numa-row">${numaOrder(node.gpus, nics).map((numa) => this.numa(numa))}</div>
      ${node.gpus.length > 1 ? this.matrix() : nothing}
    </div>`;
  }

  private numa(numa: number): unknown {
    const { node, nics } = this.wiring as Wiring;
    const gpus = node.gpus.filter((gpu) => (gpu.numa ?? 0) === numa);
    const loose = nics.filter(
      (nic) => (nic.numa ?? 0) === numa && !gpus.some((gpu) => gpu.switch !== null && gpu.switch === nic.switch),
    );
    return html`<section class="numa" aria-label="NUMA node ${numa}">
      <header>NUMA ${numa}</header>
      <div class="switches">
        ${switchesOf(gpus).map(
          ([number, own]) =>
            html`<div class="switch">
              <small>${number === null ? "PCIe" : `Switch ${number}`}</small>
              <div class="devices">${own.map((gpu) => this.device(gpu))}</div>
              <div class="nics">${nics.filter((nic) => number !== null && nic.switch === number).map(nicView)}</div>
            </div>`,
        )}
      </div>
      ${loose.length ? html`<div class="nics">${loose.map(nicView)}</div>` : nothing}
    </section>`;
  }

  private device(gpu: WireGpu): unknown {
    const { names } = this.wiring as Wiring;
    const hold = gpu.holds[0];
    const job = hold && names.jobs[hold.job];
    const who = hold ? (job?.name ?? "another tenant") : gpu.others ? "other pod" : "free";
    const health = gpu.health !== "ok" ? "bad" : "ok";
    const category = hold ? `cat-${hold.job % CATEGORIES}` : "";
    const body = html`<b>${gpu.index}</b><span>${health === "bad" ? gpu.why || gpu.health : who}</span>`;
    const title = `GPU ${gpu.index}: ${who}`;
    return job
      ? html`<a class="device ${category}" href=${job.url} data-used data-health=${health} title=${title}>${body}</a>`
      : html`<div
          class="device ${category}"
          ?data-used=${Boolean(hold) || gpu.others}
          data-health=${health}
          title=${title}
        >
          ${body}
        </div>`;
  }

  private matrix(): unknown {
    const { node, links } = this.wiring as Wiring;
    const indices = node.gpus.map((gpu) => gpu.index);
    return html`<table class="matrix">
      <caption class="sr-only">
        How each pair of GPUs is joined
      </caption>
      <thead>
        <tr>
          <td data-self></td>
          ${indices.map((i) => html`<th scope="col">${i}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${node.gpus.map(
          (row) =>
            html`<tr>
              <th scope="row">${row.index}</th>
              ${node.gpus.map((column) => {
                const link = linkOf(row, column, links);
                return html`<td data-link=${link.strength || nothing} ?data-self=${row === column} title=${link.words}>
                  ${link.short}
                </td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>`;
  }
}

function nicView(nic: WireNic): unknown {
  return html`<span class="nic" title="${nic.name}${nic.rdma ? ", RDMA" : ""}">${nic.name}</span>`;
}

customElements.define("mu-wiring", WiringElement);
