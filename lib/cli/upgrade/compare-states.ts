import { isImmutablePath, rollsPods, updatesOnDelete } from '../../apply/index.js';
import { withoutBookkeeping } from '../../feed/index.js';
import {
  describeObject,
  diffObjects,
  redactChanges,
  serverSetFields,
  referenceTo,
  controllerOf,
  groupOf,
  isBuiltInGroup,
} from '../../object/index.js';
import type { FieldChange, UnstructuredObject, ObjectReference } from '../../object/index.js';
import { hashSources } from '../../plan/index.js';
import { isOfNamespace, isOperatorsOwn, usersOf } from './cluster-state.js';
import type { ClusterState } from './cluster-state.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Effects, Finding, HarmlessChange } from './upgrade-report.js';

/** The states before and after an upgrade. */
interface States {
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** Objects that only the check recreated. @defaultValue none */
  readonly remade?: readonly ObjectReference[] | undefined;
}

/** Compares the states before and after an upgrade, and finds harmful changes. */
export function compareStates(states: States): Effects {
  const { before, after } = states;
  const lost = lostObjects(states);
  const touched = touchedSources(states);
  const judged = [...before].flatMap(([id, from]) => {
    const to = after.get(id);
    return to === undefined || !isOperatorsOwn(from) ? [] : [judge(from, to, states, touched)];
  });
  const created = [...after].flatMap(([id, object]): HarmlessChange[] => {
    const isNew = !before.has(id) && isNotable(object) && !lost.replacements.has(id);
    return isNew ? [{ action: 'create', ref: referenceOf(object), changes: [] }] : [];
  });
  return {
    findings: [
      ...lost.findings,
      ...judged.flatMap(({ findings }) => findings),
      ...cutTraffic(states),
    ],
    changes: [...judged.flatMap(({ changes }) => changes), ...created],
  };
}

/** @param touched - changed ConfigMaps and Secrets */
function judge(
  from: UnstructuredObject,
  to: UnstructuredObject,
  states: States,
  touched: readonly ObjectReference[],
): Effects {
  const ref = referenceOf(to);
  // Compare the status of custom resources only: the operator writes it, but not the status of built-in kinds.
  const isBuiltIn = isBuiltInGroup(groupOf(to.apiVersion));
  const ignored = isBuiltIn ? [...serverSetFields, 'status'] : serverSetFields;
  const isRemade = states.remade?.some(({ uid }) => uid === to.metadata.uid) === true;
  const differences = diffObjects(withoutBookkeeping(from), withoutBookkeeping(to), {
    ignore: ignored,
  });
  const all = redactChanges(to.kind, differences);
  // Refused writes already report immutable fields.
  const changes = isRemade ? all.filter(({ path }) => !isImmutablePath(to, path)) : all;
  if (from.metadata.uid !== to.metadata.uid && !isRemade)
    return recreated(ref, from, changes, states);
  if (changes.length === 0) return { findings: [], changes: [] };
  const ofTemplate = changes.filter(({ path }) => path.startsWith('spec.template'));
  const pods = podsOf(from, states.before);
  const rolls = rollsPods(to) && ofTemplate.length > 0 && pods.length > 0 && !updatesOnDelete(to);
  const others = rolls ? changes.filter((change) => !ofTemplate.includes(change)) : changes;
  const note = noteOn(to, others, states);
  const harmless: HarmlessChange[] =
    others.length === 0
      ? []
      : [{ action: 'configure', ref, changes: others, ...(note !== undefined && { note }) }];
  if (!rolls) return { findings: [], changes: harmless };
  const causes = ofTemplate.flatMap((change) => hashSources(change, touched));
  const message = `its pods are replaced (${pods.length})`;
  const remedy = 'none if the restart is intended; otherwise undo the changes';
  const restart = finding('restart', ref, {
    message,
    changes: ofTemplate,
    causes: [...new Set(causes)],
    remedy,
  });
  return { findings: [restart], changes: harmless };
}

