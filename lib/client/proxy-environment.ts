import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { OperatorError } from '../system/operator-error.js';
import { isProxyUrl } from '../system/proxy-tunnel.js';
import type { Environment } from './kube-config-file.js';

/** The requested server. */
interface Target {
  /** The host without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: string;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Returns the proxy that the environment names for `server`, an http or https URL, by the rules of Go's
 * clients. By the server's scheme it is `HTTPS_PROXY` or `HTTP_PROXY`, a URL or `host:port`, unless
 * `NO_PROXY` names the server. `NO_PROXY` is a comma-separated list of `*`, addresses, CIDRs and domains,
 * each with an optional port. A domain includes its subdomains; with a leading dot it means only these. Upper
 * case takes precedence over lower case. Undefined: no proxy, as always for `localhost` and loopback
 * addresses.
 * @throws OperatorError `InvalidOption`: the variable is not a usable proxy.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isTls = protocol === 'https:';
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = variable(name, env);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const target = { host, port: port === '' ? (isTls ? '443' : '80') : port };
  if (text === '' || isLoopback(host) || isExcepted(target, variable('NO_PROXY', env))) {
    return undefined;
  }
  const proxy = text.includes('://') ? text : `http://${text}`;
  if (isProxyUrl(proxy)) return proxy;
  // The message omits the text: it may hold a password.
  throw new OperatorError('InvalidOption', `${name}: want an http, https or socks5 URL`);
}

function variable(name: string, env: Environment): string {
  return [env[name], env[name.toLowerCase()]].find((value = '') => value !== '') ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || isIn(loopback, host);
}

function isExcepted(target: Target, noProxy: string): boolean {
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === '*' || matches(entry, target));
}

function matches(entry: string, { host, port }: Target): boolean {
  const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(network);
  if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
    return isIn(list, host);
  }
  const [, bracketed, plain, entryPort] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const named = bracketed ?? plain ?? entry;
  return isIP(named) === 0 ? isOfDomain(host, named) : isSameAddress(host, named);
}

function isOfDomain(host: string, named: string): boolean {
  const hasDot = /^\*?\./.test(named);
  const domain = named.replace(/^\*?\./, '');
  const ascii = domainToASCII(domain) || domain;
  return ascii !== '' && (host.endsWith(`.${ascii}`) || (!hasDot && host === ascii));
}

/** Compares addresses in any notation: `::1` and `0:0::1`, `::ffff:10.0.0.1` and `10.0.0.1`. */
function isSameAddress(host: string, named: string): boolean {
  const list = new BlockList();
  list.addAddress(named, isIP(named) === 4 ? 'ipv4' : 'ipv6');
  return isIn(list, host);
}

function isIn(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
