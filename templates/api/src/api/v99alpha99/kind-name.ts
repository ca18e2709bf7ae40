import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf } from 'operator-builder/crd';
// +operator-builder:scaffold:imports

const spec = s.object({
  image: s.string({ minLength: 1, description: 'Image of the pods.' }),
  replicas: s.defaulted(
    s.integer({ format: 'int32', minimum: 0, description: 'Desired number of pods.' }),
    1,
  ),
});

const status = s.status();

/** The kind: its type, its CustomResourceDefinition and its validation. */
export const KindName = defineResource({
  group: 'groupname.domain.example',
  kind: 'KindName',
  plural: 'kindnames',
  scope: 'Namespaced',
  versions: [
    { name: 'v99alpha99', storage: true, schema: s.object({ spec }), status },
    // +operator-builder:scaffold:versions
  ],
  // +operator-builder:scaffold:conversion
  printerColumns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
/** An object of the kind. */
export type KindName = ObjectOf<typeof KindName>;
