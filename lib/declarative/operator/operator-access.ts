import type { Client } from '../../client/index.js';
import { watchVerbs } from '../../manager/index.js';
import type { RequiredAccess } from '../../manager/index.js';
import { isJsonObject } from '../../object/index.js';
import type { ResourceType } from '../../object/index.js';
import { writtenStages } from '../engine/compile-pipeline.js';
import { referencesOf } from '../engine/expression-references.js';
import type { NamedOperator } from '../graph/operator-graph.js';
import { resolveKinds, targetAccess } from '../runtime/running-pipeline.js';
import { compileController } from '../spec/load-operator.js';
import { viewGroupOf, isViewGroup } from '../spec/operator-spec.js';
import type { ControllerSpec } from '../spec/operator-spec.js';
import { compileContext } from '../spec-problem.js';

/** Looks up the kinds of a cluster. */
export interface KnownKinds extends Pick<Client, 'resourceType'> {
  /** Whether the status of a kind is a subresource. */
  hasStatus(type: ResourceType): boolean;
}

/**
 * Returns the access that operators need to objects of a cluster, according to their specifications: to watch
 * sources and targets, and to write targets. Views need no access.
 * @throws the error of `kinds` for an unknown kind
 */
export async function operatorAccess(
  operators: readonly NamedOperator[],
  kinds: KnownKinds,
): Promise<readonly RequiredAccess[]> {
  const access: RequiredAccess[] = [];
  for (const { name, spec } of operators) {
    for (const controller of spec.controllers) {
      access.push(...(await controllerAccess(name, controller, kinds)));
    }
  }
  return access;
}

async function controllerAccess(
  operator: string,
  spec: ControllerSpec,
  kinds: KnownKinds,
): Promise<readonly RequiredAccess[]> {
  const views = { ensure: (owner: string, kind: string) => Promise.resolve(viewOf(owner, kind)) };
  const { inputs } = compileController(spec, []);
  const found = await resolveKinds(inputs, spec, { operator, client: kinds, views });
  const watched: RequiredAccess[] = [];
  for (const type of found.inputs) {
    if (type === undefined) continue;
    const source = 'plural' in type ? type : await kinds.resourceType(type);
    if (isViewGroup(source.group)) continue;
    watched.push({ type: source, verbs: watchVerbs });
  }
  const { target } = found;
  const isUpdater = spec.target.type === 'Updater';
  const written = targetAccess(target, spec.target);
  if (written.length === 0 || !kinds.hasStatus(target) || !mayWriteStatus(spec)) {
    return [...watched, ...written];
  }
  const verbs = isUpdater ? (['update', 'patch'] as const) : (['patch'] as const);
  return [...watched, ...written, { type: target, subresource: 'status', verbs }];
}

/** Returns a type for a view, without a request: the API server of a cluster does not serve views. */
function viewOf(operator: string, kind: string): ResourceType {
  const plural = kind.toLowerCase();
  return { group: viewGroupOf(operator), version: 'v1alpha1', kind, plural, namespaced: true };
}

/**
 * Whether documents at the end of a pipeline may have a status. The last projection decides, unless a later
 * stage sets the status.
 */
export function mayWriteStatus({ pipeline }: Pick<ControllerSpec, 'pipeline'>): boolean {
  for (const { name, argument } of writtenStages(pipeline, compileContext([])).toReversed()) {
    if (name === '@project') return mayProjectStatus(argument);
    if (name === '@gather' || name === '@mux') {
      const path: unknown = Array.isArray(argument) ? argument[1] : undefined;
      if (mayBeStatus(path)) return true;
    }
  }
  // Without a projection, source objects reach the target unchanged, with their status.
  return true;
}

function mayProjectStatus(projection: unknown): boolean {
  if (Array.isArray(projection)) return projection.some(mayProjectStatus);
  if (!isJsonObject(projection)) return true;
  return Object.keys(projection).some((name) => {
    // An expression operator, such as `@cond`, may yield any document.
    if (name.startsWith('@')) return true;
    return name.startsWith('$') ? mayBeStatus(name) : name === 'status';
  });
}

/** Whether a path may refer to the status, or to the whole document. */
function mayBeStatus(path: unknown): boolean {
  const { members, whole } = referencesOf(path);
  return whole || members.has('status');
}
