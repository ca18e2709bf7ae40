import { isImmutablePath, rollsPods } from '../../apply/index.js';
import { updatesOnDelete } from '../../builder/rollout-state.js';
import { describeObject } from '../../object/describe-object.js';
import { diffObjects, serverSetFields, redactChanges } from '../../object/diff-by-path.js';
import type { FieldChange } from '../../object/diff-by-path.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { referenceTo } from '../../object/object-reference.js';
import type { ObjectReference } from '../../object/object-reference.js';
import { groupOf, isBuiltInGroup } from '../../object/resource-type.js';
import { withoutBookkeeping } from '../../feed/object-news.js';
import { hashSources } from '../plan/hash-of.js';
import { isOperatorsOwn, usersOf } from './cluster-state.js';
import type { ClusterState } from './cluster-state.js';
import { cutTraffic } from './cut-traffic.js';
import { lostObjects } from './lost-objects.js';
import { podsOf } from './pods-of.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Finding, HarmlessChange } from './upgrade-report.js';

/** The states before and after an upgrade. */
export interface States {
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** Objects that only the check recreated. @defaultValue none */
  readonly remade?: readonly ObjectReference[] | undefined;
}

/** The effects of an upgrade. */
export interface Comparison {
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/** Compares the states before and after an upgrade, and finds harmful changes. */
export function compareStates(states: States): Comparison {
  const { before, after } = states;
  const lost = lostObjects(states);
  const kept = [...before].flatMap(([id, from]) => {
    const to = after.get(id);
    return to === undefined || !isOperatorsOwn(from) ? [] : [{ from, to }];
  });
  const touched = touchedSources(states);
  const judged = kept.map((pair) => judge(pair, { states, touched }));
  const created = [...after].flatMap(([id, object]): HarmlessChange[] => {
    const isNew = !before.has(id) && isOperatorsOwn(object) && !lost.replacements.has(id);
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

interface Kept {
  readonly from: UnstructuredObject;
  readonly to: UnstructuredObject;
}

interface Surroundings {
  readonly states: States;
  /** Changed ConfigMaps and Secrets. */
  readonly touched: readonly ObjectReference[];
}

function judge({ from, to }: Kept, { states, touched }: Surroundings): Comparison {
  const ref = referenceOf(to);
  const ignored = isBuiltIn(to) ? [...serverSetFields, 'status'] : serverSetFields;
  const isRemade = states.remade?.some(({ uid }) => uid === to.metadata.uid) === true;
  const differences = diffObjects(withoutBookkeeping(from), withoutBookkeeping(to), {
    ignore: ignored,
  });
  const all = redactChanges(to.kind, differences);
  // Refused writes already report immutable fields.
  const changes = isRemade ? all.filter(({ path }) => !isImmutablePath(to, path)) : all;
  if (from.metadata.uid !== to.metadata.uid && !isRemade)
    return recreated(ref, { from, states, changes });
  if (changes.length === 0) return { findings: [], changes: [] };
  const ofTemplate = changes.filter(({ path }) => path.startsWith('spec.template'));
  const pods = podsOf(from, states.before);
  const rolls = rollsPods(to) && ofTemplate.length > 0 && pods.length > 0 && !updatesOnDelete(to);
  const others = rolls ? changes.filter((change) => !ofTemplate.includes(change)) : changes;
  const note = noteOn(from, { to, changes: others, states });
  const harmless: HarmlessChange[] =
    others.length === 0
      ? []
      : [{ action: 'configure', ref, changes: others, ...(note !== undefined && { note }) }];
  if (!rolls) return { findings: [], changes: harmless };
  const causes = ofTemplate.flatMap((change) => hashSources(change, touched));
  const message = `its pods are replaced (${pods.length})`;
  const remedy = 'none is needed where that is meant: roll it out when a restart does no harm';
  const restart = finding('restart', ref, {
    message,
    changes: ofTemplate,
    causes: [...new Set(causes)],
    remedy,
  });
  return { findings: [restart], changes: harmless };
}

interface Recreation {
  readonly from: UnstructuredObject;
  readonly states: States;
  readonly changes: readonly FieldChange[];
}

function recreated(ref: ObjectReference, { from, states, changes }: Recreation): Comparison {
  const own = podsOf(from, states.before);
  const uids = new Set([...states.after.values()].map(({ metadata }) => metadata.uid));
  const gone = own.filter(({ metadata }) => !uids.has(metadata.uid)).length;
  const pods = rollsPods(from) ? `; ${gone} of its ${own.length} pods are replaced` : '';
  const runs = from.kind === 'Job' ? '; it runs again' : '';
  const message = `it is deleted and made again${pods}${runs}`;
  const users = usersOf(from, states.before).map(withoutUid);
  const type = from.kind === 'PersistentVolumeClaim' ? 'claim' : 'recreated';
  const data = type === 'claim' ? ': what is stored in it is lost' : '';
  const remedy =
    'keep the fields that can not change, or make sure that it can be without for a while';
  const found = finding(type, ref, { message: message + data, changes, users, remedy });
  return { findings: [found], changes: [] };
}

interface Change {
  readonly to: UnstructuredObject;
  readonly changes: readonly FieldChange[];
  readonly states: States;
}

function noteOn(from: UnstructuredObject, { to, changes, states }: Change): string | undefined {
  if (to.kind === 'ConfigMap' || to.kind === 'Secret') {
    const isData = changes.some(({ path }) => !path.startsWith('metadata'));
    const users = isData
      ? usersOf(from, states.after).filter((user) => !isRolled(user, states))
      : [];
    if (users.length === 0) return undefined;
    const names = users.map((user) => describeObject(user)).join(', ');
    return `${names} is not restarted for it: what is mounted follows in a while, variables stay`;
  }
  const isTemplate = changes.some(({ path }) => path.startsWith('spec.template'));
  if (isTemplate && updatesOnDelete(to)) return 'its pods follow once they are deleted';
  if (isTemplate && rollsPods(to)) return 'it has no pods';
  if (to.kind === 'CronJob') return 'its next run is the first to have it';
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
  const ids = new Set([...before.keys(), ...after.keys()]);
  return [...ids].flatMap((id) => {
    const [from, to] = [before.get(id), after.get(id)];
    const object = to ?? from;
    if (object === undefined || (object.kind !== 'ConfigMap' && object.kind !== 'Secret'))
      return [];
    if (from !== undefined && to !== undefined) {
      if (diffObjects(from, to, { ignore: ['metadata'] }).length === 0) return [];
    }
    return [referenceOf(object)];
  });
}

/** Whether the kind is built in; a custom resource's status is the operator's. */
function isBuiltIn({ apiVersion }: KubernetesObject): boolean {
  return isBuiltInGroup(groupOf(apiVersion));
}

function referenceOf(object: UnstructuredObject): ObjectReference {
  return withoutUid(referenceTo(object));
}
