import { readFile } from 'node:fs/promises';
import { Builder, Event, Pod, StatefulSet } from 'operator-builder';
import { isConditionTrue, renderPlan, systemClock, waitFor } from 'operator-builder';
import type { OperatorEvents } from 'operator-builder';
import { parse } from 'yaml';
import { operatorName } from '../operator.js';
import { builderOptions, tenantChain } from '../tenant-chain.js';
import { ParseableTenant } from '../tenant.js';
import type { TenantSpec } from '../tenant.js';
import { Feed } from './feed.js';
import type { Playground } from '../../demo/playground.js';

const sample = new URL('../crs/ordered.yaml', import.meta.url);
const settledWithinMs = 60_000;
const startMs = systemClock.monotonicMs();

/** A tenant's life: created, changed, edited by hand, made smaller. */
export class Story {
  readonly #playground: Playground;
  readonly #feed: Feed;
  /** Pods replaced, by node. */
  readonly #replaced = new Map<string, number>();

  /** @param events - events of the operator, which is running */
  constructor(playground: Playground, events: OperatorEvents) {
    this.#playground = playground;
    this.#feed = new Feed(playground.narrator, events);
  }

  async tell(): Promise<void> {
    await this.#create();
    await this.#plan();
    await this.#change();
    await this.#repair();
    await this.#prune();
  }

  /** Call after the operator has stopped: then its last Events are written. */
  async conclude(): Promise<void> {
    this.#summary(await this.#events());
  }

