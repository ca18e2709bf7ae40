import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { EmbeddedCluster } from '../../lib/embedded/index.js';
import { scratchDirectory, startCli } from './cli.js';
import { shopProject } from './project/shop-project.js';
import { Shop } from './project/shop/src/shop.js';
import { makeProject, textsIn } from './scaffold/project.js';

describe('A command that is interrupted', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop], port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    const shop = Shop.object({ metadata: { name: 'a', namespace: 'default' }, spec: {} });
    await writeFile(file('shop.yaml'), JSON.stringify(shop));
  });

  after(() => cluster.stop());

  const plan = (): readonly string[] => [
    ...['plan', '-f', file('shop.yaml'), '--project', shopProject],
    ...['--kubeconfig', file('kubeconfig')],
  ];

  /** What the server is asked for by the plan takes for ever. */
  async function whilePlanHangs(interrupt: () => unknown): Promise<void> {
    const effect = { type: 'latency', ms: 600_000 } as const;
    const fault = cluster.faults.add({ match: { resource: 'shops' }, effect });
    try {
      while (fault.struck === 0) await new Promise((resolve) => setImmediate(resolve));
      interrupt();
    } finally {
      fault.remove();
    }
  }

  it('ends with 130 and one message', async () => {
    const planning = startCli(plan());
    await whilePlanHangs(() => planning.stop());
    const { code, stdout, stderr } = await planning.ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 130, stdout: '' });
    expect(stderr).to.match(/^error: [^\n]*\n$/);
  });

  it('does so as a process, too', async () => {
    const args = ['--import', 'tsx', 'lib/cli/main.ts', ...plan()];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const ended = once(child, 'exit');
    await whilePlanHangs(() => child.kill('SIGINT'));
    const [[stdout, stderr], [code]] = [await output, (await ended) as [number | null]];
    expect({ code, stdout }, stderr).to.deep.equal({ code: 130, stdout: '' });
    expect(stderr).to.match(/^error: [^\n]*\n$/);
  });

  it('leaves a project as it was', async () => {
    const made = startCli(['init', '--domain', 'example.com', '--name', 'a', '-C', file('new')]);
    made.stop();
    expect(await made.ended).to.include({ code: 130, stdout: '' });
    expect(await readdir(file())).to.not.include('new');
    await makeProject(file('old'));
    const before = await textsIn(file('old'));
    const named = ['--group', 'shop', '--version', 'v1', '--kind', 'Shop'];
    const created = startCli(['create', 'api', ...named, '-C', file('old')]);
    created.stop();
    const { code, stderr } = await created.ended;
    expect({ code, stderr }).to.deep.equal({
      ...{ code: 130, stderr: 'error: stopped: nothing was written\n' },
    });
    expect(await textsIn(file('old'))).to.deep.equal(before);
  });
});
