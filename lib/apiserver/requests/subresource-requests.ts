import { isJsonObject, formatTime, quoted, withoutMembers } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { TransportResponse } from '../../system/index.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { protobufMediaType } from '../protobuf/objects.js';
import { represent } from '../reads/representation.js';
import { topologyLabels } from '../rules/pod.js';
import { findObject, storageKey } from '../server-core.js';
import type { ServerCore } from '../server-core.js';
import {
  aggregated,
  badRequest,
  conflict,
  failure,
  internalFailure,
  isStatusError,
  methodNotAllowed,
  notAcceptable,
  notFound,
  qualifiedPlural,
  unknownResource,
  otherNamespace,
} from '../status-error.js';
import { patchObject, patchedText } from '../writes/patch-object.js';
import { applyScale, liveScale, scaleKind, scaleOf, updateScale } from '../writes/scale.js';
import type { ScaleWrite } from '../writes/scale.js';
import { checkName, decodeObject, decodePatched } from '../writes/write-request.js';
import type { WriteRequest } from '../writes/write-request.js';
import {
  bodyText,
  checkRepeatedKeys,
  createdResponse,
  objectResponse,
  parseJson,
  parseYaml,
  readObject,
  refusePatch,
} from './body.js';
import { handleEviction } from './eviction-requests.js';
import { connectionOptions, handleExec, handleLog, noContainers } from './exec-requests.js';
import type { ResourceContext } from './resource-handler.js';
import { handleToken } from './token-requests.js';
import { admitSubresource } from './request-admission.js';
import { patchTypeOf, readWriteOptions, reviewedOptions } from './write-options.js';
import type { WriteOptions } from './write-options.js';
import { failedPrecondition, handlePatch, handleUpdate, writeOf } from './write-requests.js';

export function handleSubresource(context: ResourceContext): TransportResponse {
  const { kind, info } = context;
  const subresource = kind.subresources.get(info.subresource ?? '');
  if (subresource === undefined) throw unknownResource();
  if (!subresource.verbs.includes(info.verb)) throw unsupported(context);
  switch (subresource.name) {
    case 'scale':
      return handleScale(context);
    case 'binding':
      return handleBinding(context);
    case 'eviction':
      return handleEviction(context);
    case 'token':
      return handleToken(context);
    case 'status':
    case 'finalize':
    case 'approval':
    case 'ephemeralcontainers':
    case 'resize':
      return handleStatus(context);
    case 'log':
      return handleLog(context);
    case 'exec':
      return handleExec(context);
    case 'attach':
    case 'portforward':
      connectionOptions(context);
      throw noContainers(kind.type.plural, subresource.name);
    default:
      throw noContainers(kind.type.plural, subresource.name);
  }
}

function unsupported({ kind, info }: ResourceContext): Error {
  if (kind.custom === undefined) return methodNotAllowed();
  const { group, plural } = kind.type;
  const message = `${info.verb} is not supported on resources of kind "${qualifiedPlural({ group, plural })}"`;
  return failure(405, 'MethodNotAllowed', message, { group, kind: plural });
}

function handleStatus(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  if (info.verb === 'update') return handleUpdate(context);
  if (info.verb === 'patch') return handlePatch(context);
  const object = findObject(core, kind, info);
  if (object === undefined) throw notFound(subjectOf(kind, info.name));
  if (view.representation === 'table' && withoutStatusTables.includes(kind.type.group)) {
    throw notAcceptable(['application/json', 'application/yaml', protobufMediaType]);
  }
  return objectResponse(200, represent(view, object), view.encoding);
}

/** Groups whose kinds have no tables of their status. */
const withoutStatusTables = ['apiextensions.k8s.io', 'apiregistration.k8s.io', 'resource.k8s.io'];

function handleScale(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const next = info.verb === 'update' ? sentScale(context) : undefined;
  const patching = info.verb === 'patch' ? patchOptions(context) : undefined;
  const live = findObject(core, kind, info);
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  if (info.verb === 'get') {
    const ofScale = { ...view, kind: scaleKind(kind) };
    return objectResponse(200, represent(ofScale, scaleOf(kind, live)), view.encoding);
  }
  const scale = patching ? patch(context, live, patching) : replace(context, live, next ?? live);
  return objectResponse(200, scale, view.encoding);
}

