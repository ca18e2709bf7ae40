import { expectTypeOf } from 'expect-type';
import type { ConfigMap, Secret } from '../../../lib/object/index.js';
import { Deployment, Service } from '../../../lib/object/index.js';
import type { KubernetesObject, UnstructuredObject } from '../../../lib/object/index.js';
import {
  configMapResource,
  objectsResource,
  secretResource,
  serviceResource,
} from '../../../lib/resource/index.js';
import type { CrudResource } from '../../../lib/resource/index.js';

interface Shop extends KubernetesObject {
  readonly spec: { readonly domain: string };
}

describe('types of objectsResource and similar functions', () => {
  it('contain the types of the reconciled object, the state and the change', () => {
    const settings = configMapResource({
      name: 'settings',
      getDesiredState: (_context, shop: Shop) => [settingsOf(shop)],
    });
    expectTypeOf(settings).toEqualTypeOf<CrudResource<Shop, ConfigMap[], ConfigMap[]>>();
    const secrets = secretResource<Shop>({ name: 'secrets', getDesiredState: () => [] });
    expectTypeOf(secrets).toEqualTypeOf<CrudResource<Shop, Secret[], Secret[]>>();
    const services = serviceResource<Shop>({ name: 'services', getDesiredState: () => [] });
    expectTypeOf(services).toEqualTypeOf<CrudResource<Shop, Service[], Service[]>>();
  });

  it('infer several kinds from the list types', () => {
    const app = objectsResource({
      name: 'app',
      types: [Deployment, Service],
      getDesiredState: (_context, shop: Shop) => [deploymentOf(shop), serviceOf(shop)],
    });
    type Kept = (Deployment | Service)[];
    expectTypeOf(app).toEqualTypeOf<CrudResource<Shop, Kept, Kept>>();
  });

  it('infer the kinds of object literals', () => {
    const labels = { app: 'web' };
    const app = objectsResource({
      name: 'app',
      types: [Deployment, Service],
      getDesiredState: () => [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web' },
          spec: {
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [] } },
          },
        },
        { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
      ],
    });
    type Kept = (Deployment | Service)[];
    expectTypeOf(app).toEqualTypeOf<CrudResource<KubernetesObject, Kept, Kept>>();
    objectsResource({
      ...{ name: 'app', types: [Deployment] },
      // @ts-expect-error a Service is not among the types
      getDesiredState: async (_context, shop: Shop) => [
        { apiVersion: 'v1', kind: 'Service', metadata: { name: shop.spec.domain } },
      ],
    });
  });

  it('accept object literals with any fields for kinds that have no TypeScript type', () => {
    const certificate = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' };
    const app = objectsResource({
      ...{ name: 'app', types: [certificate] },
      getDesiredState: (_context, shop: Shop) => [
        { ...certificate, metadata: { name: 'web' }, spec: { dnsNames: [shop.spec.domain] } },
        shop,
      ],
    });
    type Kept = (KubernetesObject | UnstructuredObject)[];
    expectTypeOf(app).toEqualTypeOf<CrudResource<Shop, Kept, Kept>>();
  });

  it('reject an object of another kind', () => {
    configMapResource({
      name: 'settings',
      // @ts-expect-error a Service is not a ConfigMap
      getDesiredState: (_context, shop: Shop) => [serviceOf(shop)],
    });
  });
});

function settingsOf({ spec }: Shop): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: spec.domain } };
}

function serviceOf({ spec }: Shop): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: spec.domain } };
}

function deploymentOf({ spec }: Shop): Deployment {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: spec.domain } };
}
