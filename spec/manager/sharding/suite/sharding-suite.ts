import { expect } from 'chai';
import type { Client } from '../../../../lib/client/index.js';
import type { ConfigMap, Namespace } from '../../../../lib/object/kinds.js';
import { SpecProcess } from '../../processes/spec-process.js';
import { eventually } from '../../../cluster/control-plane/eventually.js';
import { WriteHistory } from './write-history.js';

/** The server for replica processes. */
export interface ShardingTarget {
  readonly admin: Client;
  /** Creates a user with all permissions for a process, `a` to `d`. @returns the path of its kubeconfig */
  user(name: string): Promise<string>;
  /**
   * Returns how many writes of ConfigMaps in the namespace the server has stored for a process, by
   * its log.
   */
  writesOf(name: string, namespace: string): Promise<number>;
  close(): Promise<void>;
}

const program = new URL('./sharded-replica.ts', import.meta.url);
const keyCount = 1_000;

/**
 * Defines the behaviour of sharding among real processes.
 * How soon others take over depends on the machine here. The specs with a virtual clock check that.
 */
export function shardingSuite(open: () => Promise<ShardingTarget>): void {
  let target: ShardingTarget;
  let replicas: Replicas;

  before(async () => {
    target = await open();
    replicas = await Replicas.prepare(target);
  });

  after(async () => {
    await replicas.stop();
    await target.close();
  });

  it('a replica never writes to a key after it has lost it, while replicas are killed, paused and added', async () => {
    const { history } = replicas;
    await Promise.all(['a', 'b', 'c'].map((name) => replicas.start(name)));
    await eventually(() => replicas.areSharedBy('a', 'b', 'c'), 60_000);
    const { leader } = replicas;
    const [, paused = ''] = ['a', 'b', 'c'].filter((name) => name !== leader);
    await replicas.kill(leader);
    await eventually(() => replicas.nothingLeftOf(leader), 60_000);
    replicas.signal(paused, 'SIGSTOP');
    await replicas.start('d');
    await eventually(() => replicas.nothingLeftOf(paused), 60_000);
    replicas.signal(paused, 'SIGCONT');
    const left = ['a', 'b', 'c', 'd'].filter((name) => name !== leader);
    await eventually(() => replicas.areSharedBy(...left), 60_000);
    expect(history.strangers()).to.deep.equal([]);
    await replicas.expectCompleteHistory();
  });
}

/** The processes of one spec and their writes. */
class Replicas {
  readonly history: WriteHistory;
  readonly #target: ShardingTarget;
  readonly #namespace: string;
  readonly #processes = new Map<string, SpecProcess>();

  private constructor(target: ShardingTarget, namespace: string) {
    this.#target = target;
    this.#namespace = namespace;
    this.history = new WriteHistory(target.admin, namespace);
  }

  static async prepare(target: ShardingTarget): Promise<Replicas> {
    const { admin } = target;
    const made = await admin.create<Namespace>({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { generateName: 'shards-' },
    });
    const { name: namespace = '' } = made.metadata;
    const written = `${namespace}-written`;
    await admin.create<Namespace>({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: written },
    });
    for (let from = 0; from < keyCount; from += 50) {
      const names = Array.from({ length: 50 }, (_, n) => `key-${from + n}`);
      const maps = names.flatMap((name) => [configMap(namespace, name), configMap(written, name)]);
      await Promise.all(maps.map((map) => admin.create(map)));
    }
    return new Replicas(target, namespace);
  }

  /** The process with the oldest Lease, dead or alive. */
  get leader(): string {
    return [...this.history.identities.values()][0] ?? '';
  }

  async start(name: string): Promise<void> {
    const path = await this.#target.user(name);
    const env = { KUBECONFIG: path, SPEC_NAMESPACE: this.#namespace, SPEC_NAME: name };
    this.#processes.set(name, new SpecProcess(name, program, { env }));
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#processes.get(name)?.signal(signal);
  }

  async kill(name: string): Promise<void> {
    await this.#processes.get(name)?.kill();
  }

  /** Checks that exactly these processes write even shares of all keys. */
  areSharedBy(...names: readonly string[]): Promise<void> {
    const holders = this.history.holders();
    const shares = [...holders.values()];
    const count = new Map<string, number>();
    for (const name of this.history.lastWriters().values())
      count.set(name, (count.get(name) ?? 0) + 1);
    expect([...holders.keys()].sort(), this.#said()).to.deep.equal([...names].sort());
    expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(1);
    expect([...count.keys()].sort(), `writers; ${this.#said()}`).to.deep.equal([...names].sort());
    expect(Math.max(...count.values()) / Math.min(...count.values())).to.be.below(1.3);
    expect(this.history.lastWriters().size).to.equal(keyCount);
    return Promise.resolve();
  }

  /** Checks that another process has written every key of this one. */
  nothingLeftOf(name: string): Promise<void> {
    const left = [...this.history.lastWriters()].filter(([, writer]) => writer === name);
    expect(left.length, `keys of ${name}; ${this.#said()}`).to.equal(0);
    return Promise.resolve();
  }

  /** Checks that the watch has delivered every write in the server's log. */
  async expectCompleteHistory(): Promise<void> {
    for (const name of this.#processes.keys()) this.signal(name, 'SIGKILL');
    const { history } = this;
    const byProcess = (name: string): number =>
      history.writes.filter(({ writer }) => writer === name).length;
    for (const name of this.#processes.keys()) {
      const logged = await this.#target.writesOf(name, `${this.#namespace}-written`);
      // The request of a killed process may be stored without a reader of its response.
      await eventually(async () => expect(byProcess(name), name).to.be.within(logged, logged + 24));
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((each) => each.kill()));
    await this.history.stop();
  }

  #said(): string {
    return [...this.#processes.values()]
      .map(({ name, output }) => `${name}: ${output.slice(-2_000)}`)
      .join('\n');
  }
}

function configMap(namespace: string, name: string): ConfigMap {
  const metadata = { namespace, name, labels: { spec: 'key' } };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}
