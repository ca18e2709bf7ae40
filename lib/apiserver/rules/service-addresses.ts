import type { V1Service, V1ServiceSpec } from '@kubernetes/client-node';
import { FieldErrors } from '../../crd/internal.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import { internalFailure, invalid } from '../status-error.js';
import type { LogEntry, MvccLog } from '../storage/mvcc-log.js';
import type { ServerView } from './kind-rules.js';

type Service = Wire<V1Service>;
type ServiceSpec = Wire<V1ServiceSpec>;

// 10.96.0.0/16; the real server reserves the lower part for explicitly requested addresses.
const networkPrefix = '10.96.';
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

/**
 * Allocates the addresses that a service omits: cluster IP, IP families, node ports.
 * @throws StatusError 422: a requested address is in use or out of range
 */
export function allocateAddresses(service: Service, server: ServerView): void {
  const { metadata, spec } = service;
  if (spec === undefined) return;
  const { namespace = '', name = '' } = metadata ?? {};
  const taken = server.addresses.except(`${namespace}/${name}`);
  const errors = new FieldErrors();
  if (needsClusterIp(spec)) {
    checkFamilies(spec, errors);
    allocateClusterIp(spec, { taken, server, errors });
    allocateFamilies(spec);
  }
  if (needsNodePort(spec) && spec.allocateLoadBalancerNodePorts !== false) {
    allocateNodePorts(spec, { taken, server, errors });
  } else {
    checkNodePorts(spec, { taken, server, errors });
  }
  if (!errors.empty) throw invalid({ group: '', kind: 'Service', name }, errors.causes);
}

interface Allocation {
  readonly taken: Taken;
  readonly server: ServerView;
  readonly errors: FieldErrors;
}

