import type { V1Service, V1ServiceSpec } from '@kubernetes/client-node';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { failure, internalError } from '../status-error.js';
import type { LogEntry, MvccLog } from '../storage/mvcc-log.js';
import type { ServerView } from './kind-rules.js';
import { fillFamilies, ServiceErrors } from './service-families.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

// 10.96.0.0/16; the real server reserves the lower part for explicitly requested addresses.
const network = {
  prefix: '10.96.',
  first: '10.96.0.0',
  last: '10.96.255.255',
  range: '10.96.0.0/16',
};
const firstDynamic = 257;
const addresses = 65_534;
const nodePorts = { first: 30_000, firstDynamic: 30_086, last: 32_767 };

/** Returns whether services of this type have a cluster IP (even `None`). */
export function needsClusterIp({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

/** Returns whether services of this type have node ports. */
export function needsNodePort({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** Returns whether a node port answers health checks of the service. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Returns whether ports without a node port receive one. */
export function allocatesNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return (
    type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)
  );
}

/**
 * Allocates the addresses that a new service omits: cluster IP, IP families, node ports.
 * @throws StatusError 422 or 500: a requested address is in use or out of range
 */
export function allocateAddresses({ metadata, spec }: Service, server: ServerView): void {
  if (spec === undefined) return;
  const { namespace = '', name = '' } = metadata ?? {};
  const errors = new ServiceErrors(name);
  fillFamilies(spec, undefined, errors);
  allocateClusterIp(spec, { server, own: `${namespace}/${name}`, errors });
  const ports = new NodePorts(server, errors);
  if (needsNodePort(spec)) allocateNodePorts(spec, ports);
  if (needsHealthCheck(spec)) allocateHealthCheck(spec, ports);
}

/**
 * Allocates the addresses that a changed service has not had before.
 * @throws StatusError 422 or 500: a requested address is in use or out of range
 */
export function reallocateAddresses(
  { metadata, spec }: Service,
  { spec: old }: Service,
  server: ServerView,
): void {
  if (spec === undefined || old === undefined) return;
  const { namespace = '', name = '' } = metadata ?? {};
  const errors = new ServiceErrors(name);
  fillFamilies(spec, old, errors);
  // Validation refuses other changes of the address.
  if (!needsClusterIp(old)) {
    allocateClusterIp(spec, { server, own: `${namespace}/${name}`, errors });
  }
  const ports = new NodePorts(server, errors);
  if (needsNodePort(spec)) updateNodePorts(spec, old, ports);
  if (needsHealthCheck(spec) && !needsHealthCheck(old)) allocateHealthCheck(spec, ports);
}

interface IpAllocation {
  readonly server: ServerView;
  /** The key of the service, `namespace/name`. */
  readonly own: string;
  readonly errors: ServiceErrors;
}

function allocateClusterIp(spec: ServiceSpec, allocation: IpAllocation): void {
  if (!needsClusterIp(spec) || spec.clusterIP === 'None') return;
  const { server, errors } = allocation;
  const { clusterIP: given = '' } = spec;
  if (given === '') {
    spec.clusterIP = server.isDryRun ? network.first : freeIp(server);
    spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const why = ipProblem(given, allocation);
  if (why === undefined) return;
  errors.invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${given}: ${why}`);
  errors.refuse();
}

function ipProblem(ip: string, { server, own }: IpAllocation): string | undefined {
  const { prefix, first, last, range } = network;
  const isInside = ip.startsWith(prefix) && ip !== first && ip !== last;
  if (server.isDryRun) {
    if (isInside) return undefined;
    return `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${range}`;
  }
  if (!isInside) return 'the provided network does not match the current range';
  const isReserved = ip === ipOfServer && own !== serviceOfServer;
  return isReserved || server.addresses.has(ip) ? 'provided IP is already allocated' : undefined;
}

function freeIp({ random, addresses: taken }: ServerView): string {
  const count = addresses - firstDynamic;
  const start = Math.floor(random.next() * count);
  for (let step = 0; step < count; step++) {
    const offset = firstDynamic + ((start + step) % count);
    const ip = `${network.prefix}${offset >> 8}.${offset & 255}`;
    if (!taken.has(ip)) return ip;
  }
  throw internalError('failed to allocate a serviceIP: range is full');
}

/** The node ports that one write allocates. */
class NodePorts {
  readonly #server: ServerView;
  readonly #errors: ServiceErrors;
  readonly #allocated = new Set<number>();

  constructor(server: ServerView, errors: ServiceErrors) {
    this.#server = server;
    this.#errors = errors;
  }

  /**
   * Allocates the node port that a port of the service requests.
   * @throws StatusError 422: this is not possible
   */
  request(nodePort: number, index: number): void {
    const why = this.allocate(nodePort);
    if (why === undefined) return;
    this.#errors.invalid(`spec.ports[${index}].nodePort`, nodePort, why);
    this.#errors.refuse();
  }

  /** Allocates a port. @returns why this is not possible; undefined if the port is allocated */
  allocate(port: number): string | undefined {
    const isOutside = port < nodePorts.first || port > nodePorts.last;
    if (isOutside && !this.#server.isDryRun) {
      return `provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`;
    }
    if (this.#isTaken(port)) return 'provided port is already allocated';
    this.#allocated.add(port);
    return undefined;
  }

  allocateNext(): number {
    const port = this.#server.isDryRun ? this.#dummy() : this.#free();
    this.#allocated.add(port);
    return port;
  }

  #isTaken(port: number): boolean {
    return this.#allocated.has(port) || this.#server.addresses.has(String(port));
  }

  /** The real server's stand-in for a port in a dry run lies outside of the range. */
  #dummy(): number {
    return (this.#allocated.size === 0 ? 32_768 : Math.max(...this.#allocated)) + 1;
  }

  #free(): number {
    const { firstDynamic: first, last } = nodePorts;
    const count = last - first + 1;
    const start = Math.floor(this.#server.random.next() * count);
    for (let step = 0; step < count; step++) {
      const port = first + ((start + step) % count);
      if (!this.#isTaken(port)) return port;
    }
    throw internalError('failed to allocate a nodePort: range is full');
  }
}

/** Allocates the node ports of a new service. Ports with the same number for several protocols share a node port. */
function allocateNodePorts(spec: ServiceSpec, allocated: NodePorts): void {
  const { ports = [] } = spec;
  const known = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    if (port.nodePort === undefined && !allocatesNodePorts(spec)) continue;
    const shared = known.get(port.port);
    const requested = ports.find((other) => other.port === port.port && other.nodePort);
    const nodePort = shared === undefined ? requested?.nodePort : (port.nodePort ?? shared);
    if (nodePort !== undefined && nodePort !== shared) allocated.request(nodePort, index);
    port.nodePort = nodePort ?? allocated.allocateNext();
    if (shared === undefined) known.set(port.port, port.nodePort);
  }
}

/** Allocates the node ports that a service has not had before. */
function updateNodePorts(spec: ServiceSpec, old: ServiceSpec, allocated: NodePorts): void {
  const held = new Set((old.ports ?? []).map(({ nodePort }) => nodePort));
  const named = new Set<string>();
  for (const [index, port] of (spec.ports ?? []).entries()) {
    if (port.nodePort === undefined && !allocatesNodePorts(spec)) continue;
    if (port.nodePort === undefined) port.nodePort = allocated.allocateNext();
    else if (!held.has(port.nodePort)) allocated.request(port.nodePort, index);
    held.add(port.nodePort);
    const key = `{${port.protocol ?? ''} ${port.nodePort}}`;
    if (named.has(key)) throw failure(500, '', `duplicate nodePort: ${key}`);
    named.add(key);
  }
}

function allocateHealthCheck(spec: ServiceSpec, ports: NodePorts): void {
  const { healthCheckNodePort: port } = spec;
  if (port === undefined) {
    spec.healthCheckNodePort = ports.allocateNext();
    return;
  }
  const why = ports.allocate(port);
  if (why === undefined) return;
  throw internalError(`failed to allocate requested HealthCheck NodePort ${port}: ${why}`);
}

/** The address of the Service `kubernetes`. */
const ipOfServer = '10.96.0.1';
const serviceOfServer = 'default/kubernetes';

/**
 * Index of the cluster IPs and node ports of all Services, updated on each change, so that an allocation does
 * not scan Services.
 */
export class TakenAddresses {
  /** The keys of the Services that have an address: an IP or a port. */
  readonly #holders = new Map<string, Set<string>>();

  constructor(log: MvccLog) {
    log.subscribe((entry) => {
      if (entry.collection === 'services') this.#follow(entry);
    });
  }

  /**
   * Returns whether a Service has an address.
   * @param address - an IP, or a node port of any protocol
   */
  has(address: string): boolean {
    return this.#holders.has(address);
  }

  #follow({ type, key, object, previous }: LogEntry): void {
    for (const address of addressesOf(previous)) this.#remove(address, key);
    if (type === 'DELETED') return;
    for (const address of addressesOf(object)) {
      const holders = this.#holders.get(address) ?? new Set();
      this.#holders.set(address, holders.add(key));
    }
  }

  #remove(address: string, key: string): void {
    const holders = this.#holders.get(address);
    holders?.delete(key);
    if (holders?.size === 0) this.#holders.delete(address);
  }
}

function addressesOf(object: UnstructuredObject | undefined): readonly string[] {
  const { spec = {} } = (object ?? {}) as unknown as Wire<V1Service>;
  const ips = needsClusterIp(spec) ? (spec.clusterIPs ?? []) : [];
  const ports = needsNodePort(spec) ? (spec.ports ?? []).map(({ nodePort }) => nodePort) : [];
  const health = needsHealthCheck(spec) ? [spec.healthCheckNodePort] : [];
  const held = [...ports, ...health].filter((port) => port !== undefined);
  return [...ips.filter((ip) => ip !== 'None'), ...held.map(String)];
}
