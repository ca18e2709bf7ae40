import omit from 'lodash/omit.js';
import { appliedHashAnnotation } from '../apply/index.js';
import {
  describeObject,
  diffObjects,
  serverSetFields,
  redactChanges,
  isJsonObject,
  groupOf,
  isBuiltInGroup,
} from '../object/index.js';
import type { FieldChange, UnstructuredObject } from '../object/index.js';
import { cutCharacters } from '../system/index.js';

/** A change of an object in a cluster. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change; for a deletion, its last state. */
  readonly object: UnstructuredObject;
  /** The object before the change; undefined if it did not exist or is unknown. */
  readonly previous?: UnstructuredObject | undefined;
}

/** One line about a change in a cluster. */
export interface ObjectNews {
  readonly mark: 'created' | 'changed' | 'removed' | 'noted' | 'warned';
  /** The object, such as `Widget default/x`. */
  readonly text: string;
  /** Details of the change; may be `''`. */
  readonly detail: string;
}

/** Kinds whose creation and deletion do not reflect the operator's work. */
const quietKinds: ReadonlySet<string> = new Set([
  ...['APIService', 'ControllerRevision', 'EndpointSlice', 'Endpoints', 'Node', 'IPAddress'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
]);
/** Objects that the feed leaves out in every namespace: a name, or a kind and a name. */
const quietNames: ReadonlySet<string> = new Set(['kube-root-ca.crt', 'ServiceAccount default']);
const systemNamespace = /^kube-/;
const ignored = [...serverSetFields, 'status'];
/** Status fields that are shown in another form or not at all. */
const shownOtherwise = ['status.conditions', 'status.observedGeneration'];
const mostPaths = 2;
const longestValue = 48;

/** Options of {@link newsOf}. */
export interface NewsOptions {
  /**
   * True if the change is the operator's or of an object that it owns. Then system kinds and namespaces are
   * shown too, except Leases, which are renewed every few seconds. @defaultValue false
   */
  readonly isOperators?: boolean;
}

/** Returns the line for a change; undefined if the change is not worth a line. */
export function newsOf(
  change: ObjectChange,
  { isOperators = false }: NewsOptions = {},
): ObjectNews | undefined {
  const { type, object } = change;
  const { kind, metadata } = object;
  const { name = '', namespace = '' } = metadata;
  if (kind === 'Event') {
    const isShown = type === 'ADDED' && (isOperators || !isRoutine(object));
    return isShown ? eventNews(object) : undefined;
  }
  if (kind === 'Lease') return undefined;
  const isNamed = quietNames.has(name) || quietNames.has(`${kind} ${name}`);
  const isQuiet = isNamed || quietKinds.has(kind) || systemNamespace.test(namespace);
  if (isQuiet && !isOperators) return undefined;
  const text = describeObject(object);
  switch (type) {
    case 'ADDED':
      return { mark: 'created', text, detail: '' };
    case 'DELETED':
      return { mark: 'removed', text, detail: '' };
    case 'MODIFIED': {
      const detail = changeText(change.previous, object);
      return detail === '' ? undefined : { mark: 'changed', text, detail };
    }
  }
}

/** Whether the scheduler, a controller of the cluster or a kubelet reports its usual work. */
function isRoutine(event: UnstructuredObject): boolean {
  const { type, source, deprecatedSource, reportingController, reportingComponent } = event;
  const given = source ?? deprecatedSource;
  // Events of the kubelet and of the cluster's controllers have a source. Those of the scheduler and of operators have
  // none.
  const hasSource = isJsonObject(given) && textOf(given['component']) !== '';
  const reporter = textOf(reportingController ?? reportingComponent);
  return type === 'Normal' && (hasSource || reporter === 'default-scheduler');
}

function eventNews(event: UnstructuredObject): ObjectNews {
  const { type, reason, note, message, regarding, involvedObject } = event;
  const about = regarding ?? involvedObject;
  const subject = isJsonObject(about) ? about : {};
  const object = describeObject({
    kind: textOf(subject['kind']),
    namespace: textOf(subject['namespace']),
    name: textOf(subject['name']),
  });
  const detail = `${textOf(reason)}: ${textOf(note ?? message)}`;
  return { mark: type === 'Warning' ? 'warned' : 'noted', text: object, detail };
}

function changeText(before: UnstructuredObject | undefined, after: UnstructuredObject): string {
  const { metadata, kind } = after;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  if (isLeaving && before?.metadata.deletionTimestamp === undefined) return 'is being deleted';
  const status = statusText(before, after);
  // The cluster itself changes Pods and ReplicaSets too often to show each change.
  if (kind === 'Pod' || kind === 'ReplicaSet' || kind === 'CustomResourceDefinition') return status;
  const [from, to] = [before && withoutBookkeeping(before), withoutBookkeeping(after)];
  const changes = redactChanges(kind, diffObjects(from, to, { ignore: ignored }));
  return [...changedPaths(specFirst(changes)), status].filter((part) => part !== '').join('; ');
}

/** Puts labels and annotations last; their changes mostly follow from the others. */
function specFirst(changes: readonly FieldChange[]): readonly FieldChange[] {
  const isMetadata = ({ path }: FieldChange): boolean => path.startsWith('metadata.');
  return [...changes.filter((change) => !isMetadata(change)), ...changes.filter(isMetadata)];
}

function changedPaths(changes: readonly FieldChange[]): readonly string[] {
  const shown = changes.slice(0, mostPaths).map(({ path, from, to }) => {
    if (from === undefined) return `${path}: ${brief(to)}`;
    return to === undefined ? `${path} is gone` : `${path}: ${brief(from)} → ${brief(to)}`;
  });
  const left = changes.length - shown.length;
  return left > 0 ? [...shown, `${left} more`] : shown;
}

function statusText(before: UnstructuredObject | undefined, after: UnstructuredObject): string {
  const [old, now] = [statusOf(before), statusOf(after)];
  switch (after.kind) {
    case 'Pod': {
      const states = [podState(old), podState(now)];
      return states[0] === states[1] ? '' : (states[1] ?? '');
    }
    case 'CustomResourceDefinition':
      return '';
    default:
      return [
        countText(old, now),
        ...conditionTexts(after.kind, old, now),
        ...(isBuiltInGroup(groupOf(after.apiVersion)) ? [] : ownStatusTexts(old, now)),
      ]
        .filter((part) => part !== '')
        .join('; ');
  }
}

type Status = Readonly<Record<string, unknown>>;

function statusOf(object: UnstructuredObject | undefined): Status {
  const status = object?.['status'];
  return isJsonObject(status) ? status : {};
}

function podState(status: Status): string {
  const isReady = conditionsOf(status).get('Ready')?.startsWith('Ready=True') === true;
  return isReady ? 'ready' : textOf(status['phase']).toLowerCase();
}

/** Returns the number of ready Pods of a workload. */
function countText(old: Status, now: Status): string {
  const [before, after] = [old['readyReplicas'] ?? 0, now['readyReplicas'] ?? 0];
  if (before === after || typeof after !== 'number') return '';
  const { replicas } = now;
  return `${after} of ${typeof replicas === 'number' ? replicas : after} ready`;
}

/** Kinds whose conditions repeat their replica counts. */
const counted: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet']);

function conditionTexts(kind: string, old: Status, now: Status): readonly string[] {
  if (counted.has(kind)) return [];
  const before = conditionsOf(old);
  return [...conditionsOf(now)].flatMap(([type, text]) =>
    text === before.get(type) ? [] : [text],
  );
}

function ownStatusTexts(old: Status, now: Status): readonly string[] {
  const changes = diffObjects({ status: old }, { status: now }, { ignore: shownOtherwise });
  return changedPaths(changes);
}

function conditionsOf({ conditions }: Status): ReadonlyMap<string, string> {
  const list = Array.isArray(conditions) ? (conditions as readonly unknown[]) : [];
  return new Map(
    list.filter(isJsonObject).map(({ type, status, reason }) => {
      const because = textOf(reason) === '' ? '' : ` (${textOf(reason)})`;
      return [textOf(type), `${textOf(type)}=${textOf(status)}${because}`];
    }),
  );
}

function brief(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > longestValue ? `${cutCharacters(text, longestValue - 1)}…` : text;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Annotation in which client-side `kubectl apply` stores the applied object. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations that change with every write and repeat other fields. */
const bookkeeping: readonly string[] = [
  ...[appliedHashAnnotation, lastAppliedAnnotation, 'deployment.kubernetes.io/revision'],
];

/** Returns `object` without annotations that only tools read; their changes are not reported. */
export function withoutBookkeeping(object: UnstructuredObject): UnstructuredObject {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const shown = omit(annotations, bookkeeping);
  const metadata = omit(object.metadata, 'annotations');
  const isEmpty = Object.keys(shown).length === 0;
  return { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: shown } };
}
