import { defineResource, s } from 'operator-builder/crd';
import type { ObjectOf } from 'operator-builder/crd';

const spec = s.object({
  replicas: s.defaulted(s.integer({ minimum: 0 }), 1),
  image: s.defaulted(s.string(), 'shop:1'),
  greeting: s.optional(s.string()),
});

/** The kind that the operator of the specs reconciles. */
export const Shop = defineResource({
  group: 'shops.example',
  kind: 'Shop',
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec }),
      status: s.object({ image: s.optional(s.string()) }),
    },
  ],
});

export type Shop = ObjectOf<typeof Shop>;