function recreated(
  ref: ObjectReference,
  from: UnstructuredObject,
  changes: readonly FieldChange[],
  states: States,
): Effects {
  const own = podsOf(from, states.before);
  const uids = new Set([...states.after.values()].map(({ metadata }) => metadata.uid));
  const gone = own.filter(({ metadata }) => !uids.has(metadata.uid)).length;
  const pods = rollsPods(from) ? `; ${gone} of its ${own.length} pods are replaced` : '';
  const runs = from.kind === 'Job' ? '; it runs again' : '';
  const message = `it is recreated${pods}${runs}`;
  const users = usersOf(from, states.before).map(withoutUid);
  const type = from.kind === 'PersistentVolumeClaim' ? 'claim' : 'recreated';
  const data = type === 'claim' ? ': its data is lost' : '';
  const remedy =
    'leave the immutable fields unchanged, or make sure that the object may be absent for a while';
  const found = finding(type, ref, { message: message + data, changes, users, remedy });
  return { findings: [found], changes: [] };
}

function noteOn(
  to: UnstructuredObject,
  changes: readonly FieldChange[],
  states: States,
): string | undefined {
  if (to.kind === 'ConfigMap' || to.kind === 'Secret') {
    const isData = changes.some(({ path }) => !path.startsWith('metadata'));
    const users = isData ? usersOf(to, states.after).filter((user) => !isRolled(user, states)) : [];
    if (users.length === 0) return undefined;
    const names = users.map((user) => describeObject(user)).join(', ');
    return `${names} is not restarted: mounted files are updated after a while, environment variables keep their values`;
  }
  const isTemplate = changes.some(({ path }) => path.startsWith('spec.template'));
  if (isTemplate && updatesOnDelete(to)) return 'its pods are updated once they are deleted';
  if (isTemplate && rollsPods(to)) return 'it has no pods';
  if (to.kind === 'CronJob') return 'the change applies from its next run';
  return undefined;
}

function isRolled(ref: ObjectReference, { before, after }: States): boolean {
  const templateIn = (state: ClusterState): unknown => {
    const found = [...state.values()].find((object) => object.metadata.uid === ref.uid);
    return (found?.['spec'] as { readonly template?: unknown } | undefined)?.template;
  };
  return diffObjects(templateIn(before), templateIn(after)).length > 0;
}

function touchedSources({ before, after }: States): readonly ObjectReference[] {
  return [...new Map([...before, ...after])].flatMap(([id, object]) => {
    if (object.kind !== 'ConfigMap' && object.kind !== 'Secret') return [];
    const [from, to] = [before.get(id), after.get(id)];
    if (from !== undefined && to !== undefined) {
      if (diffObjects(from, to, { ignore: ['metadata'] }).length === 0) return [];
    }
    return [referenceOf(object)];
  });
}

function referenceOf(object: UnstructuredObject): ObjectReference {
  return withoutUid(referenceTo(object));
}

type Labels = Readonly<Record<string, string>>;

/** Returns findings for Services that reach fewer of their previous pods, or none. */
function cutTraffic({ before, after }: States): readonly Finding[] {
  return [...before].flatMap(([id, from]) => {
    const to = after.get(id);
    if (from.kind !== 'Service' || from.apiVersion !== 'v1' || to === undefined) return [];
    const reached = selected(from, before);
    if (reached.length === 0) return [];
    const ref = referenceTo(to);
    const changes = diffObjects(selectorOf(from), selectorOf(to)).map((change) => ({
      ...change,
      path: `spec.selector.${change.path}`,
    }));
    if (selected(to, after).length === 0) {
      const message = `it no longer selects any pod (before: ${reached.length}): requests to it fail`;
      const remedy = 'change the labels of pods and the selector of their Service together';
      return [finding('traffic', ref, { message, changes, remedy })];
    }
    const still = reached.filter(({ metadata }) => fits(selectorOf(to), metadata.labels)).length;
    if (still === reached.length) return [];
    const message = `it selects ${still} of the ${reached.length} running pods until new ones are ready`;
    const remedy =
      'give pods the new labels in one release, and change the selector in the one after';
    return [finding('traffic', ref, { message, changes, remedy })];
  });
}

function selected(service: UnstructuredObject, state: ClusterState): readonly UnstructuredObject[] {
  const { namespace } = service.metadata;
  return [...state.values()].filter(
    ({ kind, metadata }) =>
      kind === 'Pod' &&
      metadata.namespace === namespace &&
      fits(selectorOf(service), metadata.labels),
  );
}

/** Whether a selector matches; a Service without a selector gets its endpoints from elsewhere. */
function fits(selector: Labels, labels: Labels = {}): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

