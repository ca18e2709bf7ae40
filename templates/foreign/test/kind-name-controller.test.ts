import assert from 'node:assert/strict';
// +operator-builder:if custom
import { readFileSync } from 'node:fs';
// +operator-builder:end
import { test } from 'node:test';
import { Operator, silentLogger } from 'operator-builder';
// +operator-builder:if custom
import type { CustomResourceDefinition } from 'operator-builder';
// +operator-builder:end
import type { Logger } from 'operator-builder';
import { EmbeddedCluster, startOperator } from 'operator-builder/testing';
import { setupKindNameController } from '../src/controllers/kind-name-controller.js';

// +operator-builder:if custom
const file = new URL('crds/kind-name.json', import.meta.url);
const definition = JSON.parse(readFileSync(file, 'utf8')) as CustomResourceDefinition;

// +operator-builder:end
const key = {
  name: 'sample',
  // +operator-builder:if namespaced
  namespace: 'default',
  // +operator-builder:end
};
/** Content that the API server accepts. */
const content: object = { spec: {} };

test('KindName: an object is reconciled', async (t) => {
  const cluster = await EmbeddedCluster.start({ crds: [definition] });
  const messages: string[] = [];
  const info = (message: string): void => void messages.push(message);
  const logger: Logger = { ...silentLogger, info, child: () => logger };
  const operator = new Operator('operator-name');
  setupKindNameController(operator);
  const { eventually, stop } = await startOperator(cluster, operator, { logger });
  t.after(() => stop().finally(() => cluster.stop()));

  const type = { apiVersion: 'groupname.domain.example/v99alpha99', kind: 'KindName' };
  await cluster.client().create({ ...type, metadata: key, ...content });
  await eventually(() => assert.ok(messages.includes('reconciled')));
});
