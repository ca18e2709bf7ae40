import { expectTypeOf } from 'expect-type';
import {
  CrudResource,
  Patch,
  ResourceRouter,
  ResourceSet,
  contextKey,
  newResourceContext,
  processUpdate,
  unwrap,
  withLogging,
  withMetrics,
  withRetry,
  wrap,
} from '../../lib/resource/index.js';
import type {
  CrudOperations,
  Resource,
  ResourceContext,
  States,
} from '../../lib/resource/index.js';
import type { ConfigMap } from '../../lib/object/kinds.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { noMetrics } from '../../lib/system/metrics.js';
import { failureOf } from './chain-setup.js';

interface Tenant extends KubernetesObject {
  readonly spec: { readonly domain: string };
}

const maps: ConfigMap[] = [];

class TenantMaps implements CrudOperations<Tenant, ConfigMap[], ConfigMap> {
  readonly name = 'maps';
  getCurrentState(context: ResourceContext): Promise<ConfigMap[]> {
    context.logger.debug('here');
    return Promise.resolve(maps);
  }
  getDesiredState(_: ResourceContext, { spec }: Tenant): ConfigMap[] {
    return spec.domain === '' ? [] : maps;
  }
  newUpdatePatch(_: ResourceContext, __: Tenant, { desired }: States<ConfigMap[]>) {
    return new Patch<ConfigMap>().setCreateChange(desired[0]!);
  }
  newDeletePatch(): undefined {
    return undefined;
  }
  applyCreateChange(_: ResourceContext, __: Tenant, change: ConfigMap): void {
    expectTypeOf(change.data).toEqualTypeOf<ConfigMap['data']>();
  }
  applyDeleteChange(): void {}
  applyUpdateChange(): void {}
}

describe('types of a resource chain', () => {
  const ofClass = new CrudResource({ operations: new TenantMaps() });
  const ofLiteral = new CrudResource({
    operations: {
      name: 'count',
      getCurrentState: (_, tenant: Tenant) => Promise.resolve(tenant.spec.domain.length),
      getDesiredState: (_, tenant) => tenant.spec.domain.length,
      newUpdatePatch: (_, tenant, { current, desired }) => {
        expectTypeOf(tenant).toEqualTypeOf<Tenant>();
        expectTypeOf(current).toEqualTypeOf<number>();
        return current === desired ? undefined : new Patch<string>().setUpdateChange('more');
      },
      newDeletePatch: () => undefined,
      applyCreateChange: (_, __, change) => {
        expectTypeOf(change).toEqualTypeOf<string>();
      },
      applyDeleteChange: () => undefined,
      applyUpdateChange: () => undefined,
    },
  });
  const plain: Resource<Tenant> = {
    ...{ name: 'plain', ensureCreated: async () => undefined },
    ensureDeleted: async () => undefined,
  };
  const options = { metrics: noMetrics, service: 'shop' };

  it('are inferred from a class of operations', () => {
    expectTypeOf(ofClass).toEqualTypeOf<CrudResource<Tenant, ConfigMap[], ConfigMap>>();
  });

  it('are inferred from an object literal of operations', () => {
    expectTypeOf(ofLiteral).toEqualTypeOf<CrudResource<Tenant, number, string>>();
  });

  it('are kept by wrappers such as withRetry', () => {
    const wrapped = withLogging(withMetrics(withRetry(ofClass), options));
    expectTypeOf(wrapped).toEqualTypeOf<CrudResource<Tenant, ConfigMap[], ConfigMap>>();
    expectTypeOf(withRetry(plain)).toEqualTypeOf<Resource<Tenant>>();
    expectTypeOf(unwrap(wrapped)).toEqualTypeOf<Resource<Tenant>>();
  });

  it('fit without a cast in lists, wrappers, resource sets and the router', () => {
    const resources = wrap([ofClass, ofLiteral, plain], withRetry, withLogging, (resource) =>
      withMetrics(resource, options),
    );
    expectTypeOf(resources).toEqualTypeOf<readonly Resource<Tenant>[]>();
    const set = new ResourceSet({
      name: 'v1',
      handles: ({ spec }: Tenant) => spec.domain !== '',
      resources,
    });
    const router = new ResourceRouter({ resourceSets: [set] });
    expectTypeOf(router).toEqualTypeOf<ResourceRouter<Tenant>>();
    type Found = ReturnType<typeof router.resourceSet>;
    expectTypeOf<Found>().toEqualTypeOf<ResourceSet<Tenant>>();
  });

  it('reject resources for another type of object', async () => {
    const other = {
      ...{ apiVersion: 'v1', kind: 'Other', metadata: { name: 'a' } },
      spec: { size: 1 },
    };
    const context = newResourceContext({ client: {} as ResourceContext['client'] });
    // @ts-expect-error the chain is one of Tenants
    await failureOf(processUpdate(context, other, [ofClass]));
    const missing = () => {
      // @ts-expect-error a step is missing
      new CrudResource({ operations: { name: 'r', getCurrentState: () => 1 } });
    };
    expectTypeOf(missing).toBeFunction();
  });

  it('contain the types of the values in a context', () => {
    const region = contextKey<'north' | 'south'>('region');
    const context = newResourceContext({ client: {} as ResourceContext['client'] });
    context.set(region, 'north');
    expectTypeOf(context.get(region)).toEqualTypeOf<'north' | 'south' | undefined>();
    expectTypeOf(context.need(region)).toEqualTypeOf<'north' | 'south'>();
    // @ts-expect-error unknown region
    context.set(region, 'west');
  });
});
