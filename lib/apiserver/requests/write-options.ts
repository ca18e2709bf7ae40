import { invalid } from '../status-error.js';
import { FieldErrors } from '../validation/field-errors.js';
import { readDryRun } from '../writes/delete-options.js';
import { isTrue } from './request-info.js';

/** Options of a create, update or patch, from the query. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** The field manager; empty if absent. */
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  readonly force: boolean;
}

const managerLimit = 128;

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

function isFieldValidation(text: string): text is '' | 'Ignore' | 'Warn' | 'Strict' {
  return ['', 'Ignore', 'Warn', 'Strict'].includes(text);
}

/** Returns the field manager of a request without `fieldManager`: its User-Agent up to the first slash. */
export function managerOfUserAgent(userAgent: string): string {
  const [name = ''] = userAgent.split('/');
  return name.slice(0, managerLimit);
}
