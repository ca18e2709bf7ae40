import type { V1Container, V1LifecycleHandler, V1Probe } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';
import { validateNonnegative, validatePort, validatePortNumber } from './field-values.js';

type Container = Wire<V1Container>;

/** Checks the probes and the lifecycle hooks of a container. */
export function validateHandlers(
  container: Container,
  graceSeconds: number,
  errors: FieldErrors,
): void {
  for (const member of ['postStart', 'preStop'] as const) {
    const handler = container.lifecycle?.[member];
    if (handler === undefined) continue;
    validateLifecycleHandler(handler, graceSeconds, errors.at(`lifecycle.${member}`));
  }
  const { livenessProbe, readinessProbe, startupProbe } = container;
  validateProbe(livenessProbe, errors.at('livenessProbe'));
  validateSuccessThreshold(livenessProbe, errors.at('livenessProbe'));
  validateReadiness(readinessProbe, errors.at('readinessProbe'));
  validateProbe(startupProbe, errors.at('startupProbe'));
  validateSuccessThreshold(startupProbe, errors.at('startupProbe'));
}

/** Checks a readiness probe. It must not have a grace period, because its failure does not stop the container. */
function validateReadiness(probe: Container['readinessProbe'], errors: FieldErrors): void {
  validateProbe(probe, errors);
  const { terminationGracePeriodSeconds: seconds } = probe ?? {};
  if (seconds === undefined) return;
  errors.invalid('terminationGracePeriodSeconds', seconds, 'must not be set for readinessProbes');
}

function validateSuccessThreshold(probe: Container['livenessProbe'], errors: FieldErrors): void {
  const { successThreshold } = probe ?? {};
  if (successThreshold !== undefined && successThreshold !== 1) {
    errors.invalid('successThreshold', successThreshold, 'must be 1');
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
function validateProbe(probe: Wire<V1Probe> | undefined, errors: FieldErrors): void {
  if (probe === undefined) return;
  const given = probeHandlers.filter((handler) => probe[handler] !== undefined);
  const [handler, ...extra] = given;
  if (handler === undefined) errors.required('', 'must specify a handler type');
  else validateHandler(probe, handler, errors.at(handler));
  for (const other of extra) {
    errors.forbidden(other, 'may not specify more than 1 handler type');
  }
  for (const count of counts) validateNonnegative(probe[count], errors.at(count));
  const { terminationGracePeriodSeconds: grace } = probe;
  if (grace !== undefined && grace <= 0) {
    errors.invalid('terminationGracePeriodSeconds', grace, 'must be greater than 0');
  }
}

function validateHandler(
  { exec, httpGet, tcpSocket, grpc }: Pick<Wire<V1Probe>, ProbeHandler>,
  handler: ProbeHandler,
  errors: FieldErrors,
): void {
  switch (handler) {
    case 'exec':
      if ((exec?.command ?? []).length === 0) errors.required('command');
      break;
    case 'httpGet':
      validatePort(httpGet?.port ?? 0, errors.at('port'));
      if (!['HTTP', 'HTTPS'].includes(httpGet?.scheme ?? '')) {
        errors.notSupported('scheme', httpGet?.scheme, ['HTTP', 'HTTPS']);
      }
      for (const { name } of httpGet?.httpHeaders ?? []) {
        if (!headerName.test(name)) errors.invalid('httpHeaders', name, headerMessage);
      }
      break;
    case 'tcpSocket':
      validatePort(tcpSocket?.port ?? 0, errors.at('port'));
      break;
    case 'grpc':
      validatePortNumber(grpc?.port ?? 0, errors.at('port'));
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
  graceSeconds: number,
  errors: FieldErrors,
): void {
  const [handler, ...extra] = lifecycleHandlers.filter((one) => given[one] !== undefined);
  if (handler === undefined) errors.required('', 'must specify a handler type');
  else if (handler === 'sleep') {
    const seconds = given.sleep?.seconds ?? 0;
    if (seconds < 0 || seconds > graceSeconds) {
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
      errors.invalid('sleep', seconds, why);
    }
  } else validateHandler(given, handler, errors.at(handler));
  for (const other of extra) {
    errors.forbidden(other, 'may not specify more than 1 handler type');
  }
}
