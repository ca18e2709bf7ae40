import { isIP } from 'node:net';
import type { HttpQuestion } from '../http/http-endpoint.js';

/**
 * Why a request must not be answered, or undefined. There is no password: what keeps websites in the
 * browser of whoever has the port open from reading along is that
 * - the `Host` is an IP address, `localhost` or an allowed name: a website that has its own name point
 *   to this address (DNS rebinding) sends that name;
 * - the request does not come from a page of another origin, where the browser says so.
 */
export function refusalOf(
  { headers }: Pick<HttpQuestion, 'headers'>,
  allowedHosts: ReadonlySet<string>,
): string | undefined {
  const { host = '' } = headers;
  if (!isAllowedHost(host, allowedHosts)) {
    return `${JSON.stringify(host)} is no host of the inspector (see its option allowedHosts)`;
  }
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn || isOpenedByLink(headers)) return undefined;
  return 'the request comes from a page of another origin';
}

/** Whether `header`, a `Host`, is an IP address, `localhost` or an allowed name, with or without port. */
export function isAllowedHost(header: string, allowedHosts: ReadonlySet<string>): boolean {
  if (!/^[^\s/?#@\\]+$/.test(header)) return false;
  const name = URL.parse(`http://${header}`)?.hostname.replace(/\.$/, '') ?? '';
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  return isLocal || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || allowedHosts.has(name);
}

/** Somebody clicked on a link elsewhere: the page that has it can't read what comes. */
function isOpenedByLink(headers: HttpQuestion['headers']): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}
