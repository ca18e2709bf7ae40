import type { ObjectMeta, UnstructuredObject } from '../../object/index.js';
import { isJsonObject, formatTime, quoted } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { serverAudience } from '../auth/authenticator.js';
import type { BoundObject } from '../auth/authenticator.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { badRequest, conflict, invalid, notFound } from '../status-error.js';
import { FieldErrors } from '../../crd/internal.js';
import { trackUpdate } from '../writes/managed-fields.js';
import { decodeObject } from '../writes/write-request.js';
import { readObject, objectResponse } from './body.js';
import { admitSubresource } from './request-admission.js';
import { readWriteOptions, reviewedOptions } from './write-options.js';
import { writeOf } from './write-requests.js';
import type { ResourceContext } from './resource-handler.js';

const hourSeconds = 3600;
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
const authentication = 'authentication.k8s.io';
const tokenRequest = { group: authentication, version: 'v1', kind: 'TokenRequest' };

interface TokenSpec {
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly boundObjectRef: unknown;
}

/** Handles POST to `serviceaccounts/token`: returns a token that the server accepts until it expires. */
export function handleToken(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const objectKind = subresourceKind(kind, tokenRequest);
  const options = readWriteOptions(info.query, 'CreateOptions');
  const write = { ...writeOf(context, options), kind: objectKind };
  const body = decodeObject(write, readObject(request, 'TokenRequest'));
  checkName(context, body.metadata);
  const account = findObject(core, kind, info);
  if (account === undefined) throw notFound(subjectOf(kind, info.name));
  const { uid = '' } = account.metadata;
  checkUid(info.name, body.metadata.uid, uid);
  const given = isJsonObject(body['spec']) ? body['spec'] : {};
  const spec = readSpec(given);
  const { namespace, name } = info;
  const asked = { ...body, spec, metadata: { namespace, name } };
  const { dryRun } = options;
  const reviewed = reviewedOptions(info.query, options);
  admitSubresource(context, { objectKind, object: asked, dryRun, options: reviewed });
  const bound = boundObject(context, spec.boundObjectRef);
  const now = core.clock.now();
  const { audiences, expirationSeconds } = spec;
  const token = core.access.tokens.issue({ account, audiences, expirationSeconds, bound });
  const defaulted = { ...body, spec: { ...given, expirationSeconds }, metadata: {} };
  const { managedFields } = trackUpdate(core, write, undefined, defaulted).metadata;
  const answer = {
    kind: 'TokenRequest',
    apiVersion: `${authentication}/v1`,
    metadata: { name, namespace, uid, creationTimestamp: formatTime(now), managedFields },
    spec,
    status: { token, expirationTimestamp: formatTime(now + expirationSeconds * 1000) },
  };
  return objectResponse(201, answer, context.view.encoding);
}

function checkName({ info }: ResourceContext, given: ObjectMeta): void {
  for (const member of ['name', 'namespace'] as const) {
    const { [member]: value } = given;
    if (value === undefined || value === '' || value === info[member]) continue;
    const errors = new FieldErrors();
    const why = `must match the service account ${member} if specified`;
    errors.invalid(`metadata.${member}`, value, why);
    const subject = { group: authentication, kind: 'TokenRequest', name: info.name };
    throw invalid(subject, errors.causes);
  }
}

function checkUid(name: string, given: string | undefined, uid: string): void {
  if (given === undefined || given === '' || given === uid) return;
  const why = `the UID in the token request (${given}) does not match the UID of the service account (${uid})`;
  throw conflict({ group: authentication, plural: 'TokenRequest', name }, why);
}

function readSpec(spec: Readonly<Record<string, unknown>>): TokenSpec {
  const { audiences, expirationSeconds: asked, boundObjectRef = null } = spec;
  const expirationSeconds = typeof asked === 'number' ? asked : hourSeconds;
  const errors = new FieldErrors();
  const field = 'spec.expirationSeconds';
  if (expirationSeconds < shortestSeconds) {
    const why = 'may not specify a duration less than 10 minutes';
    errors.invalid(field, expirationSeconds, why);
  }
  if (expirationSeconds > longestSeconds) {
    const why = 'may not specify a duration larger than 2^32 seconds';
    errors.invalid(field, expirationSeconds, why);
  }
  if (!errors.empty) {
    throw invalid({ group: authentication, kind: 'TokenRequest', name: '' }, errors.causes);
  }
  const wanted = Array.isArray(audiences) ? (audiences as string[]) : [];
  return {
    audiences: wanted.length === 0 ? [serverAudience] : wanted,
    expirationSeconds,
    boundObjectRef,
  };
}

const boundCollections = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const;

function boundObject({ core, info }: ResourceContext, reference: unknown): BoundObject | undefined {
  if (!isJsonObject(reference)) return undefined;
  const { kind = '', apiVersion = '', name = '', uid: wanted = '' } = reference as Reference;
  if (apiVersion !== 'v1' || !isBoundKind(kind)) {
    throw badRequest(`cannot bind token to object of type ${describeType(apiVersion, kind)}`);
  }
  const plural = boundCollections[kind];
  const key = kind === 'Node' ? name : `${info.namespace}/${name}`;
  const object = core.log.collection(plural).get(key);
  if (object === undefined) throw notFound({ group: '', plural, name });
  if (kind === 'Pod' && accountOf(object) !== info.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${quoted(info.name)} to pod running with different serviceaccount name.`,
    );
  }
  const { uid = '' } = object.metadata;
  if (wanted !== '' && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: kind, name }, why);
  }
  return { kind, name, uid };
}

interface Reference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

function isBoundKind(kind: string): kind is BoundObject['kind'] {
  return Object.hasOwn(boundCollections, kind);
}

function describeType(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  const [group, version] =
    slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  return `${group}/${version}, Kind=${kind}`;
}

function accountOf({ spec }: UnstructuredObject): unknown {
  return isJsonObject(spec) ? spec['serviceAccountName'] : undefined;
}
