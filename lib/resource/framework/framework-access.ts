import { watchVerbs } from '../../manager/access/required-access.js';
import type { RequiredAccess } from '../../manager/access/required-access.js';
import { CustomResourceDefinition, Event } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { ResolvedFrameworkOptions } from './resolve-framework-options.js';

/** What a framework does, whatever its resources do. */
export function frameworkAccess<T extends KubernetesObject>({
  type,
  crd,
  recorder,
}: Pick<ResolvedFrameworkOptions<T>, 'type' | 'crd' | 'recorder'>): readonly RequiredAccess[] {
  const definitions: readonly RequiredAccess[] =
    crd === undefined
      ? []
      : [{ type: CustomResourceDefinition, verbs: [...watchVerbs, 'create', 'patch'] }];
  const events: readonly RequiredAccess[] =
    recorder === undefined ? [{ type: Event, verbs: ['create', 'patch'] }] : [];
  return [
    ...definitions,
    { type, verbs: [...watchVerbs, 'patch'] },
    { type, verbs: ['patch'], subresource: 'status' },
    ...events,
  ];
}
