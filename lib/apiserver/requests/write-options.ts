import { FieldErrors } from '../../crd/internal.js';
import type { TransportRequest } from '../../system/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { failure, invalid } from '../status-error.js';
import { readDryRun } from '../writes/delete-object.js';
import type { PatchBody } from '../writes/patch-object.js';
import { mediaTypeOf } from './body.js';
import { isTrue } from './request-info.js';

const patchTypes: Readonly<Partial<Record<string, PatchBody['type'] | 'apply'>>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/**
 * Returns the type of a patch from its media type.
 * @throws StatusError 415: the type is unknown, or it is a strategic patch of a custom resource.
 */
export function patchTypeOf(
  request: TransportRequest,
  kind: ServedKind,
): PatchBody['type'] | 'apply' {
  const type = patchTypes[mediaTypeOf(request)];
  if (type !== undefined && (type !== 'strategic' || kind.custom === undefined)) return type;
  const details = kind.custom === undefined ? {} : undefined;
  throw failure(415, 'UnsupportedMediaType', messageFor(kind), details);
}

function messageFor({ custom }: ServedKind): string {
  if (custom === undefined) return '415: Unsupported Media Type';
  const supported =
    'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml';
  return `the body of the request was in an unknown format - accepted media types include: ${supported}`;
}

/** Options of a create, update or patch, from the query. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** The field manager; empty if absent. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean;
}

const managerLimit = 128;

const defaultOptions: WriteOptions = {
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: false,
};

/**
 * Reads the options of a write.
 * @param kind - `CreateOptions`, `UpdateOptions` or `PatchOptions`, for the message.
 * @throws StatusError 422: the options are invalid.
 */
export function readWriteOptions(
  query: URLSearchParams,
  kind: string,
  apply = false,
): WriteOptions {
  if (query.size === 0 && !apply) return defaultOptions;
  const errors = new FieldErrors();
  const dryRun = readDryRun(query.getAll('dryRun'), errors);
  const fieldManager = query.get('fieldManager') ?? '';
  const forced = query.get('force');
  if (apply && fieldManager === '') {
    errors.required('fieldManager', 'is required for apply patch');
  }
  if (!apply && forced !== null) {
    errors.forbidden('force', 'may not be specified for non-apply patch');
  }
  if (fieldManager.length > managerLimit) errors.tooLong('fieldManager', managerLimit);
  const unprintable = unprintableIn(fieldManager);
  if (unprintable !== undefined) errors.invalid('fieldManager', fieldManager, unprintable);
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (!isFieldValidation(fieldValidation)) {
    const supported = ['', 'Ignore', 'Strict', 'Warn'];
    errors.notSupported('fieldValidation', fieldValidation, supported);
  }
  if (!errors.empty) {
    throw invalid({ group: 'meta.k8s.io', kind, name: '' }, errors.causes);
  }
  const validation = isFieldValidation(fieldValidation) ? fieldValidation : '';
  return {
    dryRun,
    fieldManager,
    fieldValidation: validation === '' ? 'Warn' : validation,
    force: isTrue(forced),
  };
}

/** Returns the options of a write as webhooks receive them. */
export function reviewedOptions(
  query: URLSearchParams,
  { fieldManager, fieldValidation }: WriteOptions,
): Readonly<Record<string, unknown>> {
  return {
    ...(fieldManager !== '' && { fieldManager }),
    ...(query.has('fieldValidation') && { fieldValidation }),
  };
}

/** Returns the problem of the first character that Go does not print, if there is one. */
function unprintableIn(manager: string): string | undefined {
  const found = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(manager);
  if (found === null) return undefined;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const position = Buffer.byteLength(manager.slice(0, found.index));
  return `invalid character U+${code} (at position ${position})`;
}

function isFieldValidation(text: string): text is '' | 'Ignore' | 'Warn' | 'Strict' {
  return ['', 'Ignore', 'Warn', 'Strict'].includes(text);
}

/** Returns the field manager of a request without `fieldManager`: its User-Agent up to the first slash. */
export function managerOfUserAgent(userAgent: string): string {
  const slash = userAgent.indexOf('/');
  return userAgent.slice(0, Math.min(slash < 0 ? Infinity : slash, managerLimit));
}
