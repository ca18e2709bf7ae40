import { isIP } from 'node:net';
import { quoted } from '../../object/index.js';

/** The parts of a URL, as parsed by Go's `net/url`. */
export interface GoUrl {
  readonly text: string;
  readonly scheme: string;
  /** The name and password before the host; undefined if the URL has no `@` there. */
  readonly user: string | undefined;
  /** The host, with its port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: string;
  readonly fragment: string;
}

/**
 * Parses an absolute URL or path like Go's `ParseRequestURI`; returns a string with the problem if invalid.
 */
export function parseRequestUrl(text: string): GoUrl | string {
  const problem = urlProblem(text, true);
  return problem === undefined ? parseUrl(text) : `parse ${quoted(text)}: ${problem}`;
}

/** Parses a URL, absolute or relative, like Go's `Parse`; returns a string with the problem if invalid. */
export function parseUrl(text: string): GoUrl | string {
  const [beforeFragment, fragment] = cut(text, '#');
  const problem = urlProblem(beforeFragment, false);
  if (problem !== undefined) return `parse ${quoted(beforeFragment)}: ${problem}`;
  const badFragment = escapeProblem(fragment);
  if (badFragment !== undefined) return `parse ${quoted(text)}: ${badFragment}`;
  const [scheme, rest] = schemeOf(beforeFragment);
  const [hierarchy, query] = cut(rest, '?');
  const { authority = '', path } = hierarchyParts(scheme, hierarchy);
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  // Without a slash after the scheme (`mailto:a`) the path is empty.
  const escapedPath = scheme !== '' && !hierarchy.startsWith('/') ? '' : escaped(path);
  return {
    ...{ text, scheme: scheme.toLowerCase() },
    user: at < 0 ? undefined : authority.slice(0, at),
    ...{ host: decoded(host), ...hostParts(host) },
    ...{ escapedPath, query, fragment: decoded(fragment) },
  };
}

/** Returns the texts before and after the first `sign`. */
function cut(text: string, sign: string): [before: string, after: string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function schemeOf(text: string): [scheme: string, rest: string] {
  const [, scheme, rest = ''] = /^([A-Za-z][-+.A-Za-z0-9]*):(.*)$/s.exec(text) ?? [];
  return scheme === undefined ? ['', text] : [scheme, rest];
}

function hierarchyParts(scheme: string, hierarchy: string): { authority?: string; path: string } {
  const isPath = scheme === '' && hierarchy.startsWith('///');
  const [, authority, path = ''] = /^\/\/([^/]*)(.*)$/s.exec(hierarchy) ?? [];
  return authority === undefined || isPath ? { path: hierarchy } : { authority, path };
}

function hostParts(host: string): { hostname: string; port: string } {
  const [, bracketed, plain = '', port = ''] = /^(?:\[(.*)\]|([^:]*))(?::(\d*))?$/.exec(host) ?? [];
  return { hostname: decoded(bracketed ?? plain), port };
}

/** Replaces escapes by their bytes; bytes that are not UTF-8 become characters, as in Go. */
function decoded(text: string): string {
  return Buffer.from(decodedBytes(text), 'latin1').toString();
}

/** Returns one character for each byte. */
function decodedBytes(text: string): string {
  const bytes = Buffer.from(text).toString('latin1');
  return bytes.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
}

/** Returns a path as it is, or if it has characters that a path must not contain, with all of them escaped. */
function escaped(path: string): string {
  if (/^[-A-Za-z0-9_.~$&+,/:;=@%!'()*[\]]*$/.test(path)) return path;
  return decodedBytes(path).replaceAll(/[^-A-Za-z0-9_.~$&+,/:;=@]/g, (byte) => {
    const digits = byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return `%${digits}`;
  });
}

/**
 * Returns why a URL is invalid; undefined if it is valid.
 * @param isRequest - only an absolute URL or path is valid
 */
function urlProblem(text: string, isRequest: boolean): string | undefined {
  // Matches the control characters of ASCII.
  if (/[^ -~\x80-\uffff]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '' && isRequest) return 'empty url';
  if (text === '*') return undefined;
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [scheme, rest] = schemeOf(text);
  const [hierarchy] = cut(rest, '?');
  if (!hierarchy.startsWith('/')) {
    if (scheme !== '') return undefined;
    if (isRequest) return 'invalid URI for request';
    const [segment] = cut(hierarchy, '/');
    if (segment.includes(':')) return 'first path segment in URL cannot contain colon';
  }
  // A path of a request can start with two slashes.
  const hasAuthority = scheme !== '' || !isRequest;
  const { authority, path } = hasAuthority
    ? hierarchyParts(scheme, hierarchy)
    : { path: hierarchy };
  const problem = authority === undefined ? undefined : authorityProblem(scheme, authority);
  return problem ?? escapeProblem(path);
}

function authorityProblem(scheme: string, authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const problem = hostProblem(scheme.toLowerCase(), authority.slice(at + 1));
  if (problem !== undefined || at < 0) return problem;
  const user = authority.slice(0, at);
  if (!/^[-A-Za-z0-9._:~!$&'()*+,;=%@]*$/.test(user)) return 'net/url: invalid userinfo';
  const [name, password] = cut(user, ':');
  return escapeProblem(name) ?? escapeProblem(password);
}

function hostProblem(scheme: string, host: string): string | undefined {
  const open = host.lastIndexOf('[');
  if (open > 0) return 'invalid IP-literal';
  if (open === 0) {
    const close = host.lastIndexOf(']');
    if (close < 0) return "missing ']' in host";
    return portProblem(host.slice(close + 1)) ?? literalProblem(host.slice(1, close));
  }
  const isStrict = scheme === 'http' || scheme === 'https';
  const colon = isStrict ? host.indexOf(':') : host.lastIndexOf(':');
  return (colon < 0 ? undefined : portProblem(host.slice(colon))) ?? nameProblem(host);
}

function portProblem(port: string): string | undefined {
  return port === '' || /^:\d*$/.test(port) ? undefined : `invalid port ${quoted(port)} after host`;
}

function literalProblem(text: string): string | undefined {
  const zoneAt = text.indexOf('%25');
  const [address, zone] =
    zoneAt < 0 ? [text, ''] : [text.slice(0, zoneAt), text.slice(zoneAt + '%25'.length)];
  const problem = nameProblem(address) ?? nameProblem(zone, isEscapeInZone);
  if (problem !== undefined) return problem;
  const family = isIP(address);
  if (family === 4) return 'invalid IP-literal';
  const where = `invalid host: ParseAddr(${quoted(decoded(text))})`;
  // Node takes what follows any percent sign for the zone.
  if (family !== 6 || address.includes('%')) return `${where}: unable to parse IP`;
  return zoneAt >= 0 && zone === '' ? `${where}: zone must be a non-empty string` : undefined;
}

/** In hosts, only bytes beyond ASCII and the percent sign may be escaped. */
function isEscapeInHost(part: string): boolean {
  return /^%(?:25|[89A-F][0-9A-F])$/i.test(part);
}

/** In zones of addresses, only characters that hosts may contain, the percent sign and the space may be escaped. */
function isEscapeInZone(part: string): boolean {
  return part.length === '%25'.length && /^[ !"$-.0->A-[\]_a-z~]$/.test(decoded(part));
}

/** Returns the first problem of a host's name: a wrong escape, or a character that must be escaped. */
function nameProblem(host: string, isEscape = isEscapeInHost): string | undefined {
  for (const [part] of host.matchAll(/%.{0,2}|[ #\\^`{|}]/gs)) {
    if (!part.startsWith('%')) return `invalid character ${quoted(part)} in host name`;
    if (!isEscape(part)) return wrongEscape(part);
  }
  return undefined;
}

function escapeProblem(text: string): string | undefined {
  const [part] = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text) ?? [];
  return part === undefined ? undefined : wrongEscape(part);
}

function wrongEscape(part: string): string {
  return `invalid URL escape ${quoted(part)}`;
}
