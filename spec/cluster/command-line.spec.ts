import { expect } from 'chai';
import { copyFile, writeFile } from 'node:fs/promises';
import { systemRandom } from '../../lib/system/random.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory, startCli, urlOfViews } from '../cli/cli.js';
import type { RunningCli } from '../cli/cli.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

describe('the command line on a real API server', () => {
  const file = scratchDirectory();
  const namespace = `cli-${systemRandom.uuid().slice(0, 8)}`;
  let admin: Kubectl;
  let running: RunningCli | undefined;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    admin = await Kubectl.create((path) => copyFile(kubeConfigPath, path));
    await admin.print(['create', 'namespace', namespace]);
    await writeFile(file('settings.yaml'), operatorOf(namespace));
    await cli(['declarative', 'keys', '-d', file('keys')]);
    running = startCli([
      ...['declarative', 'run', file('settings.yaml'), '--kubeconfig', kubeConfigPath],
      ...['--api-server-port', '0', '--api-server-keys', file('keys')],
    ]);
  });

  after(async () => {
    running?.stop();
    await running?.ended;
    await admin.print(['delete', 'namespace', namespace, '--wait=false']);
    await admin.close();
  });

  it('runs an operator whose views kubectl shows, within the permissions of its kubeconfig', async () => {
    if (running === undefined) throw new Error('it does not run');
    const server = await urlOfViews(running);
    const token = ['--user', 'alice', '--namespaces', namespace, '--keys', file('keys')];
    await cli(['declarative', 'config', '--server', server, ...token, '-o', file('views')]);
    const alice = await Kubectl.create((path) => copyFile(file('views'), path));
    try {
      await admin.print(['-n', namespace, 'create', 'configmap', 'a', '--from-literal=door=red']);
      const get = ['get', 'setting', 'a', '-o', 'jsonpath={.data.door}'];
      await eventually(async () => expect(await alice.print(get)).to.equal('red'));
      const { code, stderr } = await alice.run(['get', 'setting', '-A']);
      expect(code).to.equal(1);
      expect(stderr).to.include('Forbidden').and.include('User "alice" cannot list');
      expect((await alice.run(['delete', 'setting', 'a'])).stderr).to.include('Forbidden');
    } finally {
      await alice.close();
    }
  });

  it('exits with 0 and logs no error when it is stopped', async () => {
    running?.stop();
    const { code, stderr = '' } = (await running?.ended) ?? {};
    expect(code, stderr).to.equal(0);
    expect(stderr).to.not.include('"level":"error"');
  });
});

/** Operator that shows the ConfigMaps of a namespace as a view. */
function operatorOf(namespace: string): string {
  const controller = {
    name: 'settings',
    sources: [{ apiGroup: '', kind: 'ConfigMap', namespace }],
    pipeline: { '@project': { metadata: { name: '$.metadata.name', namespace }, data: '$.data' } },
    target: { kind: 'Setting' },
  };
  return JSON.stringify({ controllers: [controller] });
}