function allocateClusterIp(spec: ServiceSpec, { taken, server, errors }: Allocation): void {
  const given = spec.clusterIP ?? '';
  if (given === '' && (spec.clusterIPs ?? []).length > 0) {
    errors.invalid(
      'spec.clusterIPs',
      spec.clusterIPs,
      'must be empty when `clusterIP` is not specified',
    );
    return;
  }
  if (given === '') {
    spec.clusterIP = freeIp(taken, server);
    spec.clusterIPs = [spec.clusterIP];
    return;
  }
  spec.clusterIP = given;
  spec.clusterIPs ??= [given];
  if (given === 'None') return;
  const why = ipProblem(given, taken);
  if (why !== undefined) {
    errors.invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${given}: ${why}`);
  }
}

function ipProblem(ip: string, taken: Taken): string | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(ip)) return undefined;
  if (taken.hasIp(ip)) return 'provided IP is already allocated';
  if (ip.startsWith(networkPrefix)) return undefined;
  return 'the provided network does not match the current range';
}

function freeIp(taken: Taken, server: ServerView): string {
  const count = addresses - firstDynamic;
  const start = Math.floor(server.random.next() * count);
  for (let step = 0; step < count; step++) {
    const offset = firstDynamic + ((start + step) % count);
    const ip = `${networkPrefix}${offset >> 8}.${offset & 255}`;
    if (!taken.hasIp(ip)) return ip;
  }
  throw internalFailure('failed to allocate a serviceIP: range is full');
}

const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** Checks the IP families. The cluster has IPv4 only. */
function checkFamilies(spec: ServiceSpec, errors: FieldErrors): void {
  const { ipFamilies = [], ipFamilyPolicy, clusterIP, selector } = spec;
  errors.oneOf('spec.ipFamilyPolicy', ipFamilyPolicy, policies);
  // Without a selector, the endpoints of a headless service lie outside the cluster.
  if (clusterIP === 'None' && Object.keys(selector ?? {}).length === 0) return;
  for (const [index, family] of ipFamilies.entries()) {
    const field = `spec.ipFamilies[${index}]`;
    if (ipFamilies.indexOf(family) < index) errors.duplicate(field, family);
    else if (family === 'IPv6') errors.invalid(field, family, 'not configured on this cluster');
    else if (family !== 'IPv4') errors.notSupported(field, family, ['IPv4', 'IPv6']);
  }
  if (ipFamilyPolicy === 'RequireDualStack') {
    const why = 'this cluster is not configured for dual-stack services';
    errors.invalid('spec.ipFamilyPolicy', ipFamilyPolicy, why);
  }
}

function allocateFamilies(spec: ServiceSpec): void {
  if ((spec.ipFamilies ?? []).length > 0) {
    spec.ipFamilyPolicy ??= 'SingleStack';
    return;
  }
  const bare = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= bare ? 'RequireDualStack' : 'SingleStack';
  const dual = bare && spec.ipFamilyPolicy === 'RequireDualStack';
  spec.ipFamilies = dual ? ['IPv4', 'IPv6'] : ['IPv4'];
}

function allocateNodePorts(spec: ServiceSpec, allocation: Allocation): void {
  const { taken, server } = allocation;
  checkNodePorts(spec, allocation);
  const own = new Map<string, string>();
  for (const port of spec.ports ?? []) {
    const { protocol = 'TCP' } = port;
    if (port.nodePort !== undefined) {
      own.set(`${protocol}/${port.nodePort}`, protocol);
      continue;
    }
    port.nodePort = freePort(server, (candidate) => {
      const key = `${protocol}/${candidate}`;
      return taken.hasPort(key) || own.has(key);
    });
    own.set(`${protocol}/${port.nodePort}`, protocol);
  }
  if (spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local') {
    const isTaken = (candidate: number): boolean =>
      taken.hasPort(`TCP/${candidate}`) || own.has(`TCP/${candidate}`);
    spec.healthCheckNodePort ??= freePort(server, isTaken);
  }
}

function checkNodePorts(spec: ServiceSpec, { taken, errors }: Allocation): void {
  const own = new Set<string>();
  for (const [index, { nodePort, protocol = 'TCP' }] of (spec.ports ?? []).entries()) {
    if (nodePort === undefined || !needsNodePort(spec)) continue;
    const field = `spec.ports[${index}].nodePort`;
    if (nodePort < nodePorts.first || nodePort > nodePorts.last) {
      const why = `provided port is not in the valid range. The range of valid ports is ${nodePorts.first}-${nodePorts.last}`;
      errors.invalid(field, nodePort, why);
    } else if (taken.hasPort(`${protocol}/${nodePort}`) || own.has(`${protocol}/${nodePort}`)) {
      errors.invalid(field, nodePort, 'provided port is already allocated');
    }
    own.add(`${protocol}/${nodePort}`);
  }
}

function freePort({ random }: ServerView, isTaken: (port: number) => boolean): number {
  const { firstDynamic: first, last } = nodePorts;
  const count = last - first + 1;
  const start = Math.floor(random.next() * count);
  for (let step = 0; step < count; step++) {
    const port = first + ((start + step) % count);
    if (!isTaken(port)) return port;
  }
  throw internalFailure('failed to allocate a nodePort: range is full');
}

/** Cluster IPs and node ports that are in use. */
interface Taken {
  hasIp(ip: string): boolean;
  /** @param port - for example `TCP/30080` */
  hasPort(port: string): boolean;
}

/** The address of the Service `kubernetes`. */
const ipOfServer = '10.96.0.1';
const serviceOfServer = 'default/kubernetes';

/**
 * Index of the cluster IPs and node ports of all Services, updated on each change, so that an allocation does
 * not scan Services.
 */
export class TakenAddresses {
  /** The keys of the Services that have an address: an IP, or a port such as `TCP/30080`. */
  readonly #holders = new Map<string, Set<string>>();

  constructor(log: MvccLog) {
    log.subscribe((entry) => {
      if (entry.collection === 'services') this.#follow(entry);
    });
  }

  /**
   * Returns the addresses that all Services except `own` use.
   * @param own - the key of the excepted Service, `namespace/name`
   */
  except(own: string): Taken {
    const isTaken = (address: string): boolean => {
      const holders = this.#holders.get(address);
      return holders !== undefined && (holders.size > 1 || !holders.has(own));
    };
    const isReserved = (ip: string): boolean => ip === ipOfServer && own !== serviceOfServer;
    return { hasIp: (ip) => isReserved(ip) || isTaken(ip), hasPort: isTaken };
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
  const { spec } = (object ?? {}) as unknown as Wire<V1Service>;
  const { clusterIPs = [], ports = [], healthCheckNodePort } = spec ?? {};
  const nodePorts = ports.flatMap(({ nodePort, protocol = 'TCP' }) =>
    nodePort === undefined ? [] : [`${protocol}/${nodePort}`],
  );
  const health = healthCheckNodePort === undefined ? [] : [`TCP/${healthCheckNodePort}`];
  return [...clusterIPs, ...nodePorts, ...health];
}
