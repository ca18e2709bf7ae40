import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { TransportResponse } from '../../system/transport.js';
import { listObjects } from '../reads/list-objects.js';
import { represent, representList } from '../reads/representation.js';
import { readListOptions, readSelection } from '../reads/selection.js';
import { rulingKind } from '../server-core.js';
import { badRequest, isStatusError } from '../status-error.js';
import type { StatusError } from '../status-error.js';
import { deleteObject } from '../writes/delete-object.js';
import type { DeletionResult } from '../writes/delete-object.js';
import { readDeleteOptions } from '../writes/delete-options.js';
import type { DeleteOptions } from '../writes/delete-options.js';
import type { WriteHooks } from '../writes/write-hooks.js';
import { bodyText, objectOf, readObjectBody } from './body.js';
import { requestHooks } from './request-hooks.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';

/** Handles DELETE of an object. */
export function handleDelete(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const { namespace, name, query } = info;
  const options = readDeleteOptions(optionsBody(context), query);
  const hooks = deleteHooks(context, options);
  const result = deleteObject(core, { kind, namespace, name, options, hooks });
  const answersObject = !result.removed || rulingKind(core, kind).rules.answersDeleted === true;
  if (answersObject) return jsonResponse(200, represent(view, result.object));
  return jsonResponse(200, successOf(context, result));
}

function deleteHooks(context: ResourceContext, options: DeleteOptions): WriteHooks | undefined {
  const { dryRun, ...shown } = options;
  return requestHooks(context, { dryRun, options: { ...shown } });
}

function optionsBody({ request }: ResourceContext): unknown {
  if (bodyText(request) === '') return undefined;
  const body = objectOf(readObjectBody(request, refuseOptions), refuseOptions);
  const { kind = 'DeleteOptions', apiVersion = 'meta.k8s.io/v1' } = body;
  if (kind === 'DeleteOptions') return body;
  throw badRequest(
    `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function refuseOptions(problem: string): StatusError {
  return badRequest(`couldn't get version/kind; json parse error: ${problem}`);
}

function successOf({ kind }: ResourceContext, { object }: DeletionResult): object {
  const { group, plural } = kind.type;
  const { name, uid } = object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: plural, uid },
  };
}

/**
 * Handles DELETE of a collection. Each object is deleted separately; objects that are already gone
 * are skipped.
 */
export function handleDeleteCollection(context: ResourceContext): TransportResponse {
  const { core, kind, info, view } = context;
  const selection = readSelection(kind, info);
  const options = readDeleteOptions(optionsBody(context), info.query);
  const { outside } = core;
  const listed = outside.once('list', () =>
    listObjects(core, kind, { selection, options: readListOptions(info.query) }),
  );
  kind.conversions?.prepare(listed.items);
  const items: UnstructuredObject[] = [];
  for (const item of listed.items) {
    const { namespace = '', name = '' } = item.metadata;
    try {
      const named = { ...context, info: { ...info, namespace, name } };
      const hooks = deleteHooks(named, options);
      // A repeated run of this handler must not repeat deletes that are already done.
      outside.once(`delete ${namespace}/${name}`, () =>
        deleteObject(core, { kind, namespace, name, options, hooks }),
      );
      items.push(item);
    } catch (error) {
      if (!isStatusError(error) || error.reason !== 'NotFound') throw error;
    }
  }
  const text = [...representList(view, listed.metadata, items)].join('');
  return jsonResponse(200, JSON.parse(text));
}
