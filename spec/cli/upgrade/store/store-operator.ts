import {
  Builder,
  Deployment,
  StatefulSet,
  controllerFor,
  done,
  getIfExists,
} from 'operator-builder';
import type { Client, KubernetesObject, ResourceType, OperatorDefinition } from 'operator-builder';
import type { OperatorResource } from '../../../../lib/manager/index.js';
import type { StatefulSetOptions } from '../../../../lib/builder/index.js';
import { defineResource, s } from 'operator-builder/crd';

/** Differences of a version of the operator. */
export interface StoreVersion {
  readonly schema?: 'without owner' | 'stricter' | 'with a default' | undefined;
  readonly versions?: readonly string[] | undefined;
  readonly image?: string | undefined;
  readonly settings?: { readonly name?: string; readonly level?: string } | undefined;
  /** Labels that the Deployment of the web servers selects. */
  readonly webSelector?: Readonly<Record<string, string>> | undefined;
  readonly dbService?: string | undefined;
  readonly storage?: string | undefined;
  readonly clusterIP?: string | undefined;
  readonly serviceSelector?: Readonly<Record<string, string>> | undefined;
  readonly extraLabel?: string | undefined;
  readonly onImmutable?: 'recreate' | undefined;
  readonly updateStrategy?: 'OnDelete' | undefined;
  /** A claim in addition to those of the StatefulSet. */
  readonly backup?: boolean | undefined;
  readonly fails?: boolean | undefined;
  readonly restless?: boolean | undefined;
  readonly patchesJob?: boolean | undefined;
}

function specOf({ schema }: StoreVersion) {
  return s.object({
    replicas:
      schema === 'stricter' ? s.integer({ minimum: 2 }) : s.defaulted(s.integer({ minimum: 0 }), 1),
    ...(schema === 'without owner' ? {} : { owner: s.optional(s.string()) }),
    ...(schema === 'with a default' ? { tier: s.defaulted(s.string(), 'silver') } : {}),
  });
}

function resourceOf(version: StoreVersion): OperatorResource {
  const [first = 'v1', ...others] = version.versions ?? ['v1'];
  const body = {
    schema: s.object({ spec: specOf(version) }),
    status: s.object({ seen: s.optional(s.integer()) }),
  };
  return defineResource({
    ...{ group: 'stores.example', kind: 'Store' },
    versions: [
      { name: first, storage: true, ...body },
      ...others.map((name) => ({ name, ...body })),
    ],
  });
}

/** An operator of stores with a database, web servers, settings and Services. */
export function storeOperator(version: StoreVersion = {}): OperatorDefinition {
  const Store = resourceOf(version);
  const watched = controllerFor(Store).owns(Deployment).owns(StatefulSet);
  const controller = watched.complete(async ({ key, client }) => {
    const store = await getIfExists<Store>(client, Store as unknown as ResourceType<Store>, key);
    if (store === undefined) return done();
    if (version.fails === true) throw new Error('no store can be opened');
    await chainOf(store, client, version).reconcile();
    if (version.restless === true) {
      const body = { status: { seen: (store.status?.seen ?? 0) + 1 } };
      await client.patch(Store, key, { type: 'merge', body }, { subresource: 'status' });
    }
    return done();
  });
  const setup: OperatorDefinition['setup'] = (manager) => void manager.add(controller);
  return { name: 'stores', resources: [Store], setup };
}

interface Store extends KubernetesObject {
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly seen?: number };
}

function chainOf(owner: Store, client: Client, version: StoreVersion): Builder {
  const { onImmutable = 'fail', clusterIP, extraLabel } = version;
  const { name: settings = 'settings', level = 'info' } = version.settings ?? {};
  const labels = extraLabel === undefined ? {} : { extra: extraLabel };
  const chain: Builder = new Builder({ client, owner, controllerName: 'store-operator' });
  const service = { type: 'ClusterIP', ports: [{ port: 80 }] };
  const filled: Builder = chain
    .configMap({ name: settings, data: { level } })
    .configMap({ name: 'notes', data: { about: 'not mounted' }, labels })
    .service({ name: 'db', spec: { clusterIP: 'None', ports: [{ port: 5432 }] } })
    .service({
      name: 'db-new',
      workload: 'db',
      spec: { clusterIP: 'None', ports: [{ port: 5432 }] },
    })
    .service({
      name: 'web',
      spec: {
        ...service,
        ...(clusterIP !== undefined && { clusterIP }),
        selector: version.serviceSelector ?? { app: 'web' },
      },
    })
    .statefulSet(database(version))
    .deployment({
      ...{ name: 'web', replicas: owner.spec.replicas, onImmutable },
      selector: version.webSelector ?? { app: 'web', part: 'front' },
      spec: {},
      podSpec: () => ({
        containers: [
          {
            ...{ name: 'web', image: version.image ?? 'web:1' },
            envFrom: [{ configMapRef: { name: settings } }],
          },
        ],
      }),
    });
  if (version.backup === false) return filled;
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  return filled.persistentVolumeClaim({
    ...{ name: 'backup', spec: claim, whenOwnerDeleted: 'delete', prune: true },
  });
}

function database(version: StoreVersion): StatefulSetOptions {
  const { onImmutable = 'fail', updateStrategy, storage = '1Gi' } = version;
  return {
    ...{ name: 'db', onImmutable, serviceName: version.dbService ?? 'db' },
    ...(updateStrategy !== undefined && { updateStrategy: { type: updateStrategy } }),
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
          ...(storage !== '1Gi' && { storageClassName: storage }),
        },
      },
    ],
    podSpec: () => ({ containers: [{ name: 'db', image: version.image ?? 'db:1' }] }),
  };
}
