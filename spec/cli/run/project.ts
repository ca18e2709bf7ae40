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
