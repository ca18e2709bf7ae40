import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { Clock } from '../system/clock.js';
import type { Random } from '../system/random.js';
import type { KindRegistry } from './kinds/kind-registry.js';
import type { ServedKind } from './kinds/served-kind.js';
import type { AdmissionPolicies } from './admission/admission-policies.js';
import type { WebhookConfigurations } from './admission/webhook-configurations.js';
import type { Outside } from './outside/outside.js';
import type { WebhookClient } from './outside/webhook-client.js';
import type { AccessControl } from './auth/access-control.js';
import { SharedAlarms } from './reads/shared-alarms.js';
import type { ServerView } from './rules/server-view.js';
import { TakenAddresses } from './rules/taken-addresses.js';
import type { MvccLog } from './storage/mvcc-log.js';

/** What every part of the server works on. */
export interface ServerCore {
  readonly log: MvccLog;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  /** What wakes watches. */
  readonly alarms: SharedAlarms;
  /** How far apart the bookmarks of a watch are. */
  readonly bookmarkEveryMs: number;
  readonly random: Random;
  readonly access: AccessControl;
  /** What the server asks of others while it writes. */
  readonly outside: Outside;
  /** Chance that a write does not repeat when it is begun anew. */
  readonly systemRandom: Random;
  readonly webhooks: WebhookConfigurations;
  readonly policies: AdmissionPolicies;
  readonly webhookClient: WebhookClient;
  /** Custom resources are what their writers make of them; see `EmbeddedApiServerOptions`. */
  readonly looseCustomResources: boolean;
  /** What the rules of kinds see of it. */
  readonly view: ServerView;
}

/** Puts the parts together. */
export function createServerCore(parts: Omit<ServerCore, 'view' | 'alarms'>): ServerCore {
  const { log, clock, random } = parts;
  const view: ServerView = {
    clock,
    random,
    addresses: new TakenAddresses(log),
    find: (collection, key) => log.collection(collection).get(key),
    *all(name) {
      const collection = log.collection(name);
      for (const key of collection.keys('')) {
        const object = collection.get(key);
        if (object !== undefined) yield object;
      }
    },
  };
  return { ...parts, view, alarms: new SharedAlarms(clock) };
}

/** The key of an object in its collection. */
export function storageKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The stored object of that name, in the version that `kind` is served in. */
export function findObject(
  core: ServerCore,
  kind: ServedKind,
  key: { readonly namespace: string; readonly name: string },
): UnstructuredObject | undefined {
  const stored = core.log.collection(kind.collection).get(storageKey(key.namespace, key.name));
  return stored === undefined ? undefined : kind.fromStorage(stored);
}

/** The kind whose rules hold for writes through `kind`: for a built-in one, its stored version. */
export function rulingKind(core: ServerCore, kind: ServedKind): ServedKind {
  if (kind.custom !== undefined || kind.isStorageVersion) return kind;
  return core.kinds.storedIn(kind.collection) ?? kind;
}

/** Whether objects of `kind` are what their writers make of them. */
export function isLoose({ looseCustomResources }: ServerCore, kind: ServedKind): boolean {
  return looseCustomResources && kind.custom !== undefined;
}
