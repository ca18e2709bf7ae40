import { waited } from '../../system/index.js';
import type { Clock } from '../../system/index.js';
import type { HttpAnswer, HttpQuestion, HttpSink } from '../http-endpoint.js';
import { html, trusted } from './html.js';
import type { Html, Section } from './html.js';
import type { Overview } from './overview.js';

export interface Page {
  readonly status: number;
  readonly title: string;
  /** Shown in the banner before the sections, such as links to them. */
  readonly nav?: Html | undefined;
  readonly main: Html;
  /** URL of the page's update events; undefined if the page is not live. */
  readonly events?: string | undefined;
}

/** Headers of every response of the inspector. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/**
 * Returns a page as a response. The browser applies only the style, and runs only the script, that carry `nonce`.
 * @param nonce - unique for each response
 */
export function answerPage(page: Page, nonce: string): HttpAnswer {
  const { status, title, nav, main, events } = page;
  const isLive = events !== undefined;
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(pageStyle)}</style>
</head>
<body${isLive ? html` data-events="${events}"` : undefined}>
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>${title}</h1>
${nav}
${isLive ? html`<p id="live" role="status">Reload the page to see what has changed.</p>` : undefined}
</header>
<main id="main">
${main}
</main>
${
  isLive
    ? html`<script nonce="${nonce}">
        ${trusted(pageScript)};
      </script>`
    : undefined
}
</body>
</html>
`;
  const headers = {
    ...commonHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(nonce),
  };
  return { status, headers, body: body.text };
}

function policy(nonce: string): string {
  return [
    ...["default-src 'none'", `style-src 'nonce-${nonce}'`, `script-src 'nonce-${nonce}'`],
    ...["connect-src 'self'", 'img-src data:', "form-action 'self'"],
    ...["base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; ');
}

interface LivePagesOptions {
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
          await this.#stream(sink, render, signal);
        } finally {
          this.#open--;
        }
      },
    };
  }

  async #stream(
    sink: HttpSink,
    render: () => Promise<readonly Section[]> | readonly Section[],
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, updateMs } = this.#options;
    const sent = new Map<string, string>();
    let takenMs = clock.monotonicMs();
    let sentMs = takenMs;
    while (!signal.aborted) {
      // Before the first event, the bytes that are not sent yet can only be the response headers.
      if (sent.size === 0 || sink.pendingBytes === 0) {
        takenMs = clock.monotonicMs();
        const sections = await rendered(render, signal);
        if (sections === undefined) return;
        const text = changes(sections, sent);
        if (text !== '') sentMs = takenMs;
        if (text !== '') sink.write(text);
        else if (takenMs - sentMs >= silentMs) {
          sentMs = takenMs;
          // An SSE comment: a lost connection is noticed only by sending.
          sink.write(': still here\n\n');
        }
      } else if (clock.monotonicMs() - takenMs >= slowMs) return;
      // Aborted: the page was closed, or the server is stopping.
      await waited(clock, updateMs, signal);
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

/** Returns an event for each section that differs from `sent`, and updates `sent`. */
function changes(sections: readonly Section[], sent: Map<string, string>): string {
  let text = '';
  for (const { id, body } of sections) {
    if (sent.get(id) === body.text) continue;
    sent.set(id, body.text);
    // JSON contains no line feeds, which would end the field.
    text += `event: section\ndata: ${JSON.stringify({ id, markup: body.text })}\n\n`;
  }
  return text;
}

export function sectionLinks(sections: readonly Pick<Section, 'id' | 'title'>[]): Html {
  const links = sections.map(({ id, title }) => html`<li><a href="#${id}-title">${title}</a></li>`);
  return html`<nav aria-label="Sections">
    <ul>
      ${links}
    </ul>
  </nav>`;
}

/** Returns the form that opens the ownership tree of an object. */
export function objectForm({ caches, clusters }: Overview): Html {
  const kinds = [...new Set(caches.items.map(({ kind }) => kind))];
  const versions = [...new Set(caches.items.map(({ apiVersion }) => apiVersion))];
  const isNamed = clusters.items.some((name) => name !== '');
  return html`<section aria-labelledby="choose-title">
    <h2 id="choose-title">Choose an object</h2>
    <p>
      Shows who owns it, and what it controls. What is not cached is read from the server, with the
      permissions of the operator. Or choose one of a <a href="#caches-title">cached kind</a>.
    </p>
    <form action="/object" method="get">
      ${isNamed ? field('cluster', 'Cluster', clusters.items) : undefined}
      ${field('apiVersion', 'API version', versions)} ${field('kind', 'Kind', kinds)}
      ${field('namespace', 'Namespace')} ${field('name', 'Name')}
      <button type="submit">Show ownership</button>
    </form>
  </section> `;
}

function field(name: string, label: string, known: readonly string[] = []): Html {
  const isRequired = name !== 'namespace' && name !== 'cluster';
  const options = known.map((value) => html`<option value="${value}"></option>`);
  return html`<label
      >${label}
      <input
        name="${name}"
        autocomplete="off"
        spellcheck="false"
        ${
          isRequired ? html` required` : undefined
        }${known.length > 0 ? html` list="known-${name}"` : undefined}
    /></label>
    ${known.length > 0 ? html`<datalist id="known-${name}">${options}</datalist>` : undefined}`;
}

/** Style of all pages; colours have a contrast of at least 4.5 to 1, in light and dark mode. */
const pageStyle = `
:root { color-scheme: light dark; --text: #1b1f24; --dim: #565e67; --ground: #ffffff; --line: #c9d0d8;
  --band: #f3f5f8; --link: #0550ae; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ed; --dim: #a5aeb9; --ground: #14171b; --line: #3c444d; --band: #1d2126;
    --link: #8ab8ff; --bad: #ff9b93; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 90rem; font: 0.95rem/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--ground); }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; }
header { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 0.5rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0; list-style: none; }
#live { color: var(--dim); margin: 0.25rem 0; }
button, input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--dim);
  border-radius: 0.25rem; padding: 0.2rem 0.5rem; }
form { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; }
label { display: grid; gap: 0.15rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--dim); padding-bottom: 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; font-weight: normal;
  border-bottom: 1px solid var(--line); overflow-wrap: break-word; max-width: 40rem; }
thead th { font-weight: 600; white-space: nowrap; background: var(--band); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.none, .more, .note { color: var(--dim); }
.bad { color: var(--bad); }
time, .number { white-space: nowrap; }
h1, .message { overflow-wrap: anywhere; }
.message { white-space: pre-wrap; }
.causes { margin: 0; padding-left: 1rem; }
dl { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; margin: 0; }
dt { color: var(--dim); }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.tree, .tree ul { list-style: none; padding-left: 1.25rem; border-left: 1px solid var(--line); }
.tree li { padding: 0.15rem 0; }
.chosen { font-weight: 600; }
`;

/**
 * Script that updates a live page: it receives changed sections and replaces them. The server escapes their
 * markup. Focus and scroll positions are kept; while text is selected in a section, its update waits.
 */
const pageScript = `
(() => {
  const state = document.getElementById('live');
  const button = document.createElement('button');
  const waiting = new Map();
  let source;
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };
  const markOf = (element) => element.id || element.getAttribute('href');
  const isSelected = (element) => {
    const selection = getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  };
  const put = (element, markup) => {
    const active = document.activeElement;
    const mark = element.contains(active) ? markOf(active) : null;
    const scrolled = [...element.querySelectorAll('.scroll')].map(({ id, scrollLeft }) => [id, scrollLeft]);
    element.innerHTML = markup;
    for (const [id, left] of scrolled) {
      const found = document.getElementById(id);
      if (found !== null) found.scrollLeft = left;
    }
    if (mark === null) return;
    const same = [...element.querySelectorAll('a, [tabindex]')].find((each) => markOf(each) === mark);
    if (same !== undefined) same.focus({ preventScroll: true });
  };
  const putAll = () => {
    for (const [id, markup] of [...waiting]) {
      const element = document.getElementById(id);
      if (element !== null && isSelected(element)) continue;
      waiting.delete(id);
      if (element !== null) put(element, markup);
    }
  };
  const stop = () => { if (source !== undefined) source.close(); source = undefined; };
  const start = () => {
    stop();
    const own = new EventSource(document.body.dataset.events);
    source = own;
    say('Connecting\\u2026');
    own.onopen = () => say('Live: this page updates by itself.');
    own.onerror = () => {
      say('Not live: no connection. What you see may be old.');
      if (own.readyState !== EventSource.CLOSED) return;
      setTimeout(() => { if (source === own) start(); }, 5000);
    };
    own.addEventListener('section', ({ data }) => {
      const { id, markup } = JSON.parse(data);
      waiting.set(id, markup);
      putAll();
    });
  };
  button.type = 'button';
  button.textContent = 'Pause updates';
  button.addEventListener('click', () => {
    if (source === undefined) { button.textContent = 'Pause updates'; start(); return; }
    stop();
    button.textContent = 'Resume updates';
    say('Paused.');
  });
  state.after(button);
  document.addEventListener('selectionchange', putAll);
  // A page that is kept in the browser's history must not hold one of the few connections.
  addEventListener('pagehide', stop);
  addEventListener('pageshow', ({ persisted }) => { if (persisted && button.textContent === 'Pause updates') start(); });
  start();
})();
`;
