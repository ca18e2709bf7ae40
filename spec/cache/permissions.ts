import { expect } from 'chai';
import { Cache } from '../../lib/cache/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { Namespace, Role, RoleBinding } from '../../lib/object/kinds.js';
import { fastClock } from '../faults/fast-clock.js';

/** A server with RBAC. */
export interface PermissionTarget {
  readonly admin: Client;
  /** A user without permissions. */
  readonly user: string;
  readonly client: Client;
  /** Ends open watches: the server checks permissions only when a watch begins. */
  readonly endWatches: () => void;
  readonly close: () => Promise<void>;
}

const role = { name: 'cache' };
const apiVersion = 'rbac.authorization.k8s.io/v1' as const;

/** Defines how a cache handles permissions that are granted and revoked. */
export function cachePermissions(newTarget: () => Promise<PermissionTarget>): void {
  it('a cache reports the missing verb and resource, and recovers when they are granted', async () => {
    const { admin, user, client, endWatches, close } = await newTarget();
    const metadata = { generateName: 'permissions-' };
    const made = await admin.create<Namespace>({ apiVersion: 'v1', kind: 'Namespace', metadata });
    const namespace = made.metadata.name ?? '';
    const allow = async (verbs: string[]): Promise<void> => {
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }];
      const object: Role = { apiVersion, kind: 'Role', metadata: { ...role, namespace }, rules };
      await admin.apply(object, { fieldManager: 'spec', force: true });
    };
    await allow(['get']);
    await admin.create<RoleBinding>({
      ...{ apiVersion, kind: 'RoleBinding', metadata: { ...role, namespace } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', ...role },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
    });
    const cache = new Cache({ client, namespaces: [namespace], clock: fastClock(100) });
    const informer = cache.informer(ConfigMap);
    const missing = { type: 'permission', resource: 'configmaps', group: '', namespace } as const;
    const until = async (check: () => void): Promise<void> => {
      for (let tries = 0; ; tries++) {
        try {
          check();
          return;
        } catch (error) {
          if (tries > 500) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const lacks = (verb: 'list' | 'watch') => () =>
      expect(informer.status().missing).to.deep.equal({ ...missing, verb });
    cache.start();
    await until(lacks('list'));
    await allow(['list']);
    await until(lacks('watch'));
    expect(informer.synced).to.equal(true);
    await allow(['list', 'watch']);
    await until(() => expect(informer.status().problem).to.equal(undefined));
    await allow(['get']);
    endWatches();
    await until(() => expect(informer.status().missing).to.deep.include({ type: 'permission' }));
    const object = { name: 'meanwhile', namespace };
    await admin.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: object });
    await allow(['list', 'watch']);
    await until(() => expect(informer.get(object)).to.not.equal(undefined));
    await until(() => expect(informer.status().problem).to.equal(undefined));
    await cache.stop();
    await close();
  });
}
