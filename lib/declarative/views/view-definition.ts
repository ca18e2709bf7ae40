import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { ResourceType } from '../../object/resource-type.js';
import { viewGroupOf } from '../spec/operator-spec.js';

/** The only version of every view. */
export const viewVersion = 'v1alpha1';

/**
 * Returns the resource type of a kind of views. The plural in URLs is the kind in lower case. The type is
 * namespaced, but a view may have no namespace.
 */
export function viewType(operator: string, kind: string): ResourceType {
  const group = viewGroupOf(operator);
  return { group, version: viewVersion, kind, plural: kind.toLowerCase(), namespaced: true };
}

/** Fields that field selectors of views support, beside `metadata.name` and `metadata.namespace`. */
const selectableFields = [{ jsonPath: '.status.phase' }, { jsonPath: '.status.ready' }];

/**
 * Returns the definition of a kind of views: objects with any fields. It has no status subresource: a
 * write replaces the whole view.
 * @param shortName - a further name for kubectl; undefined: no short name
 */
export function viewDefinition(
  { group, version, kind, plural }: ResourceType,
  shortName: string | undefined,
): CustomResourceDefinition {
  const names = { kind, plural, singular: plural, listKind: `${kind}List` };
  const shortNames = shortName === undefined ? [] : [shortName];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { ...names, shortNames },
      versions: [
        {
          ...{ name: version, served: true, storage: true, selectableFields },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  };
}
