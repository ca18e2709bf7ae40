import type { V1Container, V1LifecycleHandler, V1Probe } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { validateNonnegative, validatePort, validatePortNumber } from './field-values.js';

type Container = Wire<V1Container>;

interface HandlerCheck {
  /** The grace period of the pod, in seconds. */
  readonly graceSeconds: number;
  readonly errors: FieldErrors;
}

/** Checks the probes and the lifecycle hooks of a container. */
export function validateHandlers(
  container: Container,
  path: string,
  { graceSeconds, errors }: HandlerCheck,
): void {
  for (const member of ['postStart', 'preStop'] as const) {
    const handler = container.lifecycle?.[member];
    if (handler === undefined) continue;
    validateLifecycleHandler(handler, `${path}.lifecycle.${member}`, { graceSeconds, errors });
  }
  const { livenessProbe, readinessProbe, startupProbe } = container;
  validateProbe(livenessProbe, `${path}.livenessProbe`, errors);
  validateSuccessThreshold(livenessProbe, `${path}.livenessProbe`, errors);
  validateReadiness(readinessProbe, `${path}.readinessProbe`, errors);
  validateProbe(startupProbe, `${path}.startupProbe`, errors);
  validateSuccessThreshold(startupProbe, `${path}.startupProbe`, errors);
}

/**
 * Checks a readiness probe. A failed one does not stop its container, so it must not have a grace
 * period.
 */
function validateReadiness(
  probe: Container['readinessProbe'],
  field: string,
  errors: FieldErrors,
): void {
  validateProbe(probe, field, errors);
  const { terminationGracePeriodSeconds: seconds } = probe ?? {};
  if (seconds === undefined) return;
  const why = 'must not be set for readinessProbes';
  errors.invalid(`${field}.terminationGracePeriodSeconds`, seconds, why);
}

function validateSuccessThreshold(
  probe: Container['livenessProbe'],
  field: string,
  errors: FieldErrors,
): void {
  const { successThreshold } = probe ?? {};
  if (successThreshold !== undefined && successThreshold !== 1) {
    errors.invalid(`${field}.successThreshold`, successThreshold, 'must be 1');
  }
}

const probeHandlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;
type ProbeHandler = (typeof probeHandlers)[number];
const headerName = /^[-A-Za-z0-9]+$/;
const headerMessage =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** Checks a probe: it has one handler and no negative numbers. */
function validateProbe(probe: Wire<V1Probe> | undefined, field: string, errors: FieldErrors): void {
  if (probe === undefined) return;
  const given = probeHandlers.filter((handler) => probe[handler] !== undefined);
  const [handler, ...extra] = given;
  if (handler === undefined) errors.required(field, 'must specify a handler type');
  else validateHandler(probe, `${field}.${handler}`, { handler, errors });
  for (const other of extra) {
    errors.forbidden(`${field}.${other}`, 'may not specify more than 1 handler type');
  }
  for (const count of counts) validateNonnegative(probe[count], `${field}.${count}`, errors);
  const { terminationGracePeriodSeconds: grace } = probe;
  if (grace !== undefined && grace <= 0) {
    errors.invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0');
  }
}

/** Checks a handler of a probe or a lifecycle hook. */
function validateHandler(
  { exec, httpGet, tcpSocket, grpc }: Pick<Wire<V1Probe>, ProbeHandler>,
  field: string,
  { handler, errors }: { readonly handler: ProbeHandler; readonly errors: FieldErrors },
): void {
  switch (handler) {
    case 'exec':
      if ((exec?.command ?? []).length === 0) errors.required(`${field}.command`);
      break;
    case 'httpGet':
      validatePort(httpGet?.port ?? 0, `${field}.port`, errors);
      if (!['HTTP', 'HTTPS'].includes(httpGet?.scheme ?? '')) {
        errors.notSupported(`${field}.scheme`, httpGet?.scheme, ['HTTP', 'HTTPS']);
      }
      for (const { name } of httpGet?.httpHeaders ?? []) {
        if (!headerName.test(name)) errors.invalid(`${field}.httpHeaders`, name, headerMessage);
      }
      break;
    case 'tcpSocket':
      validatePort(tcpSocket?.port ?? 0, `${field}.port`, errors);
      break;
    case 'grpc':
      validatePortNumber(grpc?.port ?? 0, `${field}.port`, errors);
      break;
  }
}

const lifecycleHandlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'] as const;

/**
 * Checks a handler that runs when a container starts or stops.
 * @param graceSeconds - grace period of its pod
 */
function validateLifecycleHandler(
  given: Wire<V1LifecycleHandler>,
  field: string,
  { graceSeconds, errors }: HandlerCheck,
): void {
  const [handler, ...extra] = lifecycleHandlers.filter((one) => given[one] !== undefined);
  if (handler === undefined) errors.required(field, 'must specify a handler type');
  else if (handler === 'sleep') {
    const seconds = given.sleep?.seconds ?? 0;
    if (seconds < 0 || seconds > graceSeconds) {
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      errors.invalid(`${field}.sleep`, seconds, why);
    }
  } else validateHandler(given, `${field}.${handler}`, { handler, errors });
  for (const other of extra) {
    errors.forbidden(`${field}.${other}`, 'may not specify more than 1 handler type');
  }
}
