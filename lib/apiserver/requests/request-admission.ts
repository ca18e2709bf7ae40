import type { UnstructuredObject } from '../../object/index.js';
import type { AdmissionRequest } from '../admission/admission-review.js';
import { WebhookAdmission } from '../admission/webhook-admission.js';
import { isGrant } from '../auth/access-control.js';
import { allowAll, refusalOf } from '../auth/authorizer.js';
import { attributesOf } from '../auth/policy-rule.js';
import { subresourceKind } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { hasAdmission } from '../server-core.js';
import type { AdmittedWrite, WriteHooks } from '../writes/write-request.js';
import type { ResourceContext } from './resource-handler.js';

interface HookedWrite {
  readonly dryRun: boolean;
  /** The options of the operation, as webhooks receive them. @defaultValue none */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The kind of the written objects. @defaultValue the kind of the request */
  readonly objectKind?: ServedKind | undefined;
}

/**
 * Returns the admission hooks of a request in addition to the rules of its kind.
 * @returns undefined if no hook applies
 */
export function requestHooks(context: ResourceContext, write: HookedWrite): WriteHooks | undefined {
  const unasked = !hasAdmission(context.core);
  if (context.authorizer === allowAll && unasked) return undefined;
  const admission = unasked
    ? undefined
    : new WebhookAdmission(context.core, admissionRequest(context, write));
  return {
    admit: (admitted) => {
      const object = admission?.admit(admitted) ?? admitted.object;
      checkGrant(context, { ...admitted, object });
      return object;
    },
    validate: (admitted) => {
      checkCreation(context, admitted);
      admission?.validate(admitted);
    },
  };
}

/** A create of a subresource with a kind of its own, such as `pods/eviction`, whose objects are of kind `Eviction`. */
interface SubresourceWrite extends HookedWrite {
  readonly objectKind: ServedKind;
  readonly object: UnstructuredObject;
}

/**
 * Runs admission for a create of a subresource whose objects have their own kind.
 * @returns the object to write instead
 */
export function admitSubresource(
  context: ResourceContext,
  write: SubresourceWrite,
): UnstructuredObject {
  const { core } = context;
  if (!hasAdmission(core)) return write.object;
  return admitCreate(new WebhookAdmission(core, admissionRequest(context, write)), write.object);
}

/** Runs the hooks of a create. @returns the object to write instead */
export function admitCreate(hooks: WriteHooks, given: UnstructuredObject): UnstructuredObject {
  const create = { operation: 'CREATE', object: given, old: undefined } as const;
  const object = hooks.admit(create);
  hooks.validate({ ...create, object });
  return object;
}

/**
 * Runs admission for a request that connects to a subresource.
 * @param options - the options of the connection
 * @returns the options to use instead
 */
export function admitConnection(
  context: ResourceContext,
  options: UnstructuredObject,
): UnstructuredObject {
  if (!hasAdmission(context.core)) return options;
  const type = { group: '', version: 'v1', kind: options.kind };
  const decode: ServedKind['decode'] = (value) => {
    return { object: value as UnstructuredObject, unknownFields: [] };
  };
  const objectKind = { ...subresourceKind(context.kind, type), decode };
  const request = admissionRequest(context, { dryRun: false, objectKind });
  const admission = new WebhookAdmission(context.core, request);
  const write = { operation: 'CONNECT', object: options, old: undefined } as const;
  const object = admission.admit(write);
  admission.validate({ ...write, object });
  return object;
}

function admissionRequest(context: ResourceContext, write: HookedWrite): AdmissionRequest {
  const { kind, info, user, authorizer, warn } = context;
  const { dryRun, options = {}, objectKind } = write;
  const own = kind.type.group === '' && kind.type.plural === 'namespaces';
  return {
    kind,
    subresource: info.subresource ?? '',
    namespace: own ? info.name : info.namespace,
    name: info.name,
    user,
    authorizer,
    dryRun,
    objectKind,
    options: { ...options, ...(dryRun && { dryRun: ['All'] }) },
    warn,
  };
}

/** Refuses to grant rights that the user does not have itself. */
function checkGrant(context: ResourceContext, { object, old }: AdmittedWrite): void {
  const { core, kind, info, user, authorizer } = context;
  if (object === undefined || !isGrant(kind.type)) return;
  const { plural } = kind.type;
  const grants = core.access.grantsOf(authorizer);
  grants?.check(user, { plural, object, old, requestedName: info.name });
}

/** Checks the right to create for a PUT or an apply that creates an object. */
function checkCreation(
  { authorizer, info, user }: ResourceContext,
  { operation }: AdmittedWrite,
): void {
  if (operation !== 'CREATE' || info.verb === 'create') return;
  const refusal = refusalOf(authorizer, user, { ...attributesOf(info), verb: 'create' });
  if (refusal !== undefined) throw refusal;
}
