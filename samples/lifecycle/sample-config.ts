import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf } from 'operator-builder/crd';
import { lifecycleStatusProperties } from 'operator-builder/lifecycle';

const nodePlacement = s.object(
  {
    nodeSelector: s.optional(s.map(s.string())),
    affinity: s.optional(s.builtIn('Affinity')),
    tolerations: s.optional(s.array(s.builtIn('Toleration'))),
  },
  { description: 'Where the pods may run.' },
);

const spec = s.object({
  replicas: s.optional(
    s.integer({ format: 'int32', minimum: 0, description: 'How many pods serve. Default: 2.' }),
  ),
  nodePlacement: s.optional(nodePlacement),
});

/** Configuration of the whole system: an HTTP server and everything that it needs. */
export const SampleConfig = defineResource({
  group: 'lifecycle.example.com',
  kind: 'SampleConfig',
  scope: 'Cluster',
  versions: [
    {
      name: 'v1alpha1',
      schema: s.object({ spec }),
      // Phase, conditions and versions, in the format that the owner of several such operators reads.
      status: s.object(lifecycleStatusProperties),
    },
  ],
  printerColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Version', type: 'string', jsonPath: '.status.observedVersion' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

/** Configuration of the whole system: an HTTP server and everything that it needs. */
export type SampleConfig = ObjectOf<typeof SampleConfig>;
