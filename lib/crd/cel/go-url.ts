/** The parts of a URL, as parsed by Go's `net/url`. */
export interface GoUrl {
  readonly text: string;
  readonly scheme: string;
  /** Includes the port. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly query: string;
}

/**
 * Parses an absolute URL or path like Go's `ParseRequestURI`; returns a string with the problem if invalid.
 */
export function parseRequestUrl(text: string): GoUrl | string {
  const problem = requestProblem(text);
  if (problem !== undefined) return `parse ${JSON.stringify(text)}: ${problem}`;
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][-+.A-Za-z0-9]*):)?(.*)$/s.exec(text) ?? [];
  const [beforeFragment = ''] = rest.split('#');
  const mark = beforeFragment.indexOf('?');
  const hierarchy = mark < 0 ? beforeFragment : beforeFragment.slice(0, mark);
  const query = mark < 0 ? '' : beforeFragment.slice(mark + 1);
  const [, authority = '', path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(hierarchy) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const { hostname, port } = hostParts(host);
  // Without a slash after the scheme (`mailto:a`) the path is empty.
  const escapedPath = scheme !== '' && !hierarchy.startsWith('/') ? '' : escaped(path);
  return {
    text,
    scheme: scheme.toLowerCase(),
    host: decoded(host),
    hostname,
    port,
    escapedPath,
    query,
  };
}

function hostParts(host: string): { hostname: string; port: string } {
  const [, bracketed, plain = '', port = ''] = /^(?:\[(.*)\]|([^:]*))(?::(\d*))?$/.exec(host) ?? [];
  return { hostname: decoded(bracketed ?? plain), port };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Escapes characters that a path must not contain; keeps existing escapes. */
function escaped(path: string): string {
  return path.replaceAll(/[^-A-Za-z0-9_.~$&+,/:;=@%!'()*[\]]/gu, (character) =>
    encodeURIComponent(character),
  );
}

function requestProblem(text: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- what the real parser refuses
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  const [, scheme, rest = ''] = /^([A-Za-z][-+.A-Za-z0-9]*):(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) {
    if (text.startsWith(':')) return 'missing protocol scheme';
    if (/^[0-9+.-][-+.A-Za-z0-9]*:/.test(text))
      return 'first path segment in URL cannot contain colon';
    if (text !== '*' && !text.startsWith('/')) return 'invalid URI for request';
  } else if (rest.startsWith('/') ? false : rest === '') return undefined;
  const after = scheme === undefined ? text : rest;
  const authority = /^\/\/([^/?#]*)/.exec(after)?.[1];
  if (authority !== undefined && (scheme !== undefined || !after.startsWith('///'))) {
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    const hostWrong = hostProblem(host);
    if (hostWrong !== undefined) return hostWrong;
  }
  const [path = ''] = after.slice(authority === undefined ? 0 : authority.length + 2).split('?');
  const bad = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(path)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${JSON.stringify(bad)}`;
}

function hostProblem(host: string): string | undefined {
  const odd = /[ "<>\\^`{|}]/.exec(host.replace(/^\[.*\]/, ''))?.[0];
  if (odd !== undefined) return `invalid character ${JSON.stringify(odd)} in host name`;
  // In hosts, only non-ASCII bytes and the percent sign may be escaped.
  const ascii = /%(?!25)[0-7][0-9A-Fa-f]/.exec(host)?.[0];
  if (ascii !== undefined) return `invalid URL escape ${JSON.stringify(ascii)}`;
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']');
    if (close < 0) return "missing ']' in host";
    return portProblem(host.slice(close + 1));
  }
  const colon = host.lastIndexOf(':');
  return colon < 0 ? undefined : portProblem(host.slice(colon));
}

function portProblem(port: string): string | undefined {
  return port === '' || /^:\d*$/.test(port)
    ? undefined
    : `invalid port ${JSON.stringify(port)} after host`;
}
