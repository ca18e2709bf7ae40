import { expect } from 'chai';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory, startCli } from './cli.js';
import type { RunningCli } from './cli.js';

/** Returns an operator that copies the ConfigMap `original` to another name. */
function copying(to: string): string {
  const controller = {
    name: 'copy',
    sources: [
      { apiGroup: '', kind: 'ConfigMap', labelSelector: { matchLabels: { copied: 'yes' } } },
    ],
    pipeline: { '@project': { metadata: { name: to, namespace: 'default' }, data: '$.data' } },
    target: { apiGroup: '', kind: 'ConfigMap' },
  };
  return JSON.stringify({ controllers: [controller] });
}

describe('operator-builder declarative run --watch', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;
  let running: RunningCli;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    const metadata = { name: 'original', namespace: 'default', labels: { copied: 'yes' } };
    await cluster
      .client()
      .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: '1' } });
    await writeFile(file('copy.yaml'), copying('first'));
    await mkdir(file('more'));
    await writeFile(file('more/other.yaml'), copying('other'));
    const args = ['declarative', 'run', file('copy.yaml'), file('more'), '--watch'];
    running = startCli([...args, '--kubeconfig', file('kubeconfig')]);
    await hasCopy('first');
  });

  after(async () => {
    running.stop();
    await running.ended;
    await cluster.stop();
  });

  function hasCopy(name: string): Promise<unknown> {
    return eventually(() => cluster.client().get(ConfigMap, { name, namespace: 'default' }));
  }

  async function dataOf(name: string): Promise<unknown> {
    return (await cluster.client().get(ConfigMap, { name, namespace: 'default' })).data;
  }

  it('applies a changed file', async () => {
    await writeFile(file('copy.yaml'), copying('second'));
    await hasCopy('second');
  });

  it('applies a file that appears in a directory', async () => {
    await hasCopy('other');
    await writeFile(file('more/another.yaml'), copying('another'));
    await hasCopy('another');
  });

  it('continues with the previous operators when a file becomes invalid, and reports the problem', async () => {
    await writeFile(file('copy.yaml'), copying('third').replace('@project', '@projct'));
    await eventually(() => {
      expect(running.written().stderr).to.include('the previous state continues to run');
    });
    expect(running.written().stderr).to.include('did you mean @project?');
    await writeFile(file('copy.yaml'), copying('third'));
    await hasCopy('third');
  });

  it('continues with the previous operators while a file is missing, and applies the file when it is back', async () => {
    await rm(file('copy.yaml'));
    await eventually(() => {
      expect(running.written().stderr).to.include("copy.yaml can't be read");
    });
    await writeFile(file('copy.yaml'), copying('fourth'));
    await hasCopy('fourth');
  });

  it('stops the operator of a removed file, and keeps the objects of this operator', async () => {
    const before = running.written().stderr.length;
    await rm(file('more/another.yaml'));
    await eventually(() => {
      expect(running.written().stderr.slice(before)).to.include('"operators":["copy","other"]');
    });
    const client = cluster.client();
    const key = { name: 'original', namespace: 'default' };
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '2' } } });
    await eventually(async () => {
      for (const name of ['other', 'fourth']) expect(await dataOf(name)).to.deep.equal({ a: '2' });
    });
    expect(await dataOf('another')).to.deep.equal({ a: '1' });
  });

  it('exits with 0, and keeps the objects that it wrote', async () => {
    running.stop();
    const { code, stderr } = await running.ended;
    expect(code, stderr).to.equal(0);
    await hasCopy('fourth');
  });

  it('refuses operators from the standard input', async () => {
    const { code, stderr } = await cli(['declarative', 'run', '-', '--watch']);
    expect(code).to.equal(1);
    expect(stderr).to.include('--watch: not possible with the standard input');
  });
});
