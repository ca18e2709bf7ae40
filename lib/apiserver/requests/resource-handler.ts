import { quoted } from '../../object/index.js';
import type { UnstructuredObject } from '../../object/index.js';
import type { TransportRequest, TransportResponse } from '../../system/index.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { UserInfo } from '../auth/authenticator.js';
import { isBuiltinGroup } from '../kinds/documents.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { subjectOf } from '../kinds/served-kind.js';
import { listObjects } from '../reads/list-objects.js';
import { represent } from '../reads/representation.js';
import type { View, SerializedObjects } from '../reads/representation.js';
import {
  checkNotFuture,
  parseRevision,
  readListOptions,
  readSelection,
} from '../reads/selection.js';
import { watchObjects } from '../reads/watch-objects.js';
import type { OpenWatches } from '../reads/watch-objects.js';
import { protobufMediaType } from '../protobuf/objects.js';
import type { ServerCore } from '../server-core.js';
import { findObject, isLoose } from '../server-core.js';
import {
  badRequest,
  failure,
  isStatusError,
  methodNotAllowed,
  notAcceptable,
  notFound,
  unknownResource,
} from '../status-error.js';
import { negotiate, errorResponse, objectResponse, pageNotFound, withWarnings } from './body.js';
import {
  handleDelete,
  handleDeleteCollection,
  handleCreate,
  handlePatch,
  listResponse,
  handleUpdate,
} from './write-requests.js';
import type { ResourceRequest } from './request-info.js';
import { handleBinding, handleSubresource } from './subresource-requests.js';
import { patchTypeOf } from './write-options.js';

/** The request for a resource, and the data that handlers need. */
export interface ResourceContext {
  readonly core: ServerCore;
  readonly kind: ServedKind;
  readonly info: ResourceRequest;
  readonly request: TransportRequest;
  readonly view: View;
  /** The user of the request. */
  readonly user: UserInfo;
  /** Authorizes the user's requests. */
  readonly authorizer: Authorizer;
  /**
   * The time at which the client must authenticate again, in milliseconds since 1970: its watches
   * end then; undefined: never.
   */
  readonly untilMs: number | undefined;
  /** Returns how often a watch sends the event of a changed object; faults drop and repeat events. */
  readonly copiesOf: (object: UnstructuredObject) => number;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
}

/** The server's state for watches. */
export interface Watches {
  readonly serialized: SerializedObjects;
  readonly open: OpenWatches;
}

/**
 * Handles a request for a resource: at once, unless a webhook has to answer first.
 * @throws StatusError 404, 405 or 406: the resource, its verb or its representation does not exist.
 */
export function handleResource(
  core: ServerCore,
  asked: Pick<ResourceContext, 'info' | 'request' | 'user' | 'authorizer' | 'untilMs' | 'copiesOf'>,
  watches: Watches,
): TransportResponse | Promise<TransportResponse> {
  const { request } = asked;
  const kind = core.kinds.find(asked.info.group, asked.info.version, asked.info.resource);
  const info = kind?.custom === undefined ? asked.info : withoutDepth(asked.info);
  if (kind === undefined && isBuiltinGroup(info.group)) throw unknownResource();
  if (kind === undefined || isUnrouted(core, kind, info)) return pageNotFound();
  const accepted = negotiate(request.headers['accept'], kind.custom !== undefined);
  const isTable = accepted.representation === 'table';
  const includeObject = isTable ? includedObject(info) : 'Metadata';
  const view: View = { core, kind, ...accepted, includeObject };
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  // V8 creates a hidden class for each object that begins with a spread, and reads of it would be slow.
  const context: ResourceContext = { core, kind, view, warn, ...asked, info };
  checkScope(context);
  const { deprecation } = kind.rules;
  if (deprecation !== undefined && isRouted(context)) warn(deprecation);
  const handle = (): TransportResponse => dispatch(context, watches);
  // Most answers are ready at once: a promise would slow down every request.
  return core.outside.needed
    ? core.outside.run(handle).then(
        (response) => withWarnings(response, warnings),
        (error: unknown) => withWarnings(errorAnswer(context, error), warnings),
      )
    : withWarnings(answer(context, handle), warnings);
}

/** Returns what the rows of a table contain. @throws StatusError 400: `includeObject` has an unknown value. */
function includedObject({ query }: ResourceRequest): View['includeObject'] {
  const include = query.get('includeObject') || 'Metadata';
  if (include === 'None' || include === 'Object' || include === 'Metadata') return include;
  const why = "must be 'Metadata', 'Object', 'None', or empty";
  const problem = `includeObject: Invalid value: ${quoted(include)}: ${why}`;
  throw badRequest(`Unable to convert to Table as requested: ${problem}`);
}

/** Removes what follows a subresource of a custom resource in a path: the real server ignores that part. */
function withoutDepth(info: ResourceRequest): ResourceRequest {
  const { subresource } = info;
  if (subresource?.includes('/') !== true) return info;
  return { ...info, subresource: subresource.replace(/\/.*/, '') };
}

/** Returns true if the scope of a custom resource does not fit the path, which then has no route. */
function isUnrouted(
  core: ServerCore,
  kind: ServedKind,
  { namespace, verb }: ResourceRequest,
): boolean {
  if (kind.custom === undefined || isLoose(core, kind)) return false;
  if (!kind.type.namespaced) return namespace !== '';
  return namespace === '' && verb !== 'list' && verb !== 'watch';
}

/** Runs the handler and turns its errors into responses, so that earlier warnings are sent with them. */
function answer(context: ResourceContext, handle: () => TransportResponse): TransportResponse {
  try {
    return handle();
  } catch (error) {
    return errorAnswer(context, error);
  }
}

