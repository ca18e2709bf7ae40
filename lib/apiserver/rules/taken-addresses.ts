import type { V1Service } from '@kubernetes/client-node';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Wire } from '../../object/wire.js';
import type { LogEntry, MvccLog } from '../storage/mvcc-log.js';

/** Cluster IPs and node ports that are in use. */
export interface Taken {
  hasIp(ip: string): boolean;
  /** @param port - for example `TCP/30080` */
  hasPort(port: string): boolean;
}

/** The address of the Service `kubernetes`. */
const ipOfServer = '10.96.0.1';

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
   * Returns the addresses in use by all Services except one.
   * @param own - `namespace/name` of that one
   */
  except(own: string): Taken {
    const isTaken = (address: string): boolean => {
      const holders = this.#holders.get(address);
      return holders !== undefined && (holders.size > 1 || !holders.has(own));
    };
    return { hasIp: (ip) => ip === ipOfServer || isTaken(ip), hasPort: isTaken };
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