function selectorOf(service: UnstructuredObject): Labels {
  return (service['spec'] as { readonly selector?: Labels } | undefined)?.selector ?? {};
}

/** Returns findings for the objects that an upgrade removes, and the ids of their replacements under other names. */
function lostObjects({ before, after }: States) {
  const gone = [...before].filter(([id, object]) => !after.has(id) && isLost(object));
  const fresh = new Map([...after].filter(([id, each]) => !before.has(id) && isNotable(each)));
  const replacements = new Set<string>();
  const findings = gone.map(([, object]) => {
    const [id, replacement] = replacementOf(object, fresh) ?? [];
    if (id !== undefined) {
      fresh.delete(id);
      replacements.add(id);
    }
    return lost(object, replacement, before);
  });
  return { findings, replacements };
}

/** Whether the loss of an object is a finding: always for a PersistentVolumeClaim, never for a workload's Pod. */
function isLost(object: UnstructuredObject): boolean {
  return object.kind === 'PersistentVolumeClaim' || isNotable(object);
}

/** Whether the operator, and not the cluster itself, has created or removed the object. */
function isNotable(object: UnstructuredObject): boolean {
  return isOperatorsOwn(object) && !isOfNamespace(object);
}

/** Returns the most similar new object of the same kind and owner. */
function replacementOf(
  object: UnstructuredObject,
  fresh: ReadonlyMap<string, UnstructuredObject>,
): readonly [string, UnstructuredObject] | undefined {
  const owner = controllerOf(object)?.uid;
  const alike = [...fresh].filter(
    ([, other]) =>
      other.kind === object.kind &&
      other.metadata.namespace === object.metadata.namespace &&
      controllerOf(other)?.uid === owner,
  );
  const differences = ([, other]: (typeof alike)[number]): number =>
    diffObjects(object, other, { ignore: ['metadata', 'status'] }).length;
  return alike.toSorted((one, other) => differences(one) - differences(other))[0];
}

function lost(
  object: UnstructuredObject,
  replacement: UnstructuredObject | undefined,
  before: ClusterState,
): Finding {
  const ref = referenceTo(object);
  const users = usersOf(object, before).map(withoutUid);
  const used =
    users.length === 0
      ? ''
      : `; ${users.map((user) => describeObject(user)).join(', ')} refers to it`;
  const pods = rollsPods(object) ? `, with its ${podsOf(object, before).length} pods` : '';
  if (object.kind === 'PersistentVolumeClaim') {
    const message = `it is deleted with its data${used}`;
    const remedy =
      'set its annotation operator-builder.io/prune: "false" to keep it, or copy the data first';
    return finding('claim', ref, { message, users, remedy });
  }
  const contents = contentsOf(object);
  const others = contents === undefined ? pods : ` with ${contents}`;
  if (replacement !== undefined) {
    const { name = '' } = replacement.metadata;
    const message = `it is pruned${others}, and ${describeObject(replacement)} replaces it${used}`;
    const changes = [{ path: 'metadata.name', from: object.metadata.name, to: name }];
    const remedy = `keep the name ${object.metadata.name ?? ''}`;
    return finding('renamed', ref, { message, users, changes, remedy });
  }
  const remedy =
    contents === undefined
      ? 'none if nothing else uses it'
      : `keep it in the new version, or move ${contents} first`;
  return finding('pruned', ref, { message: `it is pruned${others}${used}`, users, remedy });
}

/** Describes the objects that the API server deletes with an object. Any user or operator may have created them. */
function contentsOf({ kind }: UnstructuredObject): string | undefined {
  if (kind === 'Namespace') return 'all objects in it';
  return kind === 'CustomResourceDefinition' ? 'all objects of its kind' : undefined;
}

/** Returns the pods that a workload controls, also through ReplicaSets. */
function podsOf(workload: UnstructuredObject, state: ClusterState): readonly UnstructuredObject[] {
  const byUid = new Map([...state.values()].map((each) => [each.metadata.uid, each] as const));
  const isOf = (object: UnstructuredObject): boolean => {
    const owner = byUid.get(controllerOf(object)?.uid);
    if (owner === undefined) return false;
    return owner.metadata.uid === workload.metadata.uid || isOf(owner);
  };
  return [...state.values()].filter((object) => object.kind === 'Pod' && isOf(object));
}
