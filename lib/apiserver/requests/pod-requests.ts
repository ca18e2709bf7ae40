import { isJsonObject } from '../../object/json.js';
import type { LabelSelector } from '../../object/label-selector.js';
import { selects } from '../validation/label-selector.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { TransportResponse } from '../../system/transport.js';
import { timeText } from '../go-json/go-time.js';
import { subjectOf } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { conflict, failure, notFound } from '../status-error.js';
import { deleteObject } from '../writes/delete-object.js';
import { readDeleteOptions } from '../writes/delete-options.js';
import { updateObject } from '../writes/update-object.js';
import { objectOf, readObjectBody } from './body.js';
import type { ResourceContext } from './resource-handler.js';
import { jsonResponse } from './responses.js';
import { readWriteOptions } from './write-options.js';
import { writeOf } from './write-requests.js';

function livePod({ core, kind, info }: ResourceContext): UnstructuredObject {
  const pod = findObject(core, kind, info);
  if (pod === undefined) throw notFound(subjectOf(kind, info.name));
  return pod;
}

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' };

/** POST to `pods/binding`: the scheduler's decision. */
export function handleBinding(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const { target } = objectOf(readObjectBody(request));
  const nodeName = isJsonObject(target) ? target['name'] : undefined;
  const live = livePod(context);
  const spec = live['spec'] as Readonly<Record<string, unknown>>;
  if (typeof spec['nodeName'] === 'string' && spec['nodeName'] !== '') {
    const why = `pod ${info.name} is already assigned to node "${spec['nodeName']}"`;
    throw conflict({ group: '', plural: 'pods/binding', name: info.name }, why);
  }
  const status = isJsonObject(live['status']) ? live['status'] : {};
  const conditions = Array.isArray(status['conditions']) ? (status['conditions'] as unknown[]) : [];
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timeText(core.clock.now()),
  };
  const next = {
    ...live,
    spec: { ...spec, nodeName },
    status: { ...status, conditions: [...conditions, scheduled] },
  };
  const write = writeOf(context, readWriteOptions(info.query, 'CreateOptions'));
  // The binding writes what neither the pod's own endpoint nor its status may.
  updateObject(core, { request: { ...write, kind, subresource: 'binding' }, live, next });
  return jsonResponse(201, { ...success, code: 201 });
}

/** POST to `pods/eviction`: a deletion that disruption budgets may refuse. */
export function handleEviction(context: ResourceContext): TransportResponse {
  const { core, kind, info, request } = context;
  const { deleteOptions } = objectOf(readObjectBody(request));
  const live = livePod(context);
  const refusing = budgetsOf(context, live).find((budget) => allowedBy(budget) <= 0);
  if (refusing !== undefined) {
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    const cause = {
      reason: 'DisruptionBudget',
      message: `The disruption budget ${refusing.metadata.name ?? ''} does not allow evicting pods currently`,
    };
    throw failure(429, 'TooManyRequests', message, { causes: [cause] });
  }
  const options = readDeleteOptions(deleteOptions, info.query);
  const { namespace, name } = info;
  deleteObject(core, { kind, namespace, name, options });
  return jsonResponse(201, { ...success, code: 201 });
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
