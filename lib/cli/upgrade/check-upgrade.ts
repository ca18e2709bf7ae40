import omit from 'lodash/omit.js';
import type { Client } from '../../client/index.js';
import { getIfExists } from '../../client/index.js';
import { EmbeddedCluster } from '../../apiserver/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import {
  isApiError,
  describeObject,
  Namespace,
  keyOf,
  referenceTo,
  versionOf,
} from '../../object/index.js';
import type { UnstructuredObject, ObjectReference } from '../../object/index.js';
import { asError, OperatorError, isOperatorError, VirtualClock } from '../../system/index.js';
import type { Logger } from '../../system/index.js';
import { InProcessWebhooks } from '../in-process-webhooks.js';
import { breakingDefinitions } from './breaking-definitions.js';
import { checkManager, idOf, objectsIn } from './cluster-state.js';
import { compareStates } from './compare-states.js';
import { replay } from './replay.js';
import type { ReplayEnd, ReplayFailure } from './replay.js';
import { resourceOf, unserved, upgradeDefinitions } from './upgrade-definitions.js';
import type { DefinitionsResult } from './upgrade-definitions.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Finding, HarmlessChange, UpgradeReport } from './upgrade-report.js';

export interface UpgradeCheck {
  /** The version before the upgrade. */
  readonly from: OperatorDefinition;
  /** The new version. */
  readonly to: OperatorDefinition;
  /** Stored objects: the operator's custom resources and other objects it needs, such as Secrets. */
  readonly resources: readonly UnstructuredObject[];
  /** Namespace for namespaced objects without one. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Checks the effects of an operator's upgrade. The old version reconciles the resources in an embedded cluster with
 * simulated workloads until it settles; then the new version does, with its definitions. The report lists the
 * differences. Time is simulated, so rollouts take no real time.
 * @throws OperatorError `InvalidConfig`: the old version fails or does not settle on the resources, which
 * leaves no state to compare with
 */
export async function checkUpgrade(check: UpgradeCheck): Promise<UpgradeReport> {
  const { from, to, resources, namespace, logger, signal } = check;
  const clock = new VirtualClock();
  // The definitions of each version name their own service, so that the server calls the converters of that version.
  const old = conversionsOf(from, { clock, logger, name: 'conversions-before' });
  const current = conversionsOf(to, { clock, logger, name: 'conversions-after' });
  const services = { ...old.services, ...current.services };
  const { crds } = old;
  const cluster = await EmbeddedCluster.start({ crds, services, simulateWorkloads: true, clock });
  try {
    const stored = await storeResources(resources, cluster.client(), namespace);
    const settings = { cluster, logger, signal };
    const first = await replay(from, settings);
    refuseFailures(first, from);
    const before = objectsIn(cluster.snapshot());
    const present = stored.map((object) => before.get(idOf(object)) ?? object);
    const defined = await upgradeDefinitions({
      ...{ from, to, crds: current.crds, stored: present, cluster },
    });
    const end = await replay(to, { ...settings, skipped: defined.skipped, remake: true });
    const after = objectsIn(cluster.snapshot());
    const compared = compareStates({ before, after, remade: end.remade });
    const ofDefinitions = [
      ...defined.findings,
      ...unserved(stored, to).filter(({ ref }) => !isVersionReported(ref, defined, to)),
    ];
    const breaking = breakingDefinitions({
      ...{ ...defined, before: crds, after: current.crds, findings: ofDefinitions },
    });
    return {
      operator: to.name,
      resources: stored.map((object) => withoutUid(referenceTo(object))),
      findings: [
        ...ofDefinitions,
        ...breaking.findings,
        ...end.refused.filter(({ ref }) => !isRecreated(ref, compared.findings)),
        ...end.failures.flatMap((failure) => failed(failure, end)),
        ...(first.restless.length > 0 ? [] : end.restless.map(restless)),
        ...compared.findings,
      ],
      changes: [...defined.changes, ...breaking.changes, ...unreported(compared.changes, defined)],
    };
  } finally {
    await cluster.stop();
  }
}

/** Returns services that convert between versions, and the operator's definitions, which name these services. */
function conversionsOf(
  operator: OperatorDefinition,
  settings: ConstructorParameters<typeof InProcessWebhooks>[0],
) {
  const { webhooks = [] } = operator;
  const served = new InProcessWebhooks(settings);
  served.use(webhooks.filter(({ type }) => type === 'conversion'));
  return { services: served.services, crds: served.definitionsOf(operator) };
}

/** Whether the operator recreated the object after a refused write, as some operators do. */
function isRecreated(ref: ObjectReference, findings: readonly Finding[]): boolean {
  return findings.some(
    (found) => found.type === 'recreated' && describeObject(found.ref) === describeObject(ref),
  );
}

function refuseFailures({ failures }: ReplayEnd, { name }: OperatorDefinition): void {
  if (failures.length === 0) return;
  const list = failures.map(({ ref, error }) => `  ${describeObject(ref)}: ${error.message}`);
  const remedy = 'correct them, so that the versions can be compared';
  const what = `the old version of ${name} fails on stored resources; ${remedy}:`;
  throw new OperatorError('InvalidConfig', [what, ...list].join('\n'));
}

/** Omits a failure that only repeats a refused write. */
function failed({ ref, error }: ReplayFailure, { refused }: ReplayEnd): readonly Finding[] {
  const isImmutable = isOperatorError(error, 'ImmutableField');
  if (isImmutable || isApiError(error)) {
    // The messages of an `ImmutableField` error and of an API error name the object in one of these forms.
    const isOf = ({ ref: object }: Finding): boolean =>
      [' ', ': '].some((end) => error.message.includes(`${describeObject(object)}${end}`));
    if (refused.some(isOf)) return [];
  }
  const type = isImmutable ? 'refused' : 'failed';
  const message = isImmutable ? error.message : `the new version fails on it: ${error.message}`;
  return [finding(type, ref, { message })];
}

function restless(ref: ObjectReference): Finding {
  const message = 'the new version keeps writing the object';
  return finding('restless', ref, {
    message,
    remedy: 'write the object only if it differs from the desired state',
  });
}

/** Whether a finding already reports that the version is gone. */
function isVersionReported(
  { apiVersion, kind }: ObjectReference,
  { findings }: DefinitionsResult,
  operator: OperatorDefinition,
): boolean {
  const definition = resourceOf({ apiVersion, kind }, operator)?.crd;
  return findings.some(
    ({ type, ref, changes }) =>
      type === 'version' &&
      ref.name === definition?.metadata.name &&
      changes.some(({ from }) => from === versionOf(apiVersion)),
  );
}

/** Returns the changes that new definitions do not cause by themselves. */
function unreported(
  changes: readonly HarmlessChange[],
  defined: DefinitionsResult,
): readonly HarmlessChange[] {
  const reported = [...defined.changes, ...defined.findings].flatMap(({ ref, changes: of }) =>
    of.map(({ path }) => `${describeObject(ref)} ${path}`),
  );
  return changes.flatMap((change) => {
    const rest = change.changes.filter(
      ({ path }) => !reported.includes(`${describeObject(change.ref)} ${path}`),
    );
    return change.changes.length > 0 && rest.length === 0 ? [] : [{ ...change, changes: rest }];
  });
}

/**
 * Metadata of the source cluster. Owner references are also removed: their owners are absent, so that the
 * objects would be garbage-collected.
 */
const ofElsewhere = [
  ...['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds', 'ownerReferences'],
] as const;

/**
 * Stores the objects of files in an empty cluster, with their namespaces and status.
 * @param namespace - the namespace of namespaced objects that name no namespace
 * @returns the stored objects; if several are the same object, the last of them
 * @throws OperatorError `InvalidConfig`: the cluster rejects an object
 */
export async function storeResources(
  objects: readonly UnstructuredObject[],
  client: Client,
  namespace: string,
): Promise<readonly UnstructuredObject[]> {
  const stored = new Map<string, UnstructuredObject>();
  for (const object of objects) {
    try {
      const made = await store(object, client, namespace);
      stored.set(idOf(made), made);
    } catch (thrown) {
      const error = asError(thrown);
      const what = `${describeObject(object)} can't be stored with the definitions of the old version`;
      throw new OperatorError('InvalidConfig', `${what}: ${error.message}`, { cause: error });
    }
  }
  return [...stored.values()];
}

const writing = { fieldManager: checkManager };

async function store(
  object: UnstructuredObject,
  client: Client,
  namespace: string,
): Promise<UnstructuredObject> {
  const type = await client.resourceType(object);
  const place = type.namespaced ? { namespace: object.metadata.namespace ?? namespace } : {};
  const metadata = { ...omit(object.metadata, ofElsewhere), ...place };
  if (place.namespace !== undefined) await ensureNamespace(place.namespace, client);
  const given = { ...object, metadata };
  const made = await put(omit(given, 'status'), client);
  const { status } = object;
  if (status === undefined) return made;
  return client.update({ ...made, status }, { subresource: 'status', ...writing });
}

/** Creates or updates an object: a cluster already has some, such as Namespaces. */
async function put(object: UnstructuredObject, client: Client): Promise<UnstructuredObject> {
  const { apiVersion, kind, metadata } = object;
  const live = await getIfExists<UnstructuredObject>(client, { apiVersion, kind }, keyOf(object));
  if (live === undefined) return client.create(object, writing);
  const { uid = '', resourceVersion = '' } = live.metadata;
  return client.update({ ...object, metadata: { ...metadata, uid, resourceVersion } }, writing);
}

async function ensureNamespace(name: string, client: Client): Promise<void> {
  if ((await getIfExists(client, Namespace, { name })) !== undefined) return;
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, writing);
}
