import { createHash } from 'node:crypto';
import {
  isForbidden,
  findCondition,
  isConditionTrue,
  describeObject,
  isJsonObject,
  CustomResourceDefinition,
  keyOf,
} from '../object/index.js';
import type { TypeMeta } from '../object/index.js';
import {
  sleep,
  systemClock,
  OperatorError,
  isOperatorError,
  refuseUnknownOptions,
} from '../system/index.js';
import type { Clock } from '../system/index.js';
import type { CallOptions, Client } from './client.js';
import { getIfExists } from './object-changes.js';
import { mayPass, waitFor, withinLimits } from './wait-for.js';
import type { WaitLimits } from './wait-for.js';

/** Options of {@link ensureCrd}. */
export interface EnsureCrdOptions extends CallOptions {
  /** The owner of the definition's fields. @defaultValue 'operator-builder' */
  readonly fieldManager?: string | undefined;
  /** The time limit in milliseconds, above 0; `Infinity` for no limit. @defaultValue 30_000 */
  readonly timeoutMs?: number | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
}

/** The hash of the last applied definition, which reveals fields that were removed since. */
const crdHashAnnotation = 'operator-builder.io/definition-hash';

/**
 * Installs or updates a custom resource definition, and waits until its kind is served.
 *
 * ## Flow
 * 1. Read the definition. If the definition is being deleted, wait until it is gone.
 * 2. If the live definition is up to date and established, stop: one read is all.
 * 3. Apply the definition (server-side, `force`), unless the live one is up to date.
 * 4. Wait for the condition `Established`.
 * 5. Wait until discovery lists the kind in each served version, which happens a moment later.
 *
 * ## Guarantees
 * - It never deletes a definition or objects of its kind, not even at the time limit.
 * - It throws at once, not at the time limit, if another definition uses the same names.
 *
 * The account needs `get`, `list`, `watch`, `create` and `patch` of customresourcedefinitions.
 * @returns the definition, as read from the server
 * @throws OperatorError `InvalidOption`: the object is not a definition, or an option is invalid.
 * @throws OperatorError `InvalidObject`: the names of the definition are taken; the message is the server's.
 * @throws OperatorError `Timeout`: the kind was not served in time.
 * @throws ApiError 422: the server rejects the definition.
 */
export async function ensureCrd(
  client: Client,
  crd: CustomResourceDefinition,
  options: EnsureCrdOptions = {},
): Promise<CustomResourceDefinition> {
  const { timeoutMs = 30_000, clock = systemClock, signal } = options;
  const names = { timeoutMs, clock, signal, fieldManager: true };
  refuseUnknownOptions<EnsureCrdOptions>('ensureCrd', options, names);
  if (!(timeoutMs > 0)) {
    throw new OperatorError('InvalidOption', `ensureCrd: timeoutMs ${timeoutMs}: want more than 0`);
  }
  const given: unknown = crd;
  if (!isJsonObject(given) || given['kind'] !== CustomResourceDefinition.kind) {
    const wanted = 'want a CustomResourceDefinition, such as the crd of a defined resource';
    throw new OperatorError('InvalidOption', `ensureCrd: ${wanted}`);
  }
  const endMs = clock.monotonicMs() + timeoutMs;
  const live = await unlessDeleted(client, crd, { timeoutMs, clock, signal });
  const isUnchanged = isAsDesired(live, crd);
  const current = isUnchanged ? live : await apply(client, crd, options);
  if (isUnchanged && isEstablished(current)) return current;
  const left = (): Waiting => {
    return { timeoutMs: Math.max(1, endMs - clock.monotonicMs()), clock, signal };
  };
  // If the apply changed the definition, its `NamesAccepted` condition may still describe the version before.
  const isChanged = current.metadata.generation !== live?.metadata.generation;
  const stale = isChanged ? refusalOf(current) : undefined;
  const installed = isEstablished(current)
    ? current
    : await established(client, current, { stale, ...left() });
  await listed(client, installed, left());
  return installed;
}

type Waiting = Omit<WaitLimits, 'what'>;

/**
 * Returns the live definition. Waits until a definition under deletion is gone, since an apply does not stop a
 * deletion.
 */
async function unlessDeleted(
  client: Client,
  crd: CustomResourceDefinition,
  waiting: Waiting,
): Promise<CustomResourceDefinition | undefined> {
  const { signal } = waiting;
  const live = await getIfExists(client, CustomResourceDefinition, keyOf(crd), { signal });
  if (live?.metadata.deletionTimestamp === undefined) return live;
  const { uid } = live.metadata;
  return waitFor(client, crd, { ...waiting, until: (now) => now?.metadata.uid !== uid });
}

