import type { MvccLog } from '../storage/mvcc-log.js';
import { badRequest, failure, invalid } from '../status-error.js';
import { FieldErrors } from '../validation/field-errors.js';
import type { ListOptions } from './selection.js';

/**
 * Parses a resource version.
 * @throws StatusError 400: it is not a number.
 */
export function parseRevision(text: string): number {
  if (!/^\d+$/.test(text)) {
    const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`,
    );
  }
  return Number(text);
}

/**
 * Checks that a revision exists.
 * @throws StatusError 504: the revision does not exist yet.
 */
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
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  if (sendInitialEvents !== undefined) checkInitialEvents(options, watch, errors);
  else if (watch && match !== '') {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    errors.forbidden('resourceVersionMatch', why);
  } else checkMatch(options, errors);
  if (!errors.empty) {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, errors.causes);
  }
}

/** Checks `resourceVersionMatch` of a list. */
function checkMatch(options: ListOptions, errors: FieldErrors): void {
  const { resourceVersion, resourceVersionMatch: match } = options;
  const field = 'resourceVersionMatch';
  if (match === '') return;
  if (resourceVersion === '') {
    errors.forbidden(field, `${field} is forbidden unless resourceVersion is provided`);
  } else if (options.continue !== '') {
    errors.forbidden(field, `${field} is forbidden when continue is provided`);
  } else if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.notSupported(field, match, ['Exact', 'NotOlderThan', '']);
  } else if (match === 'Exact' && resourceVersion === '0') {
    errors.forbidden(field, `${field} "Exact" is forbidden for resourceVersion "0"`);
  }
}

function checkInitialEvents(options: ListOptions, watch: boolean, errors: FieldErrors): void {
  const { resourceVersionMatch: match } = options;
  if (!watch) {
    checkMatch(options, errors);
    errors.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list');
    return;
  }
  if (match === '') {
    errors.forbidden(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  } else if (match !== 'NotOlderThan') {
    errors.notSupported('resourceVersionMatch', match, ['NotOlderThan']);
  }
}
