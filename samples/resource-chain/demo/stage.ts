import { ConfigMap, Deployment, Pod, Secret, Service, waitFor } from 'operator-builder';
import type {
  Client,
  KubernetesObject,
  Namespace,
  ResourceType,
  WaitForOptions,
} from 'operator-builder';
import { siteNamespace } from '../site-objects.js';
import { Site, chainLabel, nameOf } from '../site.js';

/** A live object of a site, for example `Deployment web`. Its UID changes when it is created again. */
export interface Seen {
  readonly name: string;
  readonly uid: string;
}

const kinds: readonly ResourceType<KubernetesObject>[] = [ConfigMap, Secret, Service, Deployment];
const longestMs = 60_000;

/** Actions of a person on a site, and the objects that the person sees. */
export class SiteStage {
  /** The site as {@link create} sends it. */
  readonly site: Site;
  readonly #client: Client;
  readonly #signal: AbortSignal;

  constructor(client: Client, name: string, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
    this.site = {
      apiVersion: 'sites.example.com/v1',
      kind: 'Site',
      metadata: { name, labels: { [chainLabel]: 'v1' } },
      spec: { domain: `${name}.example.com`, replicas: 2, mailFrom: 'hello@example.com' },
    };
  }

  create(): Promise<Site> {
    return this.#client.create(this.site);
  }

  /** Moves the site to chain v2: one patch sets the chain label and the mail settings of that chain. */
  async migrate(): Promise<void> {
    const mail = { from: 'hello@example.com', queueLimit: 50 };
    const body = {
      metadata: { labels: { [chainLabel]: 'v2' } },
      spec: { mailFrom: null, mail },
    };
    await this.#client.patch(Site, this.#key, { type: 'merge', body });
  }

  async remove(): Promise<void> {
    await this.#client.delete(Site, this.#key);
  }

  /**
   * Waits until `chain` has reconciled the newest spec and all Deployments are rolled out.
   * @returns the number of ready Deployments of all, for example `2/2`
   */
  async settled(chain: string): Promise<string> {
    const site = await this.#waitFor((found) => found !== undefined && isSettled(found, chain));
    return site?.status?.ready ?? '';
  }

  /** Waits until the site has a deletion timestamp or is gone. @returns the finalizers that remain */
  async held(): Promise<readonly string[]> {
    const site = await this.#waitFor(
      (found) => found === undefined || found.metadata.deletionTimestamp !== undefined,
    );
    return site?.metadata.finalizers ?? [];
  }

  /** Waits until the site and its namespace are gone. */
  async gone(): Promise<void> {
    await this.#waitFor((found) => found === undefined);
    const until = (found: Namespace | undefined): boolean => found === undefined;
    await waitFor(this.#client, siteNamespace(this.site), this.#patiently(until));
  }

  /** Returns the objects of the site, by kind and name. */
  async objects(): Promise<readonly Seen[]> {
    const namespace = nameOf(this.site);
    const lists = await Promise.all(
      kinds.map(async (type) => {
        const { items } = await this.#client.list(type, { namespace });
        return items.map((item) => seen(type.kind, item));
      }),
    );
    return lists.flat().filter(({ name }) => name !== 'ConfigMap kube-root-ca.crt');
  }

  async pods(app: string): Promise<readonly Seen[]> {
    const within = { namespace: nameOf(this.site), labelSelector: `app=${app}` };
    const { items } = await this.#client.list(Pod, within);
    return items.map((item) => seen('Pod', item));
  }

  get #key(): { readonly name: string } {
    return { name: nameOf(this.site) };
  }

  #waitFor(until: (found: Site | undefined) => boolean): Promise<Site | undefined> {
    return waitFor(this.#client, this.site, this.#patiently(until));
  }

  #patiently<T>(until: WaitForOptions<T>['until']): WaitForOptions<T> {
    return { until, timeoutMs: longestMs, signal: this.#signal };
  }
}

function seen(kind: string, { metadata: { name = '', uid = '' } }: KubernetesObject): Seen {
  return { name: `${kind} ${name}`, uid };
}

function isSettled({ metadata, status }: Site, chain: string): boolean {
  const { ready = '', observedGeneration } = status ?? {};
  const [complete, all] = ready.split('/');
  return observedGeneration === metadata.generation && status?.chain === chain && complete === all;
}
