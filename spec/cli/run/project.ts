import { cp, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkPackages } from '../project/project-copy.js';

/** Copies the project with shops, so that a spec can change it. */
export async function copyShopProject(folder: string): Promise<void> {
  await cp(join(import.meta.dirname, '../project/shop'), folder, { recursive: true });
  linkPackages(folder);
}

/** Replaces a file atomically, like an editor. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** `src/operator.ts` of the project with shops. It records an event, which is written a second later. */
export const operatorWithEvents = `
import { Operator } from 'operator-builder';
import { Shop } from './shop.js';

export const operator = new Operator('shops');
operator.for(Shop).reconciles(({ object, recorder }) => {
  const related = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'till' };
  const what = { type: 'Normal', reason: 'Opened', action: 'Open' } as const;
  recorder.record({ ...what, regarding: object, related, note: 'opened the till', item: 'Pod till' });
});
`;

/** `src/operator.ts` of the project with shops, with a webhook. */
export const operatorWithWebhook = `
import { allowed, denied, validatingWebhook } from 'operator-builder';
import type { OperatorDefinition } from 'operator-builder';
import { shopController } from './controllers/shop-controller.js';
import { Shop } from './shop.js';

export const operator: OperatorDefinition = {
  name: 'shops',
  resources: [Shop],
  webhooks: [
    validatingWebhook(Shop, ({ object }) =>
      object?.spec.image === 'none' ? denied('no image') : allowed(),
    ),
  ],
  setup: (manager) =>
    void manager.add(shopController(), { requires: [{ type: Shop, verbs: ['patch'] }] }),
};
`;
