import { ConfigMap, Deployment, Pod, Service, waitFor } from 'operator-builder';
import type { Client, KubernetesObject, ResourceType, WaitForOptions } from 'operator-builder';
import type { Phase } from 'operator-builder/lifecycle';
import { serverName } from '../http-server.js';
import { SampleConfig } from '../sample-config.js';
import { ownedTypes } from '../operator.js';

/** A live object of the system, for example `Deployment http-server`, with its identity and version. */
export interface Seen {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Values of the fields that {@link SampleStage.editByHand} changes. */
export interface HandEdits {
  readonly image: string | undefined;
  readonly containers: number;
  readonly serviceLabels: Readonly<Record<string, string>>;
  readonly page: string | undefined;
}

const longestMs = 60_000;

/** Actions of a person on the system, and the objects that the person sees. */
export class SampleStage {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  /** Creates the configuration, as a user would by `kubectl apply`. */
  create(): Promise<SampleConfig> {
    return this.#client.create<SampleConfig>({
      ...{ apiVersion: 'lifecycle.example.com/v1alpha1', kind: 'SampleConfig' },
      metadata: { name: 'sample', labels: { 'app.kubernetes.io/part-of': 'demo' } },
      spec: { replicas: 2 },
    });
  }

  async remove(): Promise<void> {
    await this.#client.delete(SampleConfig, { name: 'sample' });
  }

  config(): Promise<SampleConfig> {
    return this.#client.get(SampleConfig, { name: 'sample' });
  }

  /** Waits until `version` is deployed and healthy. */
  async deployed(version: string): Promise<SampleConfig> {
    const phase: Phase = 'Deployed';
    return this.until(({ status }) => {
      return status?.phase === phase && status.observedVersion === version && isHealthy(status);
    });
  }

  /** Waits until `wanted` returns true for the configuration. */
  async until(wanted: (config: SampleConfig) => boolean): Promise<SampleConfig> {
    const config = await this.config();
    const until = (found: SampleConfig | undefined): boolean =>
      found !== undefined && wanted(found);
    return (await waitFor(this.#client, config, this.#patiently(until))) ?? config;
  }

  /** Waits until the configuration is gone. */
  async gone(config: SampleConfig): Promise<void> {
    const until = (found: SampleConfig | undefined): boolean => found === undefined;
    await waitFor(this.#client, config, this.#patiently(until));
  }

  /** Edits objects like a user. The operator reverts some of the changes, and keeps the others. */
  async editByHand(): Promise<void> {
    const deployment = await this.#client.get(Deployment, this.#server);
    const body = {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'nginx', image: 'nginx:latest' },
              { name: 'debug', image: 'busybox:1' },
            ],
          },
        },
      },
    };
    await this.#client.patch(Deployment, this.#server, { type: 'strategic', body });
    const labels = { metadata: { labels: { team: 'night' } } };
    await this.#client.patch(Service, this.#server, { type: 'merge', body: labels });
    const data = { data: { 'index.html': '<h1>Closed</h1>\n' } };
    await this.#client.patch(ConfigMap, this.#server, { type: 'merge', body: data });
    const until = (found: Deployment | undefined): boolean => isAsBefore(deployment, found);
    await waitFor(this.#client, deployment, this.#patiently(until));
  }

  /** Returns the current state of the fields that {@link editByHand} changes. */
  async edits(): Promise<HandEdits> {
    const { spec } = await this.#client.get(Deployment, this.#server);
    const { metadata } = await this.#client.get(Service, this.#server);
    const { data } = await this.#client.get(ConfigMap, this.#server);
    const containers = spec?.template.spec?.containers ?? [];
    return {
      image: containers.find(({ name }) => name === 'nginx')?.image,
      containers: containers.length,
      serviceLabels: metadata.labels ?? {},
      page: data?.['index.html'],
    };
  }

  /** Returns the objects of the system, by kind and name. */
  async objects(): Promise<readonly Seen[]> {
    const lists = await Promise.all(ownedTypes.map((type) => this.#ofType(type)));
    return lists.flat();
  }

  /** Whether the Service selects at least one ready pod. */
  async serves(): Promise<boolean> {
    const { spec } = await this.#client.get(Service, this.#server);
    const labelSelector = Object.entries(spec?.selector ?? {}).map(
      ([key, value]) => `${key}=${value}`,
    );
    const within = { namespace: this.#namespace, labelSelector: labelSelector.join() };
    const { items } = await this.#client.list(Pod, within);
    return items.some(isReady);
  }

  async #ofType(type: ResourceType<KubernetesObject>): Promise<readonly Seen[]> {
    const { items } = await this.#client.list(type, { namespace: this.#namespace });
    return items
      .filter(({ metadata }) => metadata.ownerReferences !== undefined)
      .map(({ metadata: { name = '', uid = '', resourceVersion = '' } }) => {
        return { name: `${type.kind} ${name}`, uid, resourceVersion };
      });
  }

  get #server(): { readonly name: string; readonly namespace: string } {
    return { name: serverName, namespace: this.#namespace };
  }

  #patiently<T>(until: WaitForOptions<T>['until']): WaitForOptions<T> {
    return { until, timeoutMs: longestMs, signal: this.#signal };
  }
}

function isHealthy({ conditions = [] }: NonNullable<SampleConfig['status']>): boolean {
  const of = (type: string) => conditions.find((condition) => condition.type === type)?.status;
  return of('Available') === 'True' && of('Progressing') === 'False' && of('Degraded') === 'False';
}

/** Whether a Deployment was edited and then reverted to its previous state. */
function isAsBefore(before: Deployment, now: Deployment | undefined): boolean {
  if (now?.metadata.generation === before.metadata.generation) return false;
  const images = (object: Deployment | undefined): string =>
    (object?.spec?.template.spec?.containers ?? []).map(({ image }) => image).join();
  return images(now) === images(before);
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
  return ready === true && metadata.deletionTimestamp === undefined;
}
