import { readFile } from 'node:fs/promises';
import { Event, Pod, StatefulSet, isConditionTrue, renderPlan, waitFor } from 'operator-builder';
import type { Builder, Client, OperatorEvents } from 'operator-builder';
import { parse } from 'yaml';
import { controllerName, ownedTypes } from '../reconcile-tenant.js';
import { ParseableTenant } from '../tenant.js';
import type { TenantSpec } from '../tenant.js';
import { tenantChain } from '../tenant-chain.js';
import type { Narrator } from './narrator.js';
import { PodRolls } from './pod-rolls.js';
import { Tally } from './tally.js';

/** What the story needs. */
export interface StoryOptions {
  /** The person at the keyboard: not the operator. */
  readonly client: Client;
  /** What the operator, which runs already, says that it does. */
  readonly emitter: OperatorEvents;
  readonly narrator: Narrator;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** What happened, for the summary. */
export interface StorySummary {
  readonly tally: Tally;
  /** Pods replaced, by node. */
  readonly replaced: ReadonlyMap<string, number>;
  readonly events: number;
}

const sample = new URL('../crs/ordered.yaml', import.meta.url);
const settledWithinMs = 60_000;

/** A tenant's life: created, changed, edited by hand, made smaller. */
export class Story {
  readonly #options: StoryOptions;
  readonly #tally: Tally;
  readonly #rolls: PodRolls;

