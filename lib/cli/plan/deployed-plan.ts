import type { ConnectedClient } from '../../client/index.js';
import { forwardedTokenHeader, operatorAudience } from '../../manager/index.js';
import {
  CustomResourceDefinition,
  describeObject,
  isApiError,
  isForbidden,
  isUnauthorized,
} from '../../object/index.js';
import type { KubernetesObject, ObjectKey, UnstructuredObject } from '../../object/index.js';
import { planFromJson } from '../../plan/index.js';
import type { ResourcePlan } from '../../plan/index.js';
import { OperatorError } from '../../system/index.js';
import { UsageError } from '../command-context.js';

/** Annotation of a CRD: the Service of the operator that answers plans, as `namespace/name:port`. */
export const planServiceAnnotation = 'operator-builder.io/plan';

/** Options of {@link deployedPlan}. `serverSide`, `fieldManager` and `forceConflicts` are those of `kubectl apply`. */
export interface DeployedPlanOptions {
  readonly client: ConnectedClient;
  readonly namespace: string;
  /** `namespace/name:port`. @defaultValue the annotation of the CRD */
  readonly service?: string | undefined;
  /** Account whose token is sent: `name` or `namespace/name`. */
  readonly serviceAccount?: string | undefined;
  /** Sends the token of the kubeconfig, with which the operator could act as its user. */
  readonly sendToken?: boolean | undefined;
  readonly serverSide?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly forceConflicts?: boolean | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns the plan of the deployed operator for a changed resource. The request goes through the API server's
 * proxy. Because the proxy removes the credentials, the token is sent in a header of its own.
 * @throws UsageError neither `serviceAccount` nor `sendToken` is given
 * @throws OperatorError `InvalidConfig`: no operator answers plans for the kind
 * @throws ApiError the operator, or the API server, refuses the request
 */
export async function deployedPlan(
  object: UnstructuredObject,
  options: DeployedPlanOptions,
): Promise<ResourcePlan> {
  const { client, signal, namespace, serverSide, fieldManager, forceConflicts } = options;
  if (options.serviceAccount === undefined && options.sendToken !== true) throw noToken();
  const { service = await serviceOf(object, options) } = options;
  const query = { output: 'json', namespace, serverSide, fieldManager, forceConflicts };
  try {
    const text = await client.postToService(proxiedService(service), {
      ...{ path: '/plan', query, body: JSON.stringify(object), signal },
      ...(await tokenHeader(options)),
    });
    return planFromJson(text);
  } catch (error) {
    throw explained(error, object, options);
  }
}

function noToken(): UsageError {
  const problem = 'the operator needs a token that identifies you';
  const account = 'give --service-account with an account of which you may request tokens';
  return new UsageError(`${problem}; ${account}, or --send-token if the operator may act as you`);
}

/** Returns an error with the operator's own message, without the part about the request to the API server's proxy. */
function explained(
  error: unknown,
  object: UnstructuredObject,
  { serviceAccount }: DeployedPlanOptions,
): unknown {
  if (!isApiError(error) || error.body.details?.kind !== 'Plan') return error;
  if (!isUnauthorized(error) || serviceAccount !== undefined) {
    const code = isForbidden(error) ? 'MissingPermission' : 'InvalidObject';
    return new OperatorError(code, error.body.message ?? error.message, { cause: error });
  }
  const message = `plan ${describeObject(object)}: the operator got no token that it accepts`;
  const remedy =
    'log in again, or give --service-account with an account of which you may request tokens';
  return new OperatorError('InvalidKubeConfig', `${message}; ${remedy}`, { cause: error });
}

async function serviceOf(
  object: UnstructuredObject,
  { client, signal }: DeployedPlanOptions,
): Promise<string> {
  const { group, plural } = await client.resourceType(object);
  const name = `${plural}.${group}`;
  try {
    const { metadata } = await client.get(CustomResourceDefinition, { name }, { signal });
    const service = metadata.annotations?.[planServiceAnnotation];
    if (service !== undefined) return service;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message = `plan ${describeObject(object)}: you may not read the definition ${name}, whose annotation names the operator's Service`;
    throw new OperatorError('InvalidConfig', `${message}; give --service`, { cause: error });
  }
  const message = `plan ${describeObject(object)}: the definition ${name} names no operator that answers plans`;
  const remedy = `deploy the operator with config/plan, which sets the annotation ${planServiceAnnotation}, or give --service`;
  throw new OperatorError('InvalidConfig', `${message}; ${remedy}`);
}

/** @throws UsageError `service` does not have the form `namespace/name:port` */
function proxiedService(service: string): ObjectKey {
  const parts = /^([-a-z0-9]+)\/([-a-z0-9]+):([-a-z0-9]+)$/.exec(service);
  if (parts === null) throw new UsageError(`service ${service}: want namespace/name:port`);
  const [, namespace = '', name = '', port = ''] = parts;
  return { namespace, name: `https:${name}:${port}` };
}

interface TokenRequest extends KubernetesObject {
  readonly spec: { readonly audiences: readonly string[]; readonly expirationSeconds: number };
  readonly status?: { readonly token?: string };
}

/** The shortest lifetime of a token that API servers grant, in seconds. */
const expirationSeconds = 600;

async function tokenHeader({ client, namespace, serviceAccount, signal }: DeployedPlanOptions) {
  if (serviceAccount === undefined) return { credentialsHeader: forwardedTokenHeader };
  const [name = '', home = namespace] = serviceAccount.split('/').toReversed();
  const request: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { name, namespace: home },
    spec: { audiences: [operatorAudience], expirationSeconds },
  };
  const { status } = await client.create(request, { subresource: 'token', signal });
  return { headers: { [forwardedTokenHeader]: `Bearer ${status?.token ?? ''}` } };
}
