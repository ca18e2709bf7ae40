import type { UnstructuredObject } from '../object/index.js';
import type { Clock, Random } from '../system/index.js';
import type { KindRegistry, ServedKind } from './kinds/served-kind.js';
import type { AdmissionPolicies } from './admission/admission-policies.js';
import type { WebhookConfigurations } from './admission/match-webhook.js';
import type { Connections } from './outside/connections.js';
import type { Outside } from './outside/outside.js';
import type { WebhookClient } from './outside/webhook-client.js';
import type { AccessControl } from './auth/access-control.js';
import { SharedAlarms } from './reads/watch-stream.js';
import type { CommandRunner } from './requests/exec-requests.js';
import type { ServerView } from './rules/kind-rules.js';
import { TakenAddresses } from './rules/service-addresses.js';
import type { MvccLog } from './storage/mvcc-log.js';

/** State that all parts of the server share. */
export interface ServerCore {
  readonly log: MvccLog;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  /** Timers that wake watches which wait for new changes. */
  readonly alarms: SharedAlarms;
  /** The interval of a watch's bookmarks, in milliseconds. */
  readonly bookmarkEveryMs: number;
  readonly random: Random;
  readonly access: AccessControl;
  /** Calls to other servers, such as webhooks, during a write. */
  readonly outside: Outside;
  /** Random values that differ in each attempt of a repeated write, such as uids of webhook calls. */
  readonly systemRandom: Random;
  readonly webhooks: WebhookConfigurations;
  readonly policies: AdmissionPolicies;
  readonly mutatingPolicies: AdmissionPolicies;
  readonly webhookClient: WebhookClient;
  /** Targets of Services, and connections to other servers. */
  readonly connections: Connections;
  /** Store custom resources without the rules that need a cluster; see `EmbeddedApiServerOptions`. */
  readonly looseCustomResources: boolean;
  /** Pods may only name ServiceAccounts that exist. */
  readonly requireServiceAccounts: boolean;
  /** Answers commands in simulated containers. Undefined: commands are refused. */
  readonly commands: CommandRunner | undefined;
  /**
   * Objects that a real server stores in another form than reads show. It writes their next update even without
   * changes, and so does this server.
   */
  readonly incomplete: WeakSet<UnstructuredObject>;
  /** The part of the server that the rules of kinds can read. */
  readonly view: ServerView;
}

export function createServerCore(
  parts: Omit<ServerCore, 'view' | 'alarms' | 'incomplete'>,
): ServerCore {
  const { log, clock, random, looseCustomResources, requireServiceAccounts } = parts;
  const view: ServerView = {
    clock,
    random,
    addresses: new TakenAddresses(log),
    looseCustomResources,
    requireServiceAccounts,
    isDryRun: false,
    find: (collection, key) => log.collection(collection).get(key),
    *all(name) {
      const collection = log.collection(name);
      for (const key of collection.keys('')) {
        const object = collection.get(key);
        if (object !== undefined) yield object;
      }
    },
  };
  return { ...parts, view, alarms: new SharedAlarms(clock), incomplete: new WeakSet() };
}

/** Returns the server core for a write that is not stored. */
export function dryRunCore(core: ServerCore): ServerCore {
  return { ...core, view: { ...core.view, isDryRun: true } };
}

/** Returns true if webhooks or policies may have to admit writes. */
export function hasAdmission({ webhooks, policies, mutatingPolicies }: ServerCore): boolean {
  return !webhooks.empty || !policies.empty || !mutatingPolicies.empty;
}

/** Returns the key of an object in its collection. */
export function storageKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns the stored object with this name, in the version of `kind`. */
export function findObject(
  core: ServerCore,
  kind: ServedKind,
  key: { readonly namespace: string; readonly name: string },
): UnstructuredObject | undefined {
  const stored = core.log.collection(kind.collection).get(storageKey(key.namespace, key.name));
  return stored === undefined ? undefined : kind.fromStorage(stored);
}

/**
 * Returns the kind whose rules apply to a write through `kind`: the storage version of a built-in kind, else `kind`.
 */
export function rulingKind(core: ServerCore, kind: ServedKind): ServedKind {
  if (kind.custom !== undefined || kind.isStorageVersion) return kind;
  return core.kinds.storedIn(kind.collection) ?? kind;
}

/** Returns true if objects of `kind` are stored without the rules that need a cluster. */
export function isLoose({ looseCustomResources }: ServerCore, kind: ServedKind): boolean {
  return looseCustomResources && kind.custom !== undefined;
}