function errorAnswer({ request }: ResourceContext, error: unknown): TransportResponse {
  if (!isStatusError(error)) throw error;
  return errorResponse(error, request.headers['accept']);
}

/** Returns whether the request has a path and a method that the real server routes to the kind. */
function isRouted({ kind, info: { verb, name, subresource } }: ResourceContext): boolean {
  if (subresource !== undefined) return true;
  const isForOne = verb === 'update' || verb === 'patch';
  return kind.verbs.includes(verb) && (verb === 'create' ? name === '' : !isForOne || name !== '');
}

function checkScope({ core, kind, info }: ResourceContext): void {
  const { namespace, name, verb, subresource } = info;
  const namespaced = kind.type.namespaced && !isLoose(core, kind);
  if (!kind.type.namespaced && namespace !== '') throw unknownResource();
  const named = name !== '' || verb === 'create' || verb === 'deletecollection';
  // `/api/v1/configmaps/x`: the path of a namespaced object must include its namespace.
  if (namespaced && namespace === '' && name !== '') throw unknownResource();
  if (namespaced && namespace === '' && !kind.verbs.includes('list')) throw unknownResource();
  if (namespaced && namespace === '' && named) throw methodNotAllowed();
  if (subresource === undefined || kind.subresources.has(subresource)) return;
  throw kind.custom === undefined ? unknownResource() : notFound(subjectOf(kind, name));
}

function dispatch(context: ResourceContext, watches: Watches): TransportResponse {
  const { kind, info } = context;
  const { verb, subresource, name } = info;
  if (subresource !== undefined) return handleSubresource(context);
  // The real server routes no path below a collection that only takes creates.
  if (name !== '' && kind.verbs.length === 1 && kind.verbs[0] === 'create') throw unknownResource();
  if (!kind.verbs.includes(verb)) throw methodNotAllowed();
  switch (verb) {
    case 'get':
      return handleGet(context);
    case 'list':
      return handleList(context);
    case 'watch':
      return handleWatch(context, watches);
    case 'create':
      if (name !== '' && kind.custom === undefined) throw methodNotAllowed();
      if (kind.custom?.terminating === true) throw definitionTerminating(kind);
      if (kind.type.group === '' && kind.type.plural === 'bindings') return handleBinding(context);
      // The real server ignores a name in the path of a custom resource's create.
      return handleCreate({ ...context, info: { ...info, name: '' } });
    case 'update':
      if (name === '') throw nameless(context);
      return handleUpdate(context);
    case 'patch':
      if (name === '') throw nameless(context);
      return handlePatch(context);
    case 'delete':
      return handleDelete(context);
    case 'deletecollection':
      return handleDeleteCollection(context);
  }
}

/**
 * Returns the error of a write to a collection that needs a name. For custom resources, the real server's routes accept
 * such a path, and its handler refuses it.
 */
function nameless({ kind, info, request }: ResourceContext): Error {
  if (kind.custom === undefined) return methodNotAllowed();
  if (info.verb === 'patch') patchTypeOf(request, kind);
  return badRequest('name must be provided');
}

function definitionTerminating({ type }: ServedKind): Error {
  const message = 'create not allowed while custom resource definition is terminating';
  return failure(405, 'MethodNotAllowed', message, { group: type.group, kind: type.plural });
}

function handleGet(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const { namespace, name, query } = info;
  const version = query.get('resourceVersion') ?? '';
  if (version !== '') checkNotFuture(core.log, parseRevision(version, 'other'));
  const object = findObject(core, kind, { namespace, name });
  if (object === undefined) throw notFound(subjectOf(kind, name));
  if (view.as === 'PartialObjectMetadataList') {
    throw otherForm(view, `is not a list (*${goType(kind, kind.type.kind)})`);
  }
  return objectResponse(200, represent(view, object), view.encoding);
}

/**
 * Returns the error of a get that requests `PartialObjectMetadataList`, or of a list that requests the form of an
 * object.
 */
function otherForm({ as }: View, why: string): Error {
  return failure(406, 'NotAcceptable', `you requested ${as}, but the requested object ${why}`);
}

/** Returns the name of a type in the real server. */
function goType({ type, custom, listKind }: ServedKind, kind: string): string {
  if (custom !== undefined) return `unstructured.Unstructured${kind === listKind ? 'List' : ''}`;
  return `${type.group.split('.')[0] || 'core'}.${kind}`;
}

function handleList({ core, kind, info, view }: ResourceContext): TransportResponse {
  const selection = readSelection(kind, info);
  const options = readListOptions(info.query);
  const { metadata, items } = listObjects(core, kind, { selection, options });
  if (view.as === 'PartialObjectMetadata') {
    throw otherForm(view, `is a list (*${goType(kind, kind.listKind)})`);
  }
  if (!selection.converts) kind.conversions?.prepare(items);
  return listResponse(view, metadata, items);
}

function handleWatch(
  { kind, info, view, untilMs, copiesOf }: ResourceContext,
  { serialized, open }: Watches,
): TransportResponse {
  const protobufStream = `${protobufMediaType};stream=watch`;
  if (view.encoding === 'yaml')
    throw notAcceptable(['application/json;stream=watch', protobufStream]);
  const selection = readSelection(kind, info);
  const options = readListOptions(info.query);
  const stream = watchObjects({ view, selection, options, serialized, untilMs, copiesOf });
  open.add(stream, kind);
  const type = view.encoding === 'json' ? 'application/json' : protobufStream;
  return { status: 200, headers: { 'content-type': type }, body: stream };
}
