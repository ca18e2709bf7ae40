import { isIP } from 'node:net';

interface RequestHeaders {
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Returns why a request may come from a website in a browser, or undefined. A server without passwords on
 * loopback needs this check, because any website can send requests there:
 * - The `Host` must be an IP address, `localhost` or an allowed name. In an attack by DNS rebinding, a
 *   website points its own name at this address, and the browser sends that name.
 * - `Sec-Fetch-Site` and `Origin` must not show a page of another origin.
 * @param options - `links`: allows the user to follow a link on a page of another origin. That page cannot
 * read the response, so this is safe only for a server without side effects.
 */
export function websiteProblem(
  { headers }: RequestHeaders,
  allowedHosts: ReadonlySet<string>,
  { links = false }: { readonly links?: boolean } = {},
): string | undefined {
  const host = String(headers['host'] ?? '');
  if (!isAllowedHost(host, allowedHosts)) {
    return `host ${JSON.stringify(host)} is not allowed; add it to the option allowedHosts`;
  }
  if (links && isOpenedByLink(headers)) return undefined;
  const site = String(headers['sec-fetch-site'] ?? 'none');
  const { origin } = headers;
  const sameOrigin = origin === undefined || URL.parse(String(origin))?.host === host.toLowerCase();
  if (sameOrigin && ['none', 'same-origin'].includes(site)) return undefined;
  return 'the request comes from a page of another origin';
}

function isOpenedByLink(headers: RequestHeaders['headers']): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

/**
 * The last header, and the name in it. It is kept because clients send the same header with each request, and parsing
 * it takes time.
 */
let last = { header: '', name: '' };

/** Whether `header`, a `Host`, is an IP address, `localhost` or an allowed name, with or without port. */
function isAllowedHost(header: string, allowedHosts: ReadonlySet<string>): boolean {
  if (header !== last.header) {
    if (!/^[^\s/?#@\\]+$/.test(header)) return false;
    const name = URL.parse(`http://${header}`)?.hostname.replace(/\.$/, '') ?? '';
    last = { header, name };
  }
  const { name } = last;
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  return isLocal || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || allowedHosts.has(name);
}
