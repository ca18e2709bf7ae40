import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import { defineResource, s } from '../../lib/crd/index.js';
import type { ResourceDefinition, VersionDefinition } from '../../lib/crd/index.js';
import type {
  ArrayOptions,
  NumberOptions,
  ObjectOptions,
  StringOptions,
} from '../../lib/crd/schema/constructors.js';
import type {
  PrinterColumn,
  ScaleDefinition,
} from '../../lib/crd/definition/resource-definition.js';
import type { CrashScenario } from '../../lib/testing/index.js';
import type { CrashPointsOptions } from '../../lib/testing/crash-points/crash-points.js';
import type { CrashStep } from '../../lib/testing/crash-points/crash-scenario.js';
import type { RequestFilter } from '../../lib/testing/operator-assertions.js';
import type { TestClusterOptions } from '../../lib/testing/start-operator.js';

/** Optional properties that do not accept `undefined`. */
type Refusing<T> = {
  [K in keyof T]-?: object extends Pick<T, K>
    ? undefined extends Required<T>[K]
      ? never
      : K
    : never;
}[keyof T];

describe('optional options of the testing kit and of defineResource', () => {
  it('accept undefined in TypeScript, even with exactOptionalPropertyTypes', () => {
    expectTypeOf<Refusing<{ a?: string; b?: string | undefined; c: 1 }>>().toEqualTypeOf<'a'>();
    expectTypeOf<Refusing<CrashPointsOptions>>().toBeNever();
    expectTypeOf<Refusing<CrashScenario>>().toBeNever();
    expectTypeOf<Refusing<CrashStep>>().toBeNever();
    expectTypeOf<Refusing<RequestFilter>>().toBeNever();
    expectTypeOf<Refusing<TestClusterOptions>>().toBeNever();
    expectTypeOf<Refusing<ResourceDefinition<readonly VersionDefinition[], 'v1'>>>().toBeNever();
    expectTypeOf<Refusing<VersionDefinition>>().toBeNever();
    expectTypeOf<Refusing<PrinterColumn>>().toBeNever();
    expectTypeOf<Refusing<ScaleDefinition>>().toBeNever();
    expectTypeOf<Refusing<StringOptions>>().toBeNever();
    expectTypeOf<Refusing<NumberOptions>>().toBeNever();
    expectTypeOf<Refusing<ArrayOptions>>().toBeNever();
    expectTypeOf<Refusing<ObjectOptions>>().toBeNever();
  });

  it('with the value undefined are left out of a CustomResourceDefinition', () => {
    const status = s.object({ n: s.integer() });
    const spec = s.object({ n: s.integer() });
    const named = { name: 'v1', status, schema: s.object({ spec }) } as const;
    const column = { name: 'N', type: 'integer', jsonPath: '.spec.n' } as const;
    const paths = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
    const plain = defineResource({
      ...{ group: 'example.com', kind: 'Thing' },
      versions: [{ ...named, printerColumns: [column], scale: paths }],
    });
    const open = defineResource({
      ...{ group: 'example.com', kind: 'Thing', plural: undefined, conversion: undefined },
      versions: [
        {
          ...{ name: 'v1', status, served: undefined, deprecated: undefined },
          schema: s.object({
            spec: s.object({ n: s.integer({ minimum: undefined, rules: undefined }) }),
          }),
          printerColumns: [{ ...column, format: undefined, priority: undefined }],
          scale: { ...paths, labelSelectorPath: undefined },
        },
      ],
    });
    expect(open.crd).to.deep.equal(plain.crd);
  });
});