/** Returns the body of an update. The real server checks it before it looks for the object. */
function sentScale(context: ResourceContext): UnstructuredObject {
  const { kind, info, request } = context;
  const write = scaleWriteOf(context, readWriteOptions(info.query, 'UpdateOptions'));
  let next: UnstructuredObject;
  try {
    next = decodeObject({ ...write, kind: scaleKind(kind) }, readObject(request, 'Scale'));
  } catch (error) {
    const isUnreadable = isStatusError(error) && error.status === 400;
    if (kind.custom === undefined || !isUnreadable) throw error;
    // The part of the real server that serves custom resources cannot name the type of their Scale.
    throw badRequest(
      'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"',
    );
  }
  checkName(info.name, next.metadata);
  return next;
}

function replace(
  context: ResourceContext,
  live: UnstructuredObject,
  next: UnstructuredObject,
): UnstructuredObject {
  const { kind, info } = context;
  const request = scaleWriteOf(context, readWriteOptions(info.query, 'UpdateOptions'));
  const write = { request, live };
  checkScaleNamespace(context, next);
  const { uid: given = '' } = next.metadata;
  const { uid: found = '' } = live.metadata;
  if (given !== '' && given !== found) {
    const { dryRun } = request;
    throw failedPrecondition(kind, info, { field: 'UID', given, found, dryRun });
  }
  const namespaced = info.namespace !== '' && { namespace: info.namespace };
  const named = { ...next, metadata: { ...next.metadata, ...namespaced } };
  return updateScale(context.core, write, named);
}

interface PatchOptions {
  readonly type: ReturnType<typeof patchTypeOf>;
  readonly options: WriteOptions;
}

/** Returns the type and the options of a patch. The real server checks them before it looks for the object. */
function patchOptions({ kind, info, request }: ResourceContext): PatchOptions {
  const type = patchTypeOf(request, kind);
  return { type, options: readWriteOptions(info.query, 'PatchOptions', type === 'apply') };
}

function patch(
  context: ResourceContext,
  live: UnstructuredObject,
  { type, options }: PatchOptions,
): UnstructuredObject {
  const { core, kind, info, request } = context;
  const asked = scaleWriteOf(context, options);
  const write: ScaleWrite = { request: asked, live };
  const ofScale = scaleKind(kind);
  const check = (patched: UnstructuredObject): void => {
    checkName(info.name, patched.metadata);
    checkScaleNamespace(context, patched);
  };
  if (type === 'apply') {
    const body = parseYaml(bodyText(request), refusePatch);
    if (!isJsonObject(body.value)) throw badRequest('error decoding YAML: want an object');
    const applied = body.value as UnstructuredObject;
    // The body may lack everything that the check reads, such as its metadata.
    const checkMerged = (scale: UnstructuredObject): void => {
      checkRepeatedKeys(body, asked);
      check(scale);
    };
    return applyScale(core, write, { applied, force: options.force, check: checkMerged });
  }
  const { value, duplicates } = parseJson(bodyText(request), refusePatch);
  const scale = liveScale(write);
  const patchBody = { type, value, duplicates };
  const patched = patchObject(ofScale, scale, patchBody);
  const next = decodePatched({ ...asked, kind: ofScale }, patched, () =>
    patchedText(ofScale, scale, patchBody),
  );
  check(next);
  return updateScale(core, write, next);
}

function checkScaleNamespace({ info }: ResourceContext, { metadata }: UnstructuredObject): void {
  const { namespace = '' } = metadata;
  if (namespace !== '' && namespace !== info.namespace) throw otherNamespace();
}

function scaleWriteOf(context: ResourceContext, options: WriteOptions): WriteRequest {
  return writeOf(context, options, scaleKind(context.kind));
}

/** Handles POST to `pods/binding`, or to the old collection `bindings`: the scheduler's decision. */
export function handleBinding(context: ResourceContext): TransportResponse {
  const { core, kind, info, request, view } = context;
  const { namespace, subresource } = info;
  const objectKind = subresourceKind(kind, { group: '', version: 'v1', kind: 'Binding' });
  const writeOptions = readWriteOptions(info.query, 'CreateOptions');
  const write = writeOf(context, writeOptions);
  const body = decodeObject({ ...write, kind: objectKind }, readObject(request, 'Binding'));
  const { name: given = '', namespace: ofBody = '' } = body.metadata;
  const name = subresource === undefined ? given : info.name;
  if (ofBody !== '' && ofBody !== namespace) throw otherNamespace();
  if (given !== name) throw badRequest('name in URL does not match name in Binding object');
  const metadata = { ...body.metadata, namespace, name };
  const isOld = subresource === undefined;
  const binding = { ...body, metadata: isOld ? withoutMembers(metadata, 'uid') : metadata };
  const object = isOld ? binding : withTopology(core, binding);
  checkTarget(object);
  const { dryRun } = write;
  const options = reviewedOptions(info.query, writeOptions);
  bindPod(core, admitSubresource(context, { objectKind, object, dryRun, options }), { dryRun });
  return createdResponse(view.encoding);
}

