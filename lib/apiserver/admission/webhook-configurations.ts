import type { V1MutatingWebhook } from '@kubernetes/client-node';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Wire } from '../../object/wire.js';
import { MatchConditions } from './match-conditions.js';
import type { MvccLog } from '../storage/mvcc-log.js';

/** A webhook of either kind; a validating one has no `reinvocationPolicy`. */
export type Webhook = Wire<V1MutatingWebhook>;

/** A webhook and its identity in the configuration. */
export interface ConfiguredWebhook {
  /** The identity: the name of the configuration, the index in it, and the webhook's name. */
  readonly id: string;
  readonly webhook: Webhook;
  readonly conditions: MatchConditions;
}

const group = 'admissionregistration.k8s.io';
const collections = {
  mutating: `${group}/mutatingwebhookconfigurations`,
  validating: `${group}/validatingwebhookconfigurations`,
} as const;

/** The currently configured webhooks. */
export class WebhookConfigurations {
  readonly #log: MvccLog;
  readonly #known = new Map<string, { end: number; webhooks: readonly ConfiguredWebhook[] }>();

  constructor(log: MvccLog) {
    this.#log = log;
  }

  /** If true, no webhook is configured. */
  get empty(): boolean {
    return Object.values(collections).every((name) => this.#log.collection(name).size === 0);
  }

  /** Returns all webhooks of a kind, ordered by the names of their configurations. */
  all(type: 'mutating' | 'validating'): readonly ConfiguredWebhook[] {
    const collection = this.#log.collection(collections[type]);
    const known = this.#known.get(type);
    if (known?.end === collection.end) return known.webhooks;
    const webhooks = collection.keys('').flatMap((key) => webhooksOf(collection.get(key)));
    this.#known.set(type, { end: collection.end, webhooks });
    return webhooks;
  }
}

function webhooksOf(configuration: UnstructuredObject | undefined): ConfiguredWebhook[] {
  if (configuration === undefined) return [];
  const { name = '' } = configuration.metadata;
  const webhooks = (configuration['webhooks'] ?? []) as readonly Webhook[];
  return webhooks.map((webhook, index) => ({
    id: `${name}/${index}/${webhook.name}`,
    webhook,
    conditions: new MatchConditions(webhook),
  }));
}
