import { isJsonObject } from '../../object/json.js';
import { badRequest, invalid } from '../status-error.js';
import { FieldErrors } from '../validation/field-errors.js';

/** The treatment of dependents. */
export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/** `DeleteOptions`, from the body or the query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: PropagationPolicy | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  readonly dryRun: boolean;
}

/**
 * Reads the options of a delete from the body, or from the query if there is no body.
 * @throws StatusError 400 or 422: the options are invalid.
 */
export function readDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = body === undefined ? optionsOfQuery(query) : body;
  if (!isJsonObject(given)) throw badRequest('DeleteOptions: want an object');
  const errors = new FieldErrors();
  const dryRun = readDryRun(given['dryRun'] ?? query.getAll('dryRun'), errors);
  const policy = readPolicy(given, errors);
  if (!errors.empty) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, errors.causes);
  }
  const { gracePeriodSeconds, orphanDependents, preconditions } = given;
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== null) {
    if (!Number.isInteger(gracePeriodSeconds)) throw wrongType('gracePeriodSeconds', 'int64');
  }
  return {
    dryRun,
    propagationPolicy: policy,
    gracePeriodSeconds: (gracePeriodSeconds ?? undefined) as number | undefined,
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
    preconditions: isJsonObject(preconditions) ? preconditions : undefined,
  };
}

function wrongType(field: string, type: string): Error {
  return badRequest(
    `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: json: cannot unmarshal into Go struct field DeleteOptions.${field} of type ${type}`,
  );
}

function optionsOfQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const grace = query.get('gracePeriodSeconds');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: query.has('orphanDependents')
      ? query.get('orphanDependents') === 'true'
      : undefined,
  };
}

function readPolicy(
  given: Readonly<Record<string, unknown>>,
  errors: FieldErrors,
): PropagationPolicy | undefined {
  const { propagationPolicy: policy, orphanDependents } = given;
  if (policy === undefined || policy === null) return undefined;
  if (typeof orphanDependents === 'boolean') {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    errors.invalid('propagationPolicy', policy, why);
  }
  if (policy === 'Foreground' || policy === 'Background' || policy === 'Orphan') return policy;
  const supported = ['Foreground', 'Background', 'Orphan', 'nil'];
  errors.notSupported('propagationPolicy', policy, supported);
  return undefined;
}

/** Reads `dryRun`: `All` or absent. */
export function readDryRun(given: unknown, errors: FieldErrors): boolean {
  const values = Array.isArray(given) ? (given as unknown[]) : [];
  if (values.some((value) => value !== 'All')) errors.notSupported('dryRun', values, ['All']);
  return values.length > 0;
}
