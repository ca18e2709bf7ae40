import {
  matchesFields,
  parseFieldSelector,
  matchesLabels,
  parseLabelSelector,
  quoted,
} from '../../object/index.js';
import type { FieldTerm, UnstructuredObject } from '../../object/index.js';
import { errorMessage, isOperatorError } from '../../system/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { isTrue, readInteger } from '../requests/request-info.js';
import type { ResourceRequest } from '../requests/request-info.js';
import { badRequest, failure, internalFailure, invalid } from '../status-error.js';
import type { MvccLog } from '../storage/mvcc-log.js';
import { FieldErrors } from '../../crd/internal.js';

/** The objects of a collection that a request selects. */
export interface Selection {
  /** The prefix of the objects' keys. */
  readonly prefix: string;
  /** True if there are no selectors. */
  readonly all: boolean;
  /** True if the selectors match stored objects in the version of the request: a webhook may have to convert them. */
  readonly converts: boolean;
  /** Returns whether the selectors match a stored object. */
  readonly matches: (object: UnstructuredObject) => boolean;
}

/**
 * Reads the selectors of a request.
 * @throws StatusError 400: a selector is malformed, or names a field that the kind cannot select
 *   by.
 */
export function readSelection(kind: ServedKind, request: ResourceRequest): Selection {
  const { namespace, query } = request;
  const labels = query.get('labelSelector') ?? '';
  const fields = readFields(kind, query.get('fieldSelector') ?? '');
  const requirements = parsed(() => parseLabelSelector(labels));
  const all = requirements.length === 0 && fields.length === 0;
  const isContent = ({ field }: FieldTerm): boolean => !metaFields.includes(field);
  // Built-in kinds have the same fields in all versions.
  const converts = kind.custom !== undefined && fields.some(isContent);
  return {
    prefix: namespace === '' ? '' : `${namespace}/`,
    all,
    converts,
    matches: (object) => {
      if (all) return true;
      if (!matchesLabels(requirements, object.metadata.labels ?? {})) return false;
      if (fields.length === 0) return true;
      const selected = converts ? converted(kind, object) : object;
      return matchesFields(fields, (field) => valueOf(kind, selected, field));
    },
  };
}

function converted(kind: ServedKind, stored: UnstructuredObject): UnstructuredObject {
  return kind.conversions?.known(stored) ?? kind.fromStorage(stored);
}

const metaFields = ['metadata.name', 'metadata.namespace'];

function readFields(kind: ServedKind, text: string): readonly FieldTerm[] {
  const parts = text === '' ? [] : parsed(() => parseFieldSelector(text));
  const terms = parts.filter((term) => !selectsAll(term));
  const own = Object.keys(kind.rules.selectableFields?.(emptyObject) ?? {});
  // Like the real server, report the wrong field that comes first in alphabetical order.
  for (const field of terms.map((term) => term.field).toSorted()) {
    if (metaFields.includes(field) || own.includes(field)) continue;
    throw unknownField(kind, field);
  }
  return terms;
}

/** A term with an empty field and an empty value selects every object, even with `!=`. */
function selectsAll({ field, value }: FieldTerm): boolean {
  return field === '' && value === '';
}

const emptyObject: UnstructuredObject = { apiVersion: '', kind: '', metadata: {} };

/** Kinds, other than custom resources, for which the real server has a shorter error message. */
const withOwnError: ReadonlySet<string> = new Set([
  'Pod',
  'Node',
  'Service',
  'Secret',
  'Event',
  'Namespace',
  'ReplicationController',
  'CertificateSigningRequest',
]);

function unknownField({ type, custom }: ServedKind, field: string): Error {
  if (custom !== undefined || withOwnError.has(type.kind)) {
    return badRequest(`field label not supported: ${field}`);
  }
  if (type.kind === 'Job') return badRequest(`field label ${quoted(field)} not supported for Job`);
  const known = metaFields.map(quoted).join(', ');
  return badRequest(`${quoted(field)} is not a known field selector: only ${known}`);
}

function valueOf(kind: ServedKind, object: UnstructuredObject, field: string): string {
  if (field === 'metadata.name') return object.metadata.name ?? '';
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  return kind.rules.selectableFields?.(object)[field] ?? '';
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (isOperatorError(error, 'InvalidSelector')) throw badRequest(errorMessage(error.cause));
    throw error;
  }
}

/** Options of a list or a watch, from the query. */
export interface ListOptions {
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/**
 * Reads the options of a list or a watch.
 * @throws StatusError 400: the value of a number is invalid.
 */
export function readListOptions(query: URLSearchParams): ListOptions {
  const initial = query.get('sendInitialEvents');
  return {
    limit: readInteger(query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: readInteger(query.get('timeoutSeconds')),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
  };
}

/**
 * Parses a resource version.
 * @throws StatusError it is not a number: 400 for a list, 500 for other reads, as on the real server.
 */
export function parseRevision(text: string, read: 'list' | 'other'): number {
  if (/^\d+$/.test(text)) return Number(text);
  const shown = quoted(text);
  const why = `strconv.ParseUint: parsing ${shown}: invalid syntax`;
  const message = `resourceVersion: Invalid value: ${shown}: ${why}`;
  throw read === 'list'
    ? badRequest(`invalid resource version: ${message}`)
    : internalFailure(message);
}

/** Checks that a revision exists. @throws StatusError 504: the revision does not exist yet. */
export function checkNotFuture(log: MvccLog, revision: number): void {
  if (revision <= log.revision) return;
  const message = `Timeout: Too large resource version: ${revision}, current: ${log.revision}`;
  throw failure(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

/**
 * Checks that the options of a list or a watch fit together.
 * @throws StatusError 422: the options contradict each other.
 */
export function checkListOptions(options: ListOptions, watch: boolean): void {
  const errors = new FieldErrors();
  if (watch) checkWatch(options, errors);
  else checkList(options, errors);
  if (!errors.empty) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, errors.causes);
  }
}

const field = 'resourceVersionMatch';
const besideContinue = `${field} is forbidden when continue is provided`;

function checkList(options: ListOptions, errors: FieldErrors): void {
  const { resourceVersion, resourceVersionMatch: match, sendInitialEvents } = options;
  if (match !== '') {
    if (resourceVersion === '') {
      errors.forbidden(field, `${field} is forbidden unless resourceVersion is provided`);
    }
    if (options.continue !== '') errors.forbidden(field, besideContinue);
    errors.oneOf(field, match, ['Exact', 'NotOlderThan', '']);
    if (match === 'Exact' && resourceVersion === '0') {
      errors.forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`);
    }
  }
  if (sendInitialEvents !== undefined) {
    errors.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
}

function checkWatch(options: ListOptions, errors: FieldErrors): void {
  const { resourceVersion, resourceVersionMatch: match, sendInitialEvents } = options;
  // A watch without a version sends the initial objects, as if it had the match `NotOlderThan`.
  const isDefaulted = sendInitialEvents === undefined && match === '';
  const isFromStart = isDefaulted && ['', '0'].includes(resourceVersion);
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    const why = `sendInitialEvents requires setting ${field} to NotOlderThan`;
    errors.forbidden(field, why);
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      const why = `${field} is forbidden for watch unless sendInitialEvents is provided`;
      errors.forbidden(field, why);
    }
    errors.oneOf(field, match, ['NotOlderThan']);
  }
  if (options.continue !== '' && (match !== '' || isFromStart)) {
    errors.forbidden(field, besideContinue);
  }
}
