import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import type { HttpAnswer, HttpQuestion, HttpSink } from '../http/http-endpoint.js';
import { commonHeaders } from './page.js';
import type { Section } from './sections.js';

/** Options of {@link LivePages}. */
export interface LivePagesOptions {
  readonly clock: Clock;
  readonly updateMs: number;
  readonly maxLivePages: number;
}

/** Time after which a page that reads nothing is disconnected, in milliseconds. */
const slowMs = 10_000;

/** Interval of keep-alive comments on a page without changes, in milliseconds. */
const silentMs = 15_000;

/**
 * Sends updates to pages by Server-Sent Events: first every section, then those whose markup has changed.
 * Updates are not queued for a slow client: it gets the latest state after it has read the previous one.
 */
export class LivePages {
  readonly #options: LivePagesOptions;
  #open = 0;

  constructor(options: LivePagesOptions) {
    this.#options = options;
  }

  /** Number of live pages; 0 when all are closed. */
  get open(): number {
    return this.#open;
  }

  /** @param render - returns the current sections */
  answer(
    render: () => Promise<readonly Section[]> | readonly Section[],
    { signal }: Pick<HttpQuestion, 'signal'>,
  ): HttpAnswer {
    const { maxLivePages } = this.#options;
    if (this.#open >= maxLivePages) {
      const body = `${maxLivePages} pages are live already (option maxLivePages): close one\n`;
      return { status: 503, headers: commonHeaders, body };
    }
    return {
      status: 200,
      headers: { ...commonHeaders, 'content-type': 'text/event-stream' },
      body: async (sink) => {
        this.#open++;
        try {
          await this.#tell(sink, render, signal);
        } finally {
          this.#open--;
        }
      },
    };
  }

  async #tell(
    sink: HttpSink,
    render: () => Promise<readonly Section[]> | readonly Section[],
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, updateMs } = this.#options;
    const told = new Map<string, string>();
    let takenMs = clock.monotonicMs();
    let heardMs = takenMs;
    while (!signal.aborted) {
      // Before the first event, only the headers can be pending.
      if (told.size === 0 || sink.pendingBytes === 0) {
        takenMs = clock.monotonicMs();
        const sections = await rendered(render, signal);
        if (sections === undefined) return;
        const text = changes(sections, told);
        if (text !== '') heardMs = takenMs;
        if (text !== '') sink.write(text);
        else if (takenMs - heardMs >= silentMs) {
          heardMs = takenMs;
          // An SSE comment: a lost connection is noticed only by sending.
          sink.write(': still here\n\n');
        }
      } else if (clock.monotonicMs() - takenMs >= slowMs) return;
      // Aborted: the page was closed, or the server is stopping.
      await sleep(clock, updateMs, signal).catch(() => undefined);
    }
  }
}

/** Returns the rendered sections; undefined if the page was closed during rendering. */
async function rendered(
  render: () => Promise<readonly Section[]> | readonly Section[],
  signal: AbortSignal,
): Promise<readonly Section[] | undefined> {
  try {
    const sections = await render();
    return signal.aborted ? undefined : sections;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Returns an event for each section that differs from `told`, and updates `told`. */
function changes(sections: readonly Section[], told: Map<string, string>): string {
  let text = '';
  for (const { id, body } of sections) {
    if (told.get(id) === body.text) continue;
    told.set(id, body.text);
    // JSON contains no line feeds, which would end the field.
    text += `event: section\ndata: ${JSON.stringify({ id, markup: body.text })}\n\n`;
  }
  return text;
}
