import { expect } from 'chai';
import { copyFile, readFile } from 'node:fs/promises';
import { objectsOfText } from '../../lib/cli/object-files.js';
import { defaultClient } from '../../lib/client/index.js';
import { cli, scratchDirectory } from '../cli/cli.js';
import { createApi } from '../cli/scaffold/project.js';
import { sharedControlPlane } from './control-plane/shared.js';
import { Kubectl } from './kubectl.js';

describe('the install file of a generated project', () => {
  const file = scratchDirectory();
  const installer = (): string => file('dist/install.yaml');
  let kubeconfig: string;
  let admin: Kubectl;

  before(async () => {
    ({ kubeConfigPath: kubeconfig } = await sharedControlPlane());
    admin = await Kubectl.create((path) => copyFile(kubeconfig, path));
    // Unique names, since other specs apply the usual ones.
    const named = ['--domain', 'installed.example.net', '--name', 'installed'];
    expect(await cli(['init', ...named, '-C', file()])).to.include({ code: 0 });
    for (const kind of ['Shop', 'Fleet']) {
      expect(await createApi(file(), kind)).to.include({ code: 0 });
    }
    const made = await cli(['build-installer', '--project', file()]);
    expect(made).to.include({ code: 0 });
  });

  afterEach(() => admin.run(['delete', '--ignore-not-found', '-f', installer()]));
  after(() => admin.close());

  it('can be applied by kubectl with server-side apply', async () => {
    const applied = await admin.print(['apply', '--server-side', '-f', installer()]);
    expect(applied).to.include('deployment.apps/installed-controller-manager serverside-applied');
  });

  it('can be applied by our own client, object by object', async () => {
    const client = await defaultClient({ path: kubeconfig });
    try {
      const text = await readFile(installer(), 'utf8');
      for (const object of await objectsOfText(text, installer())) {
        const applied = await client.apply(object, { fieldManager: 'installer' });
        expect(applied.object.metadata).to.have.property('uid');
      }
    } finally {
      await client.close();
    }
  });
});
