import type { KubernetesObject, ResourceType } from 'operator-builder';

/** An object of a kind that another operator defines. */
export interface KindName extends KubernetesObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The kind, and where it is served. */
export const KindName: ResourceType<KindName> = {
  group: 'groupname.domain.example',
  version: 'v99alpha99',
  kind: 'KindName',
  plural: 'kindnames',
  namespaced: true,
};
