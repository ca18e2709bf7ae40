import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';

/** A script that sends deep bodies, then an ordinary request. The bodies may crash its process. */
const script = `
  import { EmbeddedCluster } from './lib/apiserver/index.ts';
  const cluster = await EmbeddedCluster.start({ port: 0 });
  const url = cluster.url + '/api/v1/namespaces/default/configmaps';
  const post = async (type, body) => {
    const headers = { 'content-type': type, connection: 'close' };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const statuses = [];
  for (const open of ['[', '{a: ', '- ', '? ', '{"a":', '[\\n']) {
    for (const round of [1, 2]) statuses.push(await post('application/yaml', open.repeat(5_000)));
  }
  statuses.push(await post('application/json', '['.repeat(1_000_000)));
  statuses.push(await post('application/json', '['.repeat(1_000_000) + ']'.repeat(1_000_000)));
  const halfCharacter = '["\\\\ud800",' + '['.repeat(100_000) + ']'.repeat(100_001);
  statuses.push(await post('application/json', halfCharacter));
  statuses.push((await fetch(url)).status);
  console.log(statuses.join(' '));
  await cluster.stop();
`;

describe('request bodies with deeply nested values', () => {
  it('are refused, and the server continues to work', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      { encoding: 'utf8', timeout: 60_000 },
    );
    expect(stdout.trim(), stderr).to.equal(`${'400 '.repeat(15)}200`);
    expect(status).to.equal(0);
  }).timeout(60_000);

  it('are refused as patches that nest an object deeper or double its values repeatedly', async () => {
    const cluster = await EmbeddedCluster.start();
    const client = cluster.client();
    const names = { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' };
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await client.create({
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'boxes.shop.example' },
      spec: {
        ...{ group: 'shop.example', scope: 'Namespaced', names },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
        ],
      },
    } as never);
    await cluster.settled();
    const type = { apiVersion: 'shop.example/v1', kind: 'Box' };
    const key = { namespace: 'default', name: 'a' };
    const nested = JSON.parse(`${'{"a":'.repeat(600)}{}${'}'.repeat(600)}`) as object;
    await client.create({ ...type, metadata: key, spec: nested } as never);
    const path = `/spec${'/a'.repeat(600)}/a`;
    const doubling = Array.from({ length: 40 }, (_, nth) => ({
      ...{ op: 'copy', from: '/spec', path: `/spec/b${nth}` },
    }));
    const patches = [
      { type: 'json', operations: [{ op: 'add', path, value: nested }] },
      { type: 'json', operations: doubling },
    ] as const;
    for (const patch of patches) {
      const failed = await client.patch(type, key, patch as never).catch((error: unknown) => error);
      expect(failed).to.have.property('status').that.is.oneOf([400, 413, 422]);
    }
    await cluster.stop();
  });
});