  async #create(): Promise<void> {
    const { client, narrator, namespace } = this.#playground;
    narrator.chapter('A tenant is created', 'kubectl apply -f samples/parseable/crs/ordered.yaml');
    const tenant = parse(await readFile(sample, 'utf8')) as ParseableTenant;
    const object = { ...tenant, metadata: { ...tenant.metadata, namespace } };
    await client.apply(object, { fieldManager: 'kubectl', force: true });
    await this.#ready();
  }

  async #plan(): Promise<void> {
    const { client, narrator } = this.#playground;
    narrator.chapter('What would a change do?', 'P_LOG_LEVEL=debug for the parseableConfig "back"');
    const now = await this.#tenant();
    const owner = { ...now, spec: { ...now.spec, ...withLogLevel(now.spec) } };
    const options = { ...builderOptions(owner), client, owner, controllerName: operatorName };
    const plan = await tenantChain(new Builder(options), owner).plan();
    const text = renderPlan(plan, { color: narrator.color });
    // Shortens the SHA-256 hashes, which would take most of a line.
    narrator.block(text.replaceAll(/([0-9a-f]{10})[0-9a-f]{54}/g, '$1…'));
  }

  async #change(): Promise<void> {
    const { narrator } = this.#playground;
    narrator.chapter('The change', 'kubectl edit parseabletenant ordered');
    const old = await this.#pods('node in (ingestor, querier)');
    await this.#edit(withLogLevel((await this.#tenant()).spec));
    await this.#gone(old, ({ metadata: { name = '', labels = {} } }) => {
      const { node = '' } = labels;
      this.#replaced.set(node, (this.#replaced.get(node) ?? 0) + 1);
      narrator.line('noted', `  pod ${name} of ${node} replaced`);
    });
    await this.#ready();
  }

  async #repair(): Promise<void> {
    const { client, narrator, namespace } = this.#playground;
    narrator.chapter('A StatefulSet is edited by hand', 'kubectl scale --replicas=5');
    const key = { name: 'staged-ingestor', namespace };
    const patch = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
    const edited = await client.patch(StatefulSet, key, patch, { fieldManager: 'kubectl-edit' });
    await this.#waitFor(edited, (found) => found?.spec?.replicas === 2, 'the repair');
    await this.#ready();
  }

  async #prune(): Promise<void> {
    const { narrator } = this.#playground;
    narrator.chapter('A node is taken out of the list', 'kubectl edit parseabletenant ordered');
    const old = await this.#pods('node=console');
    const { nodes } = (await this.#tenant()).spec;
    await this.#edit({ nodes: nodes.filter(({ name }) => name !== 'console') });
    await this.#ready();
    await this.#gone(old);
    narrator.line('well', 'its pods are gone; the other nodes were not touched');
  }

  async #events(): Promise<number> {
    const { client, narrator, namespace } = this.#playground;
    narrator.chapter('The Events in Kubernetes', 'kubectl get events');
    const { items } = await client.list(Event, { namespace });
    const ours = items
      .filter((each) => each.reportingController === operatorName)
      .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime));
    for (const { type = '', reason = '', note = '', series } of ours) {
      const times = series === undefined ? '' : `  x${series.count}`;
      narrator.line('noted', `${type}  ${reason}  ${note}${times}`);
    }
    return ours.length;
  }

  #summary(events: number): void {
    const { narrator } = this.#playground;
    const { created, pruned, rolls } = this.#feed;
    const seconds = (systemClock.monotonicMs() - startMs) / 1000;
    const pods = [...this.#replaced.values()].reduce((sum, count) => sum + count, 0);
    const nodes = [...this.#replaced].map(([node, count]) => `${node}: ${count}`);
    narrator.title('Summary', `in ${seconds.toFixed(1)} s`);
    narrator.line('created', `${created.length} objects created`, created.join(', '));
    narrator.line('rolled', `${pods} pods rolled`, nodes.join(', '));
    for (const [workload, cause] of rolls) {
      narrator.line('noted', `  ${workload}`, `because of ${cause}`);
    }
    narrator.line('removed', `${pruned.length} objects pruned`, pruned.join(', '));
    narrator.line('noted', `${events} events written`);
  }

  async #pods(labelSelector: string): Promise<readonly Pod[]> {
    const { client, namespace } = this.#playground;
    return (await client.list(Pod, { namespace, labelSelector })).items;
  }

  async #gone(pods: readonly Pod[], onGone?: (pod: Pod) => void): Promise<void> {
    const gone = pods.map(async (pod) => {
      const isGone = (found: Pod | undefined) => found?.metadata.uid !== pod.metadata.uid;
      await this.#waitFor(pod, isGone, `pod ${pod.metadata.name ?? ''} to go`);
      onGone?.(pod);
    });
    await Promise.all(gone);
  }

  /** Patches only the changed fields, as `kubectl edit` does, so that writes of the operator cause no conflict. */
  async #edit(spec: Partial<TenantSpec>): Promise<void> {
    const { client, namespace } = this.#playground;
    const patch = { type: 'merge', body: { spec } } as const;
    const by = { fieldManager: 'kubectl-edit' };
    await client.patch(ParseableTenant, { name: 'ordered', namespace }, patch, by);
  }

  #tenant(): Promise<ParseableTenant> {
    const { client, namespace } = this.#playground;
    return client.get(ParseableTenant, { name: 'ordered', namespace });
  }

  /** Waits until the operator has reconciled the newest spec. */
  async #ready(): Promise<void> {
    const { narrator } = this.#playground;
    const isReady = (found: ParseableTenant | undefined): boolean => {
      const { observedGeneration, conditions = [] } = found?.status ?? {};
      const progress = conditions.find(({ type }) => type === 'Progressing');
      narrator.wait(progress?.message ?? 'the operator');
      const isNew = observedGeneration === found?.metadata.generation;
      return isNew && isConditionTrue(conditions, 'Ready');
    };
    const after = await this.#waitFor(await this.#tenant(), isReady, 'the tenant');
    narrator.line('well', `${after?.status?.ready ?? ''} nodes ready`);
  }

  async #waitFor<T extends ParseableTenant | StatefulSet | Pod>(
    object: T,
    until: (found: T | undefined) => boolean,
    what: string,
  ): Promise<T | undefined> {
    const { client, narrator, signal } = this.#playground;
    narrator.wait(what);
    try {
      return await waitFor(client, object, { until, timeoutMs: settledWithinMs, signal });
    } finally {
      narrator.done();
    }
  }
}

function withLogLevel({ parseableConfig: all }: TenantSpec): Pick<TenantSpec, 'parseableConfig'> {
  const parseableConfig = all.map((config) =>
    config.name === 'back' ? { ...config, env: { ...config.env, P_LOG_LEVEL: 'debug' } } : config,
  );
  return { parseableConfig };
}
