import type { HttpAnswer } from '../http/http-endpoint.js';
import { html, trusted } from './html.js';
import type { Html } from './html.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';

/** A page of the inspector. */
export interface Page {
  readonly status: number;
  readonly title: string;
  /** Shown in the banner before the sections, such as links to them. */
  readonly nav?: Html | undefined;
  readonly main: Html;
  /** URL of its update events; undefined if the page is not live. */
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
 * Returns a page as a response. The browser only runs the style and the script with its nonce.
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