async function apply(
  client: Client,
  crd: CustomResourceDefinition,
  { fieldManager = 'operator-builder', signal }: EnsureCrdOptions,
): Promise<CustomResourceDefinition> {
  const { annotations } = crd.metadata;
  const marked = { ...annotations, [crdHashAnnotation]: hashOf(crd) };
  // A definition from a server or a generator may have a status, which an apply must not send.
  const { apiVersion, kind, spec } = crd;
  const desired = { apiVersion, kind, spec, metadata: { ...crd.metadata, annotations: marked } };
  return (await client.apply(desired, { fieldManager, force: true, signal })).object;
}

async function established(
  client: Client,
  applied: CustomResourceDefinition,
  { stale, ...waiting }: Waiting & { readonly stale: string | undefined },
): Promise<CustomResourceDefinition> {
  const until = (crd: CustomResourceDefinition | undefined): boolean => {
    const refusal = refusalOf(crd);
    if (refusal !== undefined && refusal !== stale) throw namesTaken(applied, refusal);
    return isEstablished(crd);
  };
  try {
    return (await waitFor(client, applied, { ...waiting, until })) ?? applied;
  } catch (error) {
    if (stale === undefined || !isOperatorError(error, 'Timeout')) throw error;
    throw namesTaken(applied, stale);
  }
}

/** The first and the longest delay between two discovery requests. */
const [firstLookMs, longestLookMs] = [50, 1_000];

/** Waits until discovery lists the kind in every served version. */
async function listed(
  client: Client,
  crd: CustomResourceDefinition,
  waiting: Waiting,
): Promise<void> {
  const { group, names, versions } = crd.spec;
  const what = `wait until discovery lists ${names.kind} of ${describeObject(crd)}`;
  let problem: unknown;
  const isListed = async (type: TypeMeta): Promise<boolean> => {
    try {
      await client.resourceType(type);
      return true;
    } catch (error) {
      // RBAC forbids discovery to the account, so the check is skipped.
      if (isForbidden(error)) return true;
      problem = mayPass(error) ? error : undefined;
      if (problem === undefined && !isOperatorError(error, 'UnknownKind')) throw error;
      return false;
    }
  };
  await withinLimits({ what, ...waiting, problem: () => problem }, async (deadline) => {
    for (const { name, served } of versions) {
      const type = { apiVersion: `${group}/${name}`, kind: names.kind };
      let delayMs = firstLookMs;
      while (served && !(await deadline.until(isListed(type)))) {
        await sleep(waiting.clock, delayMs, deadline.signal);
        delayMs = Math.min(2 * delayMs, longestLookMs);
      }
    }
  });
}

function isEstablished(crd: CustomResourceDefinition | undefined): boolean {
  const conditions = crd?.status?.conditions;
  return (
    isConditionTrue(conditions, 'Established') &&
    findCondition(conditions, 'NamesAccepted')?.status !== 'False'
  );
}

/** Returns the server's reason for refusing the names; undefined if it does not refuse them. */
function refusalOf(crd: CustomResourceDefinition | undefined): string | undefined {
  const names = findCondition(crd?.status?.conditions, 'NamesAccepted');
  if (names?.status !== 'False') return undefined;
  return `${names.reason ?? 'NamesAccepted=False'}: ${names.message ?? ''}`;
}

function namesTaken(crd: CustomResourceDefinition, refusal: string): OperatorError {
  return new OperatorError('InvalidObject', `${describeObject(crd)} is not served: ${refusal}`);
}

function isAsDesired(
  live: CustomResourceDefinition | undefined,
  crd: CustomResourceDefinition,
): live is CustomResourceDefinition {
  if (live?.metadata.annotations?.[crdHashAnnotation] !== hashOf(crd)) return false;
  const { labels, annotations } = crd.metadata;
  return holds(live, { spec: crd.spec, metadata: { labels, annotations } });
}

/** Whether `live` has every value of `desired`; it may have more, such as defaults. */
function holds(live: unknown, desired: unknown): boolean {
  if (desired === undefined) return true;
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || live.length !== desired.length) return false;
    return desired.every((item, index) => holds(live[index], item));
  }
  if (!isJsonObject(desired)) return live === desired;
  if (!isJsonObject(live)) return false;
  return Object.entries(desired).every(
    ([name, value]) =>
      value === undefined || (Object.hasOwn(live, name) && holds(live[name], value)),
  );
}

function hashOf({ metadata, spec }: CustomResourceDefinition): string {
  const { labels, annotations } = metadata;
  return createHash('sha256').update(JSON.stringify({ labels, annotations, spec })).digest('hex');
}
