/** The canvas behind the map: one ImageData of the size of the view, painted, then labelled. */
import { drawFocus, drawJobNames, drawLabels } from "../../draw/map-labels";
import { type Scene, paintMap } from "../../draw/map-painter";

export interface Window {
  left: number;
  top: number;
  width: number;
  height: number;
}

export class MapSurface {
  private image: ImageData | null = null;
  private readonly context: CanvasRenderingContext2D | null;
  private readonly font: string;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d");
    this.font = `${getComputedStyle(canvas).getPropertyValue("--text-2xs")} ${getComputedStyle(canvas).fontFamily}`;
  }

  paint(scene: Scene, window: Window, focused: number, nameOf: (device: number) => string | null): void {
    const scale = devicePixelRatio || 1;
    const width = Math.round(window.width * scale);
    const height = Math.round(window.height * scale);
    const { context } = this;
    if (!context || !width || !height) return;
    const image = this.sized(width, height, window);
    const pixels = new Uint32Array(image.data.buffer);
    paintMap({ pixels, width, height, left: window.left, top: window.top, scale }, scene);
    context.putImageData(image, 0, 0);
    const view = { context, ...window, scale, font: this.font };
    drawLabels(view, scene.model, scene.layout, scene.palette);
    drawJobNames(view, scene.model, scene.layout, (device) =>
      scene.isLit?.(device) === false ? null : nameOf(device),
    );
    if (focused >= 0) drawFocus(view, scene.layout, focused, scene.palette);
  }

  private sized(width: number, height: number, window: Window): ImageData {
    if (this.image?.width === width && this.image.height === height) return this.image;
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.style.width = `${window.width}px`;
    this.canvas.style.height = `${window.height}px`;
    this.image = new ImageData(width, height);
    return this.image;
  }
}
