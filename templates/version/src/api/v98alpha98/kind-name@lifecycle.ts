import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf } from 'operator-builder/crd';
import { lifecycleStatusProperties } from 'operator-builder/lifecycle';
import { kindNameV99alpha99 } from '../v99alpha99/kind-name@lifecycle.js';
// +operator-builder:scaffold:imports

const spec = s.object({
  image: s.string({ minLength: 1, description: 'Image of the pods.' }),
  replicas: s.defaulted(
    s.integer({ format: 'int32', minimum: 0, description: 'Desired number of pods.' }),
    1,
  ),
});

// The framework writes these fields: phase, conditions and versions. Add your own fields beside them.
const status = s.object(lifecycleStatusProperties);

/** The configuration: its type, its CustomResourceDefinition and its validation. */
export const KindName = defineResource({
  group: 'groupname.domain.example',
  kind: 'KindName',
  plural: 'kindnames',
  scope: 'Namespaced',
  versions: [
    { name: 'v98alpha98', storage: true, schema: s.object({ spec }), status },
    kindNameV99alpha99,
    // +operator-builder:scaffold:versions
  ],
  // +operator-builder:scaffold:conversion
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Version', type: 'string', jsonPath: '.status.observedVersion' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
/** A configuration. */
export type KindName = ObjectOf<typeof KindName>;
