import type { V1Probe } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';
import { validateNonnegative, validatePort, validatePortNumber } from './numbers.js';

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const;
type Handler = (typeof handlers)[number];
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
export function validateProbe(
  probe: Wire<V1Probe> | undefined,
  field: string,
  errors: FieldErrors,
): void {
  if (probe === undefined) return;
  const given = handlers.filter((handler) => probe[handler] !== undefined);
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
export function validateHandler(
  { exec, httpGet, tcpSocket, grpc }: Pick<Wire<V1Probe>, Handler>,
  field: string,
  { handler, errors }: { readonly handler: Handler; readonly errors: FieldErrors },
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