/** The fields of a `v1` Binding. */
interface Binding extends UnstructuredObject {
  target?: { kind?: string; name?: string };
}

interface PodParts extends UnstructuredObject {
  spec?: { nodeName?: string; schedulingGates?: readonly unknown[] };
  status?: { conditions?: readonly Condition[]; nominatedNodeName?: string };
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Checks the target of a Binding. The real server does so before it looks for the pod. */
function checkTarget(binding: Binding): void {
  const { kind = '', name = '' } = binding.target ?? {};
  const { metadata } = binding;
  const problems = [
    ...(kind === '' || kind === 'Node'
      ? []
      : [`target.kind: Unsupported value: ${quoted(kind)}: supported values: "Node", "<empty>"`]),
    ...(name === '' ? ['target.name: Required value'] : []),
  ];
  if (problems.length > 0) throw internalFailure(aggregated(problems));
  if (metadata.name === '') throw badRequest('Name parameter required.');
}

/** Adds the zone and the region of the node to the labels of a Binding, before webhooks receive the Binding. */
export function withTopology(core: ServerCore, binding: UnstructuredObject): UnstructuredObject {
  const { name = '', kind } = (binding as Binding).target ?? {};
  const topology = kind === 'Node' ? topologyLabels(core.view, name) : {};
  if (Object.keys(topology).length === 0) return binding;
  const { metadata } = binding;
  return { ...binding, metadata: { ...metadata, labels: { ...metadata.labels, ...topology } } };
}

/**
 * Assigns the pod that a Binding names to a node: the only way to set `spec.nodeName` after the
 * create. The pod gets the labels and annotations of the Binding.
 * As on the real server, no manager becomes the owner of these fields.
 * @throws StatusError 404: the pod does not exist; 409: it is not the pod with the uid and the version of the
 *   Binding, it has a node or scheduling gates, or is being deleted.
 */
export function bindPod(
  core: ServerCore,
  binding: UnstructuredObject,
  { dryRun = false } = {},
): UnstructuredObject {
  const { name = '', namespace = '' } = binding.metadata;
  const kind = core.kinds.find('', 'v1', 'pods');
  const subject = { group: '', plural: 'pods', name };
  const pod = kind && (findObject(core, kind, { name, namespace }) as PodParts | undefined);
  if (kind === undefined || pod === undefined) throw notFound(subject);
  checkPreconditions(kind, { pod, binding, dryRun });
  const { name: nodeName = '' } = (binding as Binding).target ?? {};
  const obstacle = obstacleTo(pod, name);
  if (obstacle !== undefined) throw conflict({ ...subject, plural: 'pods/binding' }, obstacle);
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'PodScheduled');
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: formatTime(core.clock.now()),
  };
  const annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  const labels = { ...pod.metadata.labels, ...binding.metadata.labels };
  const metadata = {
    ...pod.metadata,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  const status = withoutMembers(pod.status ?? {}, 'nominatedNodeName');
  const object: UnstructuredObject = kind.inOrder({
    ...pod,
    metadata,
    spec: { ...pod.spec, nodeName },
    status: { ...status, conditions: [...others, scheduled] },
  });
  if (dryRun) return object;
  const key = storageKey(namespace, name);
  return core.log.commit({ collection: kind.collection, key, object }).object;
}

/** Checks that a pod has the uid and the version that its Binding names, if any. */
function checkPreconditions(
  kind: ServedKind,
  {
    pod: { metadata: found },
    binding: { metadata: wanted },
    dryRun,
  }: {
    readonly pod: UnstructuredObject;
    readonly binding: UnstructuredObject;
    readonly dryRun: boolean;
  },
): void {
  const { namespace = '', name = '' } = found;
  for (const [field, member] of [
    ['UID', 'uid'],
    ['ResourceVersion', 'resourceVersion'],
  ] as const) {
    const { [member]: given = '' } = wanted;
    const { [member]: own = '' } = found;
    if (given === '' || given === own) continue;
    throw failedPrecondition(kind, { namespace, name }, { field, given, found: own, dryRun });
  }
}

function obstacleTo({ metadata, spec }: PodParts, name: string): string | undefined {
  if (metadata.deletionTimestamp !== undefined) {
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  }
  if ((spec?.nodeName ?? '') !== '') {
    return `pod ${name} is already assigned to node "${spec?.nodeName ?? ''}"`;
  }
  return (spec?.schedulingGates ?? []).length > 0
    ? `pod ${name} has non-empty .spec.schedulingGates`
    : undefined;
}
