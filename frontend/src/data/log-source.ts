/** Reads a log endpoint as it streams, as plain text or as NDJSON ({worker, text}), and joins again when the stream breaks. */

export interface LogSink {
  text(worker: string, chunk: string): void;
  /** The stream starts from the beginning again. */
  restarted(): void;
  state(state: "connecting" | "open" | "ended" | "broken", message?: string): void;
}

const WAIT_MS = 2000;

interface Entry {
  worker?: string;
  text?: string;
  line?: string;
  error?: string;
}

export class LogSource {
  private stopper = new AbortController();
  private isStopped = false;

  constructor(
    private readonly url: string,
    private readonly sink: LogSink,
  ) {}

  async start(): Promise<void> {
    this.sink.state("connecting");
    while (!this.isStopped) {
      const ended = await this.read().catch((error: unknown) => {
        // A job that waits has no log yet: it is asked for again, as after a break, until there is one.
        if (!this.isStopped)
          this.sink.state("broken", error instanceof Refused ? error.message : "The log stream broke; joining again.");
        return false;
      });
      if (ended || this.isStopped) return;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }

  stop(): void {
    this.isStopped = true;
    this.stopper.abort();
  }

  /** Reads one stream to its end; true when the log is complete. */
  private async read(): Promise<boolean> {
    const answer = await fetch(this.url, {
      signal: this.stopper.signal,
      headers: { Accept: "application/x-ndjson, text/plain" },
    });
    if (!answer.ok || !answer.body) throw new Refused(await reasonOf(answer));
    this.sink.restarted();
    this.sink.state("open");
    const isLines = answer.headers.get("Content-Type")?.includes("ndjson") ?? false;
    const feed = isLines ? new EntryFeed(this.sink) : { push: (chunk: string) => this.sink.text("", chunk) };
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      feed.push(value);
    }
    this.sink.state("ended");
    return true;
  }
}

/** The endpoint answered, with a sentence, that there is nothing to read now. */
class Refused extends Error {}

async function reasonOf(answer: Response): Promise<string> {
  try {
    const body = (await answer.json()) as { message?: string; detail?: string };
    return body.message ?? body.detail ?? `The log could not be read (${answer.status}).`;
  } catch {
    return answer.status === 404 ? "There is no log yet." : `The log could not be read (${answer.status}).`;
  }
}

class EntryFeed {
  private rest = "";

  constructor(private readonly sink: LogSink) {}

  push(chunk: string): void {
    const lines = (this.rest + chunk).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim()) this.entry(JSON.parse(line) as Entry);
  }

  private entry(entry: Entry): void {
    if (entry.error) this.sink.state("broken", entry.error);
    else this.sink.text(entry.worker ?? "", entry.text ?? `${entry.line ?? ""}\n`);
  }
}