  constructor(options: StoryOptions) {
    const { narrator, emitter } = options;
    this.#options = options;
    this.#tally = new Tally(narrator, emitter);
    this.#rolls = new PodRolls((node, pod) => {
      narrator.line('noted', `  pod ${pod} of ${node} replaced`);
    });
  }

  async tell(): Promise<StorySummary> {
    const { client, namespace, signal } = this.#options;
    const end = new AbortController();
    const both = AbortSignal.any([signal, end.signal]);
    const following = this.#rolls.follow(client, namespace, both);
    const chapters = this.#chapters().finally(() => end.abort());
    const [events] = await Promise.all([chapters, following]);
    return { tally: this.#tally, replaced: this.#rolls.replaced, events };
  }

  async #chapters(): Promise<number> {
    await this.#create();
    await this.#plan();
    await this.#change();
    await this.#repair();
    await this.#prune();
    return this.#events();
  }

  async #create(): Promise<void> {
    const { client, narrator, namespace } = this.#options;
    narrator.chapter('A tenant is created', 'kubectl apply -f samples/parseable/crs/ordered.yaml');
    const tenant = parse(await readFile(sample, 'utf8')) as ParseableTenant;
    const object = { ...tenant, metadata: { ...tenant.metadata, namespace } };
    await client.apply(object, { fieldManager: 'kubectl', force: true });
    await this.#available();
  }

  async #plan(): Promise<void> {
    const { client, narrator } = this.#options;
    narrator.chapter('What would a change do?', 'P_LOG_LEVEL=debug for the parseableConfig "back"');
    const tenant = withLogLevel(await this.#tenant());
    const options = { client, owner: tenant, controllerName, owns: ownedTypes };
    const chain: Builder = tenantChain({ ...options, rolloutOrder: tenant.spec.deploymentOrder });
    narrator.block(withShortHashes(renderPlan(await chain.plan(), { color: narrator.color })));
  }

  async #change(): Promise<void> {
    const { narrator } = this.#options;
    narrator.chapter('The change', 'kubectl edit parseabletenant ordered');
    const old = await this.#pods('node in (ingestor, querier)');
    this.#rolls.listen(true);
    const { parseableConfig } = withLogLevel(await this.#tenant()).spec;
    await this.#edit({ parseableConfig });
    await this.#gone(old);
    this.#rolls.listen(false);
    await this.#available();
  }

  async #repair(): Promise<void> {
    const { client, narrator, namespace } = this.#options;
    narrator.chapter('Somebody edits a StatefulSet by hand', 'kubectl scale --replicas=5');
    const key = { name: 'staged-ingestor', namespace };
    const patch = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
    const edited = await client.patch(StatefulSet, key, patch, { fieldManager: 'kubectl-edit' });
    const repaired = (found: StatefulSet | undefined): boolean => found?.spec?.replicas === 2;
    await this.#waitFor(edited, repaired, 'the repair');
    await this.#available();
  }

  async #prune(): Promise<void> {
    const { narrator } = this.#options;
    narrator.chapter('A node is taken out of the list', 'kubectl edit parseabletenant ordered');
    const old = await this.#pods('node=console');
    const { nodes } = (await this.#tenant()).spec;
    await this.#edit({ nodes: nodes.filter(({ name }) => name !== 'console') });
    await this.#available();
    await this.#gone(old);
    narrator.line('well', 'its pods are gone; the other nodes were not touched');
  }

  async #events(): Promise<number> {
    const { client, narrator, namespace } = this.#options;
    narrator.chapter('What Kubernetes was told', 'kubectl get events');
    const events = await client.list(Event, { namespace });
    const ours = events.items
      .filter((each) => each.reportingController === controllerName)
      .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime));
    for (const { type, reason, note, series } of ours) {
      const times = series === undefined ? '' : `  x${series.count}`;
      narrator.line('noted', `${type ?? ''}  ${reason ?? ''}  ${note ?? ''}${times}`);
    }
    return ours.length;
  }

  async #pods(labelSelector: string): Promise<readonly Pod[]> {
    const { client, namespace } = this.#options;
    return (await client.list(Pod, { namespace, labelSelector })).items;
  }

  async #gone(pods: readonly Pod[]): Promise<void> {
    const isGone = (found: Pod | undefined): boolean => found === undefined;
    await Promise.all(
      pods.map((pod) => this.#waitFor(pod, isGone, `pod ${pod.metadata.name ?? ''} to go`)),
    );
  }

  /** As `kubectl edit`: a patch of what changed, whatever the operator writes meanwhile. */
  async #edit(spec: Partial<TenantSpec>): Promise<void> {
    const { client, namespace } = this.#options;
    const key = { name: 'ordered', namespace };
    const patch = { type: 'merge', body: { spec } } as const;
    await client.patch(ParseableTenant, key, patch, { fieldManager: 'kubectl-edit' });
  }

  #tenant(): Promise<ParseableTenant> {
    const { client, namespace } = this.#options;
    return client.get(ParseableTenant, { name: 'ordered', namespace });
  }

  /** Waits until the operator says that the newest spec is carried out. */
  async #available(): Promise<void> {
    const { narrator } = this.#options;
    const before = await this.#tenant();
    const done = (found: ParseableTenant | undefined): boolean => {
      narrator.wait(conditionOf(found) ?? 'the operator');
      return isSettled(found);
    };
    const after = await this.#waitFor(before, done, 'the tenant to become available');
    narrator.line('well', `${after?.status?.ready ?? ''} nodes ready`);
  }

  async #waitFor<T extends ParseableTenant | StatefulSet | Pod>(
    object: T,
    until: (found: T | undefined) => boolean,
    what: string,
  ): Promise<T | undefined> {
    const { client, narrator, signal } = this.#options;
    narrator.wait(what);
    try {
      return await waitFor(client, object, { until, timeoutMs: settledWithinMs, signal });
    } finally {
      narrator.done();
    }
  }
}

function withLogLevel(tenant: ParseableTenant): ParseableTenant {
  const parseableConfig = tenant.spec.parseableConfig.map((config) =>
    config.name === 'back' ? { ...config, env: { ...config.env, P_LOG_LEVEL: 'debug' } } : config,
  );
  return { ...tenant, spec: { ...tenant.spec, parseableConfig } };
}

/** Sixty-four digits twice in a line hide what it says. */
function withShortHashes(text: string): string {
  return text.replaceAll(/([0-9a-f]{10})[0-9a-f]{54}/g, '$1…');
}

function isSettled(tenant: ParseableTenant | undefined): boolean {
  const { conditions, observedGeneration } = tenant?.status ?? {};
  return (
    observedGeneration === tenant?.metadata.generation &&
    isConditionTrue(conditions, 'Available') &&
    !isConditionTrue(conditions, 'Progressing') &&
    !isConditionTrue(conditions, 'Degraded')
  );
}

function conditionOf(tenant: ParseableTenant | undefined): string | undefined {
  return tenant?.status?.conditions?.find(({ type }) => type === 'Progressing')?.message;
}
