import { s } from 'operator-builder/crd';
import type { VersionDefinition, VersionObject } from 'operator-builder/crd';
import { lifecycleStatusProperties } from 'operator-builder/lifecycle';

const spec = s.object({
  image: s.string({ minLength: 1, description: 'Image of the pods.' }),
  replicas: s.defaulted(
    s.integer({ format: 'int32', minimum: 0, description: 'Desired number of pods.' }),
    1,
  ),
});

const status = s.object(lifecycleStatusProperties);

/** The version v99alpha99 of KindName. If its schema differs, add a conversion: see `defineResource`. */
export const kindNameV99alpha99 = {
  name: 'v99alpha99',
  schema: s.object({ spec }),
  status,
} as const satisfies VersionDefinition;
/** An object of the version. */
export type KindNameV99alpha99 = VersionObject<typeof kindNameV99alpha99>;
