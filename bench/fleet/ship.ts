import { defineResource, s } from '../built.js';

/** The custom resource of the fleet bench; `peers/go/fleet` defines the same in Go. */
export const Ship = defineResource({
  group: 'bench.example.com',
  kind: 'Ship',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          replicas: s.integer({ minimum: 0 }),
          settings: s.map(s.string()),
          /** A field that does not affect the objects that the operator creates. */
          note: s.optional(s.string()),
        }),
      }),
    },
  ],
});

/** API paths of the objects that every ship owns, by resource. */
export const ownedPaths = {
  configmaps: '/api/v1',
  services: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  statefulsets: '/apis/apps/v1',
} as const;
