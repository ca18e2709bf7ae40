import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlane } from '../../spec/cluster/control-plane/index.js';
import { writeVerbs } from '../../spec/cluster/control-plane/index.js';
import { OperatorProcess, usageOf } from './operator-process.js';
import type { OperatorPlace, Peer, Usage } from './operator-process.js';
import { ownedPaths } from './ship.js';

/** Costs of one phase of a fleet. */
export interface PhaseResult {
  readonly phase: string;
  readonly seconds: number;
  /** CPU time of the operator until it was idle again. */
  readonly cpuSeconds: number;
  /** CPU time of kube-apiserver in the same period. */
  readonly serverCpuSeconds: number;
  /** Peak resident memory of the operator since its start. */
  readonly peakRssBytes: number;
  /** Requests of the operator by verb; those for Events and Leases are counted separately. */
  readonly requests: Readonly<Record<string, number>>;
}

/** Options of {@link Fleet}. */
export interface FleetOptions {
  readonly controlPlane: ControlPlane;
  readonly peer: Peer;
  readonly size: number;
  readonly elects: boolean;
}

const shipsPath = '/apis/bench.example.com/v1';
const concurrency = 16;
const timeoutMs = 30 * 60_000;
const mergePatch = 'application/merge-patch+json';

/** The Ships of one namespace, and the operator that reconciles them. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #namespace: string;
  readonly #user: string;
  #place: OperatorPlace | undefined;
  #operator: OperatorProcess | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#user = `${options.peer}-${options.size}-${process.pid}-${Date.now()}`;
    this.#namespace = this.#user;
  }

  /** Creates the namespace, and starts the operator; resolves once the operator watches. */
  async start(): Promise<void> {
    const { controlPlane, elects } = this.#options;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } };
    await controlPlane.api.json({ method: 'POST', path: '/api/v1/namespaces', body });
    const { kubeConfigPath } = await controlPlane.user(this.#user);
    this.#place = { namespace: this.#namespace, kubeConfigPath, elect: elects };
    this.#operator = await OperatorProcess.start(this.#options.peer, this.#place);
    const kinds = Object.keys(ownedPaths).length + 1;
    const { auditLog } = controlPlane;
    await until(
      async () => (await auditLog.count({ user: this.#user, verbs: ['watch'] })) >= kinds,
    );
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
    const path = `/api/v1/namespaces/${this.#namespace}`;
    await this.#options.controlPlane.api.send({ method: 'DELETE', path });
  }

  create(): Promise<PhaseResult> {
    return this.#measure('create', async () => {
      await this.#each((name) =>
        this.#send('POST', this.#path(shipsPath, 'ships'), {
          apiVersion: 'bench.example.com/v1',
          kind: 'Ship',
          metadata: { name },
          spec: { replicas: 1, settings: settingsOf('1') },
        }),
      );
      await until(async () => (await this.#owned()).every((count) => count >= this.#options.size));
    });
  }

  /** Measures ten seconds without changes. */
  idle(): Promise<PhaseResult> {
    return this.#measure('idle, 10 s', () => delay(10_000));
  }

  /** Changes a field of each Ship that none of its owned objects depends on. */
  touch(): Promise<PhaseResult> {
    return this.#measure('no-op', () => this.#patchEach({ spec: { note: `${Date.now()}` } }));
  }

  /** Changes the settings of each Ship, and thus its ConfigMap and its StatefulSet. */
  roll(): Promise<PhaseResult> {
    return this.#measure('roll', async (since) => {
      await this.#patchEach({ spec: { settings: settingsOf('2') } });
      const { auditLog } = this.#options.controlPlane;
      const written = { user: this.#user, verbs: writeVerbs, resource: 'statefulsets', since };
      await until(async () => {
        const entries = await auditLog.read(written);
        const names = entries.filter(({ code }) => code < 300).map(({ name }) => name);
        return new Set(names).size >= this.#options.size;
      });
    });
  }

  /** Stops the leader while a standby waits; measures the time until the standby has reconciled a change. */
  async failOver(): Promise<PhaseResult> {
    const place = this.#place;
    const leader = this.#operator;
    if (place === undefined || leader === undefined) throw new Error('the fleet was not started');
    const standby = await OperatorProcess.start(this.#options.peer, place);
    this.#operator = standby;
    await this.#atRest();
    return this.#measure('fail-over', async () => {
      const [stopped] = [leader.stop()];
      await this.#patch('ship-0', { spec: { settings: settingsOf('3') } });
      const path = `${this.#path('/api/v1', 'configmaps')}/ship-0`;
      await until(async () => {
        const { data } = await this.#options.controlPlane.api.json<{
          readonly data: Readonly<Record<string, string>>;
        }>({ path });
        return data['LEVEL'] === '3';
      });
      await stopped;
    });
  }

  delete(): Promise<PhaseResult> {
    return this.#measure('delete', async () => {
      await this.#send('DELETE', this.#path(shipsPath, 'ships'), {
        propagationPolicy: 'Background',
      });
      await until(async () => (await this.#owned()).every((count) => count <= 0));
    });
  }

  async #measure(
    phase: string,
    work: (since: Awaited<ReturnType<ControlPlane['auditLog']['mark']>>) => Promise<unknown>,
  ): Promise<PhaseResult> {
    const { auditLog } = this.#options.controlPlane;
    const since = await auditLog.mark();
    const [before, server] = await this.#usage();
    const start = performance.now();
    await work(since);
    const seconds = (performance.now() - start) / 1_000;
    await this.#atRest();
    const [after, serverAfter] = await this.#usage();
    const requests: Record<string, number> = {};
    for (const { verb, resource, count } of await auditLog.tally({ user: this.#user, since })) {
      const aside = ['events', 'leases'].includes(resource);
      const name = aside ? resource : verb;
      requests[name] = (requests[name] ?? 0) + count;
    }
    return {
      ...{ phase, seconds, requests, peakRssBytes: after.peakRssBytes },
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      serverCpuSeconds: serverAfter.cpuSeconds - server.cpuSeconds,
    };
  }

  async #usage(): Promise<readonly [Usage, Usage]> {
    const { pids } = this.#options.controlPlane.processes;
    if (this.#operator === undefined) throw new Error('the fleet was not started');
    return Promise.all([this.#operator.usage(), usageOf(pids.get('kube-apiserver') ?? 0)]);
  }

  /**
   * Waits until the operator and the server use almost no CPU time for two seconds. The operator alone may be
   * idle while the cluster still changes objects that it watches.
   */
  async #atRest(): Promise<void> {
    let last = await this.#usage();
    for (let quiet = 0; quiet < 2;) {
      await delay(1_000);
      const now = await this.#usage();
      const [operator, server] = now.map((each, n) => each.cpuSeconds - (last[n]?.cpuSeconds ?? 0));
      const isQuiet = (operator ?? 0) <= 0.03 && (server ?? 0) <= 0.2;
      quiet = isQuiet ? quiet + 1 : 0;
      last = now;
    }
  }

  async #each(work: (name: string) => Promise<unknown>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < this.#options.size) await work(`ship-${next++}`);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }

  #patchEach(patch: object): Promise<void> {
    return this.#each((name) => this.#patch(name, patch));
  }

  async #patch(name: string, body: object): Promise<void> {
    const path = `${this.#path(shipsPath, 'ships')}/${name}`;
    await this.#send('PATCH', path, body, mergePatch);
  }

  async #send(method: string, path: string, body: object, contentType?: string): Promise<void> {
    const { api } = this.#options.controlPlane;
    await api.json({ method, path, body, ...(contentType !== undefined && { contentType }) });
  }

  /** Returns the number of owned objects of each kind, from `remainingItemCount` of a list with one item. */
  #owned(): Promise<readonly number[]> {
    const kinds = Object.entries(ownedPaths);
    return Promise.all(
      kinds.map(async ([plural, base]) => {
        const path = `${this.#path(base, plural)}?limit=1`;
        const { items, metadata } = await this.#options.controlPlane.api.json<CountedList>({
          path,
        });
        const { remainingItemCount = 0 } = metadata;
        const count = items.length + remainingItemCount;
        // Kubernetes creates the ConfigMap kube-root-ca.crt in each namespace.
        return plural === 'configmaps' ? count - 1 : count;
      }),
    );
  }

  #path(base: string, plural: string): string {
    return `${base}/namespaces/${this.#namespace}/${plural}`;
  }
}

interface CountedList {
  readonly items: readonly unknown[];
  readonly metadata: { readonly remainingItemCount?: number };
}

function settingsOf(level: string): Readonly<Record<string, string>> {
  const others = Array.from({ length: 8 }, (_, n) => [`SETTING_${n}`, 'x'.repeat(40)] as const);
  return { LEVEL: level, ...Object.fromEntries(others) };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not reached within ${timeoutMs / 60_000} minutes`);
    await delay(200);
  }
}
