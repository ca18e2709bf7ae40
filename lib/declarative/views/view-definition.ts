import type { CustomResourceDefinition } from '../../object/kinds.js';
import type { ResourceType } from '../../object/resource-type.js';
import { viewGroupOf } from '../spec/operator-spec.js';

/** The only version of every view. */
export const viewVersion = 'v1alpha1';

/**
 * Where the views of a kind are served. Their name in URLs is the kind in lower case. They are
 * namespaced, but one may be in no namespace.
 */
export function viewType(operator: string, kind: string): ResourceType {
  const group = viewGroupOf(operator);
  return { group, version: viewVersion, kind, plural: kind.toLowerCase(), namespaced: true };
}

/** Fields beside `metadata.name` and `metadata.namespace` that views can be selected by. */
const selectableFields = [{ jsonPath: '.status.phase' }, { jsonPath: '.status.ready' }];

/**
 * Defines a kind of views: objects with any fields. There is no status subresource: a view is written
 * as a whole.
 * @param shortName - one more name for kubectl; undefined: none
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
