import { sleep } from '../../system/clock.js';
import type { Clock } from '../../system/clock.js';
import type { HttpAnswer, HttpQuestion, HttpSink } from '../http/http-endpoint.js';
import { commonHeaders } from './page.js';
import type { Section } from './sections.js';

/** What {@link LivePages} needs. */
export interface LivePagesOptions {
  readonly clock: Clock;
  readonly updateMs: number;
  readonly maxLivePages: number;
}

/** A page that takes nothing for so long is given up, in milliseconds. */
const slowMs = 10_000;

/** A page that nothing changes in is told so after so long, in milliseconds. */
const silentMs = 15_000;

/**
 * Tells pages what has changed in them, by Server-Sent Events: at first every section, then those whose
 * markup has changed. What a slow reader missed is not kept for it: it is told the latest when it has
 * taken what was sent before.
 */
export class LivePages {
  readonly #options: LivePagesOptions;
  #open = 0;

  constructor(options: LivePagesOptions) {
    this.#options = options;
  }

  /** How many pages are live; a leak spec wants none. */
  get open(): number {
    return this.#open;
  }

  /** @param render - the sections as they are now */
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
      // The first is never late: what is pending then are the headers.
      if (told.size === 0 || sink.pendingBytes === 0) {
        takenMs = clock.monotonicMs();
        const sections = await rendered(render, signal);
        if (sections === undefined) return;
        const text = changes(sections, told);
        if (text !== '') heardMs = takenMs;
        if (text !== '') sink.write(text);
        else if (takenMs - heardMs >= silentMs) {
          heardMs = takenMs;
          // A comment: whoever is gone without a word is found by what is sent only.
          sink.write(': still here\n\n');
        }
      } else if (clock.monotonicMs() - takenMs >= slowMs) return;
      // Aborted: the page was closed, or the server stops.
      await sleep(clock, updateMs, signal).catch(() => undefined);
    }
  }
}

/** What there is to tell; undefined: nobody listens any more, and what was read for it was broken off. */
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

/** An event for each section that differs from what was `told`, which is brought up to date. */
function changes(sections: readonly Section[], told: Map<string, string>): string {
  let text = '';
  for (const { id, body } of sections) {
    if (told.get(id) === body.text) continue;
    told.set(id, body.text);
    // JSON has no line feeds, which would end the field.
    text += `event: section\ndata: ${JSON.stringify({ id, markup: body.text })}\n\n`;
  }
  return text;
}
