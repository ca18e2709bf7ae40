import {
  Builder,
  ConfigMap,
  Deployment,
  addFinalizer,
  controllerFor,
  done,
  getIfExists,
} from 'operator-builder';
import type { Controller, ReconcileContext, Result } from 'operator-builder';
import { Shop } from '../shop.js';

/** Reconciles shops: a Deployment, and a ConfigMap if there is a greeting. */
export function shopController(): Controller {
  return controllerFor(Shop).owns(Deployment).owns(ConfigMap).complete(reconcileShop);
}

async function reconcileShop({ key, client, planning }: ReconcileContext): Promise<Result> {
  const found = await getIfExists(client, Shop, key);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return done();
  const shop = await addFinalizer(client, found, { finalizer: 'shops.example/till' });
  const { image, replicas, greeting } = shop.spec;
  if (image === 'rung' && !planning) throw new Error('the till was rung');
  if (image === 'broken') throw new Error('the image is broken');
  const builder = new Builder({ client, owner: shop, controllerName: 'shop-operator' });
  const filled =
    greeting === undefined ? builder : builder.configMap({ name: 'texts', data: { greeting } });
  await filled
    .deployment({
      ...{ name: 'web', replicas },
      podSpec: () => ({
        containers: [
          {
            ...{ name: 'web', image },
            ...(greeting !== undefined && { envFrom: [{ configMapRef: { name: 'texts' } }] }),
          },
        ],
      }),
    })
    .reconcile();
  if (shop.status?.image !== image) {
    const patch = { type: 'merge', body: { status: { image } } } as const;
    await client.patch(Shop, key, patch, { subresource: 'status' });
  }
  return done();
}
