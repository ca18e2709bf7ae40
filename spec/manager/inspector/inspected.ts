import { request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Manager } from '../../../lib/manager/manager.js';

/** A response of the inspector. */
export interface Inspected {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** Returns the URL of a manager's inspector, or an empty string. */
export function inspectorUrl(manager: Manager): string {
  return manager.status().runnables.find(({ name }) => name === 'inspector')?.url ?? '';
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a request to the inspector over a connection of its own. Any header can be sent. */
export function inspected(
  manager: Manager,
  path: string,
  options: AskOptions = {},
): Promise<Inspected> {
  return askedAt(inspectorUrl(manager) + path, options);
}

/** Sends a request over a connection of its own, because `fetch` keeps every origin in memory. */
export function askedAt(
  url: string,
  { method = 'GET', headers = {} }: AskOptions = {},
): Promise<Inspected> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Returns the text of a page section, without markup and repeated spaces. */
export function sectionText(page: string, id: string): string {
  const [, after = ''] = page.split(`<h2 id="${id}-title">`);
  const [section = ''] = after.split('</section>');
  return section
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** A live page that records its updates in order. */
export class LivePage {
  readonly #told: { readonly id: string; readonly markup: string }[] = [];
  readonly #stop = new AbortController();
  readonly over: Promise<void>;
  #text = '';
  #whenMore: () => void = () => undefined;

  private constructor(body: ReadableStream<Uint8Array>) {
    this.over = this.#read(body);
  }

  static async open(manager: Manager, path = '/events'): Promise<LivePage> {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(inspectorUrl(manager) + path, { agent: false }, resolve);
      asked.on('error', reject);
      asked.end();
    });
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    return new LivePage(Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  }

  /** The ids of the sections updated so far. */
  get ids(): string[] {
    return this.#told.map(({ id }) => id);
  }

  /** Returns the latest markup of a section. */
  latest(id: string): string {
    return this.#told.findLast((each) => each.id === id)?.markup ?? '';
  }

  /** Resolves when the condition holds. Meanwhile `turn` advances the clock. */
  async until(condition: () => boolean, turn: () => Promise<void>): Promise<void> {
    while (!condition()) {
      const more = new Promise<void>((resolve) => (this.#whenMore = resolve));
      await turn();
      if (!condition()) await Promise.race([more, new Promise((resolve) => setImmediate(resolve))]);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.over;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      await body.pipeTo(
        new WritableStream({
          write: (piece) => {
            this.#take(decoder.decode(piece, { stream: true }));
          },
        }),
        { signal: this.#stop.signal },
      );
    } catch {
      // Either side has closed the connection.
    }
  }

  #take(text: string): void {
    const events = (this.#text + text).split('\n\n');
    this.#text = events.pop() ?? '';
    for (const event of events) {
      const data = event.replace(/^event: section\ndata: /, '');
      this.#told.push(JSON.parse(data) as { id: string; markup: string });
    }
    this.#whenMore();
  }
}
