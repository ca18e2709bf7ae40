import { isJsonObject } from '../../object/json.js';
import type { LabelSelector } from '../../object/label-selector.js';
import { selects } from '../validation/label-selector.js';
import type { ObjectMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { TransportResponse } from '../../system/transport.js';
import { subjectOf, subresourceKind } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { failure, notFound } from '../status-error.js';
import { bindPod } from '../writes/bind-pod.js';
import { deleteObject } from '../writes/delete-object.js';
import { readDeleteOptions } from '../writes/delete-options.js';
import { readObject } from './body.js';
import { admitSubresource } from './request-hooks.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/** Handles POST to `pods/binding`: the scheduler's decision. */
export function handleBinding(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const { namespace, name } = info;
  const { value: body } = readObject(request, 'Binding');
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const binding = { ...body, apiVersion: 'v1', kind: 'Binding' };
  const object = { ...binding, metadata: { ...metadata, namespace, name } };
  const objectKind = subresourceKind(kind, { group: '', version: 'v1', kind: 'Binding' });
  bindPod(core, admitSubresource(context, { objectKind, object, dryRun: false }));
  return jsonResponse(201, { ...success, code: 201 });
}

/** Handles POST to `pods/eviction`: a deletion that disruption budgets may refuse. */
export function handleEviction(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const { value: body } = readObject(request, 'Eviction');
  const { deleteOptions } = body;
  const live = findObject(core, kind, info);
  if (live === undefined) throw notFound(subjectOf(kind, info.name));
  const options = readDeleteOptions(deleteOptions, info.query);
  admitSubresource(context, {
    objectKind: subresourceKind(kind, { group: 'policy', version: 'v1', kind: 'Eviction' }),
    object: { ...body, apiVersion: 'policy/v1', kind: 'Eviction', metadata: metadataOf(info) },
    dryRun: options.dryRun,
  });
  const refusing = budgetsOf(context, live).find((budget) => allowedBy(budget) <= 0);
  if (refusing !== undefined) {
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    const cause = {
      reason: 'DisruptionBudget',
      message: `The disruption budget ${refusing.metadata.name ?? ''} does not allow evicting pods currently`,
    };
    throw failure(429, 'TooManyRequests', message, { causes: [cause] });
  }
  const { namespace, name } = info;
  deleteObject(core, { kind, namespace, name, options });
  return jsonResponse(201, { ...success, code: 201 });
}

function metadataOf({ namespace, name }: ResourceContext['info']): ObjectMeta {
  return { namespace, name };
}

function allowedBy({ status }: UnstructuredObject): number {
  const allowed = isJsonObject(status) ? status['disruptionsAllowed'] : undefined;
  return typeof allowed === 'number' ? allowed : 0;
}

function budgetsOf({ core, info }: ResourceContext, pod: UnstructuredObject): UnstructuredObject[] {
  return [...core.view.all('policy/poddisruptionbudgets')].filter(({ metadata, spec }) => {
    if (metadata.namespace !== info.namespace || !isJsonObject(spec)) return false;
    return selects(spec['selector'] as LabelSelector | undefined, pod.metadata.labels) === true;
  });
}
