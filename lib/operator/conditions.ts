import { isReconcileFailed } from '../apply/index.js';
import type { ObjectResult, ReconcileFailedError } from '../apply/index.js';
import { isApiError, conditionReason, describeObject } from '../object/index.js';
import type { ApiError, ConditionUpdate } from '../object/index.js';
import { briefError } from '../feed/index.js';
import { failureKindOf } from '../controller/index.js';
import { cutCharacters, isOperatorError } from '../system/index.js';

/** The end of a reconcile, as input of {@link conditionsOf}. */
export interface ReconcileEnd {
  /** Results of a builder. @defaultValue none */
  readonly results?: readonly ObjectResult[] | undefined;
  /** Another reason to wait, besides the results. @defaultValue nothing */
  readonly waitsFor?: string | undefined;
  /** The error that ended the reconcile. @defaultValue none */
  readonly error?: unknown;
  /** `metadata.generation` of the reconciled object. */
  readonly observedGeneration?: number | undefined;
}

const longestMessage = 1_000;
const mostSubjects = 3;

/**
 * Returns the conditions `Ready`, `Progressing` and `Degraded` for the end of a reconcile. kstatus reads
 * them, and with it `kubectl wait --for=condition=Ready`, Argo CD and Flux.
 *
 * | end | Ready | Progressing | Degraded |
 * | --- | --- | --- | --- |
 * | all objects as desired, or no objects | True `Reconciled` | False | False |
 * | a pending object, a rollout in progress, `waitsFor` | False `Waiting`, `RollingOut` | True | False |
 * | a stuck rollout | False `RolloutStuck` | False | True `RolloutStuck` |
 * | a failed Job | False `JobFailed` | False | True `JobFailed` |
 * | an error that is retried | False, the error's code | True `Retrying` | True, the code |
 * | a terminal error | False, the error's code | False, the code | True, the code |
 */
export function conditionsOf(end: ReconcileEnd): readonly ConditionUpdate[] {
  const { observedGeneration } = end;
  const generation = observedGeneration === undefined ? {} : { observedGeneration };
  return (end.error === undefined ? progressOf(end) : failureOf(end.error)).map((update) => ({
    ...update,
    reason: conditionReason(update.reason),
    message: cutCharacters(update.message ?? '', longestMessage),
    ...generation,
  }));
}

/** Returns the conditions of an object that is being deleted while its clean-up continues. */
export function deletingConditions(message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Ready', status: 'False', reason: 'Deleting', message },
    { type: 'Progressing', status: 'True', reason: 'Deleting', message },
    { type: 'Degraded', status: 'False', reason: 'Deleting', message: '' },
  ];
}

function progressOf({ results = [], waitsFor }: ReconcileEnd): readonly ConditionUpdate[] {
  const stuck = results.filter(({ rollout }) => rollout?.state === 'stuck');
  const failed = results.filter(({ run }) => run?.state === 'failed');
  if (stuck.length > 0 || failed.length > 0) {
    const message = listed([...stuck.map(rolloutText), ...failed.map(runText)]);
    const reason = stuck.length > 0 ? 'RolloutStuck' : 'JobFailed';
    const status = 'False';
    return [
      { type: 'Ready', status, reason, message },
      { type: 'Progressing', status, reason, message },
      { type: 'Degraded', status: 'True', reason, message },
    ];
  }
  const rolling = results.filter(({ rollout }) => rollout?.state === 'progressing');
  const pending = results.filter(({ operation }) => operation === 'pending');
  const waits = [
    ...(waitsFor === undefined ? [] : [waitsFor]),
    ...pending.map(({ ref, reason = 'pending' }) => `${describeObject(ref)} ${reason}`),
  ];
  const healthy = { type: 'Degraded', status: 'False', reason: 'Healthy', message: '' } as const;
  if (waits.length === 0 && rolling.length === 0) {
    const reason = 'Reconciled';
    const message = results.length === 0 ? 'reconciled' : 'all objects are as desired';
    return [
      { type: 'Ready', status: 'True', reason, message },
      { type: 'Progressing', status: 'False', reason, message: '' },
      healthy,
    ];
  }
  const reason = rolling.length > 0 ? 'RollingOut' : 'Waiting';
  const message = listed([...rolling.map(rolloutText), ...waits]);
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Progressing', status: 'True', reason, message },
    healthy,
  ];
}

function failureOf(error: unknown): readonly ConditionUpdate[] {
  const message = briefError(error);
  const reason = failureReasonOf(error);
  const progressing =
    failureKindOf(error) === 'terminal'
      ? ({ status: 'False', reason } as const)
      : ({ status: 'True', reason: 'Retrying' } as const);
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Progressing', ...progressing, message },
    { type: 'Degraded', status: 'True', reason, message },
  ];
}

/**
 * Returns the reason of a `TerminalError`, the reason of an API error, or the code of an error of this
 * package; else `ReconcileFailed`.
 */
function failureReasonOf(error: unknown): string {
  const first: unknown = isReconcileFailed(error) ? causeOf(error) : error;
  const given = terminalReasonOf(first);
  if (given !== undefined) return given;
  // Builders wrap errors to explain them; users wrap errors to make them terminal.
  const isWrapped = isOperatorError(first, 'Terminal') && first.cause !== undefined;
  const cause = isWrapped ? first.cause : first;
  if (isApiError(cause)) return serverReasonOf(cause);
  if (isOperatorError(cause) && cause.code !== 'Terminal') return cause.code;
  return 'ReconcileFailed';
}

/** Returns the first error that another object did not cause. */
function causeOf({ errors }: ReconcileFailedError): unknown {
  return errors.find(({ code }) => code !== 'DependencyFailed') ?? errors[0];
}

/** Kubernetes reasons for responses without one, such as those of a proxy, a webhook or a stopping server. */
const statusReasons: Readonly<Partial<Record<number, string>>> = {
  ...{ 400: 'BadRequest', 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound' },
  ...{ 405: 'MethodNotAllowed', 406: 'NotAcceptable', 409: 'Conflict', 410: 'Gone' },
  ...{ 413: 'RequestEntityTooLarge', 415: 'UnsupportedMediaType', 422: 'Invalid' },
  ...{ 429: 'TooManyRequests', 500: 'InternalError', 502: 'BadGateway' },
  ...{ 503: 'ServiceUnavailable', 504: 'Timeout' },
};

function serverReasonOf({ reason, status, code }: ApiError): string {
  return reason === '' || reason === 'Unknown' ? (statusReasons[status] ?? code) : reason;
}

/** Returns the reason given to a `TerminalError`. */
export function terminalReasonOf(error: unknown): string | undefined {
  if (!isOperatorError(error, 'Terminal') || !('reason' in error)) return undefined;
  return typeof error.reason === 'string' ? error.reason : undefined;
}

function rolloutText({ ref, rollout }: ObjectResult): string {
  // The message names the workload, or the Pod that blocks it.
  return rollout?.message ?? describeObject(ref);
}

function runText({ ref, run }: ObjectResult): string {
  return `${describeObject(ref)}: ${run?.message ?? ''}`;
}

function listed(texts: readonly string[]): string {
  const rest = texts.length - mostSubjects;
  return [...texts.slice(0, mostSubjects), ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
}
